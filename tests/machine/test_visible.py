"""Text that others wrote, as it may be shown."""

from __future__ import annotations

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from awhile.visible import visible, visible_lines

TEXT = st.text(st.characters(codec="utf-8"))


@given(TEXT)
@example("a\u202eb\u2066c\n\x1b[2Jd\x00\u200b\U000e0041\x85\u2028")
def test_nothing_that_moves_breaks_reorders_or_hides_is_left_in_a_line(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert not {"Cc", "Cf", "Zl", "Zp", "Co", "Cn"} & {unicodedata.category(one) for one in shown}
    assert visible(shown) == shown


@given(TEXT)
def test_what_is_fit_to_be_shown_is_left_as_it_is(text: str) -> None:
    plain = "".join(filter(str.isprintable, text))
    assert visible(plain) == plain
    assert len(visible(text)) >= len(text)


@given(st.lists(TEXT, min_size=1))
def test_lines_stay_lines_and_each_is_made_visible(texts: list[str]) -> None:
    lines = [visible(one) or "-" for one in texts]
    assert visible_lines("\n".join(lines)).split("\n") == lines
    assert all(line.isprintable() for line in visible_lines("\n".join(texts)).split("\n"))
