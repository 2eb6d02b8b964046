"""Translators: question + schema -> SQL, a question back, or a refusal. The seam: `contract.py`."""
