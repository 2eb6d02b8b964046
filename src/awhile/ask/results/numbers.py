"""Numbers that are stored as texts, of any size and precision, as texts that sort as numbers do.

Source: ours. Equal numbers become equal texts: 1.50 and 1.5, 1e5 and 100000.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

__all__ = ["order_key"]

_ABOVE_EVERY_POWER = 10_000_000
_COMPLEMENT = str.maketrans("0123456789", "9876543210")
_AFTER_DIGITS = "~"


def order_key(text: str | None) -> str | None:
    """A text that compares as the number does; None for what is no number.

    A digit for the kind (1 -infinity, 2 negative, 3 zero, 4 positive, 5 infinity, 6 NaN), the power
    of ten of the first digit, and the digits. For a negative one each digit is its complement, and
    an end that sorts behind digits makes -1.5 greater than -1.55.
    """
    if text is None or "_" in text:  # Decimal would take 1_000
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite():
        return "6" if number.is_nan() else "1" if number < 0 else "5"
    if not number:
        return "3"
    mantissa = text.strip().lower().partition("e")[0].lstrip("+-")
    scaled = f"{_ABOVE_EVERY_POWER + number.adjusted():08}{mantissa.replace('.', '').strip('0')}"
    if number < 0:
        return f"2{scaled.translate(_COMPLEMENT)}{_AFTER_DIGITS}"
    return f"4{scaled}"
