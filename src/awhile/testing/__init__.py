"""What third parties test with: the suite every store passes, a clock moved by hand.

`awhile.testing.store_contract` needs pytest, the clock nothing.
"""

from awhile.testing.clock import HandClock

__all__ = ["HandClock"]
