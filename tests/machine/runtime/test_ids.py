"""Ids that nobody can guess, and that no two processes give out."""

from __future__ import annotations

import os
import re

from awhile.runtime.ids import new_task_id

MANY = 1_000


def test_an_id_is_128_random_bits_and_never_given_twice() -> None:
    """ext-tasks, "Task ID unguessability"."""
    ids = {new_task_id() for _ in range(MANY)}
    assert len(ids) == MANY
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)


def test_a_forked_process_has_ids_of_its_own() -> None:
    """Ours: they are made many at once, and a child must not go on with its parent's."""
    new_task_id()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, new_task_id().encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        of_the_child = said.read()
    os.waitpid(child, 0)
    assert len(of_the_child) == 32
    assert of_the_child not in {new_task_id() for _ in range(MANY)}
