"""A GGUF file of a few kilobytes: a real model for llama.cpp that has learnt nothing.

What it writes is noise, always the same; under a grammar it is noise of that grammar. Source: the
GGUF specification, version 3 (ggml-org/ggml, docs/gguf.md).
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

_WIDTH, _INNER, _CONTEXT = 32, 64, 8192
_ALIGNMENT = 32
_SPECIAL = ("<|start|>", "<|end|>")
_CHATML = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "<|start|>assistant\n"
)
_U32, _I32, _F32, _STRING, _ARRAY = 4, 5, 6, 8, 9
_NORMAL, _CONTROL = 1, 3


def tiny_model(path: Path) -> Path:
    """Write it."""
    tokens = [*_SPECIAL, *_bytes()]
    kinds = [_CONTROL] * len(_SPECIAL) + [_NORMAL] * 256
    keys: list[tuple[str, bytes]] = [
        ("general.architecture", _string("llama")),
        ("llama.context_length", _number(_CONTEXT)),
        ("llama.embedding_length", _number(_WIDTH)),
        ("llama.block_count", _number(1)),
        ("llama.feed_forward_length", _number(_INNER)),
        ("llama.attention.head_count", _number(1)),
        ("llama.attention.layer_norm_rms_epsilon", struct.pack("<If", _F32, 1e-5)),
        ("tokenizer.ggml.model", _string("gpt2")),
        ("tokenizer.ggml.pre", _string("gpt-2")),
        ("tokenizer.ggml.tokens", _array(_STRING, [_text(one) for one in tokens])),
        ("tokenizer.ggml.token_type", _array(_I32, [struct.pack("<i", one) for one in kinds])),
        ("tokenizer.ggml.merges", _array(_STRING, [_text("a b")])),
        ("tokenizer.ggml.bos_token_id", _number(0)),
        ("tokenizer.ggml.eos_token_id", _number(1)),
        ("tokenizer.chat_template", _string(_CHATML)),
    ]
    tensors = {
        "token_embd.weight": (_WIDTH, len(tokens)),
        "output_norm.weight": (_WIDTH,),
        "output.weight": (_WIDTH, len(tokens)),
        "blk.0.attn_norm.weight": (_WIDTH,),
        "blk.0.attn_q.weight": (_WIDTH, _WIDTH),
        "blk.0.attn_k.weight": (_WIDTH, _WIDTH),
        "blk.0.attn_v.weight": (_WIDTH, _WIDTH),
        "blk.0.attn_output.weight": (_WIDTH, _WIDTH),
        "blk.0.ffn_norm.weight": (_WIDTH,),
        "blk.0.ffn_gate.weight": (_WIDTH, _INNER),
        "blk.0.ffn_up.weight": (_WIDTH, _INNER),
        "blk.0.ffn_down.weight": (_INNER, _WIDTH),
    }
    chance = random.Random(1)
    about, data = b"", b""
    for name, shape in tensors.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        about += _text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        about += struct.pack("<IQ", 0, len(data))
        data += struct.pack(f"<{count}f", *(chance.gauss(0, 1) for _ in range(count)))
        data += bytes(-len(data) % _ALIGNMENT)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys))
    head += b"".join(_text(name) + value for name, value in keys) + about
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + data)
    return path


def _bytes() -> list[str]:
    """The 256 bytes as the tokenizer of GPT-2 writes them: printable ones as themselves."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [one for one in range(256) if one not in plain]
    return [chr(one) for one in plain] + [chr(256 + place) for place in range(len(others))]


def _text(text: str) -> bytes:
    content = text.encode()
    return struct.pack("<Q", len(content)) + content


def _string(text: str) -> bytes:
    return struct.pack("<I", _STRING) + _text(text)


def _number(value: int) -> bytes:
    return struct.pack("<II", _U32, value)


def _array(kind: int, values: list[Any]) -> bytes:
    return struct.pack("<IIQ", _ARRAY, kind, len(values)) + b"".join(values)
