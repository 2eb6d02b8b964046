"""Child processes that end with their parent, and functions run inside them.

Parent and child are one trust domain: they run the same code as the same user, and what travels
between them is pickled. Never put anybody else at the other end. POSIX only (process groups,
socket pairs); on Linux the kernel itself ends a child whose parent was killed.
"""

from awhile.processes.call import ChildRun, call_in_child, target_of
from awhile.processes.child import Child
from awhile.processes.errors import ChildEnded, ChildRaised, ProcessError
from awhile.processes.link import Link

__all__ = [
    "Child",
    "ChildEnded",
    "ChildRaised",
    "ChildRun",
    "Link",
    "ProcessError",
    "call_in_child",
    "target_of",
]
