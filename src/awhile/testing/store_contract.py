"""The suite that every store passes.

::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store_url(self) -> str:
            return my_new_empty_database()

The store has to be installed under its URL scheme (`awhile.stores.open`): some tests open it in
processes of their own. Needs pytest with anyio's plugin. For readable failures, have pytest rewrite
the suite's asserts: ``pytest.register_assert_rewrite("awhile.testing")`` in a ``conftest.py``.
"""

from __future__ import annotations

from awhile.testing.store_keeping import KeepsTasks
from awhile.testing.store_leases import GivesLeases
from awhile.testing.store_processes import SurvivesProcesses
from awhile.testing.store_queue import QueuesFairly
from awhile.testing.store_races import EndsOnce
from awhile.testing.store_watches import WakesWaiters


class StoreContract(
    KeepsTasks, EndsOnce, GivesLeases, QueuesFairly, WakesWaiters, SurvivesProcesses
):
    """All of it. Each test's docstring says where its demand comes from: ours, or ext-tasks."""


__all__ = ["StoreContract"]
