"""``awhile ask`` at a terminal: a live line, a truthful Ctrl-C, a table that fits."""

from __future__ import annotations

import json
import os
import re
import signal

import pytest

from awhile.cli import ends
from tests.interaction.cli.conftest import HEAVY
from tests.interaction.cli.terminal import Place, Terminal, wait_until


def runs(place: Place) -> list[dict[str, str]]:
    listed: list[dict[str, str]] = json.loads(place.run("tasks", "--json").stdout)
    return listed


WHAT_NOW = "(Ctrl-C leaves): "

STOPPED = re.compile(
    r"Stopped: confirmed (by the database )?after [\d.<]+ s(: the process running it has ended)?\."
)


def test_ctrl_c_offers_to_go_on_and_to_stop_and_says_how_the_stop_is_known(served: Place) -> None:
    """Ours; a percentage is marked as the engine's estimate."""
    with served.at_a_terminal("ask", "--sql", HEAVY) as terminal:
        terminal.wait_for("% (the engine's estimate)")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press("w")
        terminal.wait_for(f"{WHAT_NOW}go on waiting")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW, times=2)
        terminal.type("s")  # Enter is not needed, and does no harm
        assert terminal.wait() == ends.CANCELLED
        said = terminal.text
    assert "^C" not in said
    assert STOPPED.search(said)
    newest = runs(served)[0]
    assert newest["status"] == "cancelled"
    assert newest["stopped_how"] in ("engine_confirmed", "process_ended")


def test_what_keeps_running_is_come_back_to_and_stopped_from_elsewhere(served: Place) -> None:
    """Ours: and a second Ctrl-C, where the first asks what to do, keeps it running, too."""
    with served.at_a_terminal("ask", "--sql", HEAVY) as terminal:
        terminal.wait_for("Running the query")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press("k")
        assert terminal.wait() == ends.CANCELLED
        said = terminal.text
    assert re.search(r"What now\?\n  k  keep it running\n  s  stop it\n  w  go on", said)
    assert "Left; it keeps running (id " in said
    found = re.search(r"Come back with: awhile attach ([0-9a-f]{32})", said)
    assert found
    with served.at_a_terminal("tasks") as terminal:
        terminal.wait_for("Live. Ctrl-C leaves; nothing is stopped by that.")
        terminal.wait_for("Running the query, ")
        terminal.press_ctrl_c()
        assert terminal.wait() == ends.RESULT
    with served.at_a_terminal("attach", found[1][:8]) as terminal:
        terminal.wait_for("Running the query")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press_ctrl_c()
        assert terminal.wait() == ends.CANCELLED
        assert f"awhile attach {found[1]}" in terminal.text
    done = served.run("cancel", found[1])
    assert done.returncode == ends.RESULT
    assert STOPPED.search(done.stderr)
    with served.at_a_terminal("attach", found[1]) as terminal:
        assert terminal.wait() == ends.CANCELLED
        assert STOPPED.search(terminal.text)


def test_what_ends_while_it_is_asked_what_to_do_is_not_waited_for(served: Place) -> None:
    """Ours: stopped from elsewhere, here."""
    with served.at_a_terminal("ask", "--sql", HEAVY) as terminal:
        terminal.wait_for("Running the query")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        found = re.search(r"\(id ([0-9a-f]{32})\)", terminal.text)
        assert found
        assert served.run("cancel", found[1]).returncode == ends.RESULT
        assert terminal.wait() == ends.CANCELLED
        assert STOPPED.search(terminal.text)


def test_a_second_ctrl_c_leaves_at_once_and_says_how_to_come_back(place: Place) -> None:
    """Ours: the server is frozen, so that the stop cannot be confirmed in time."""
    with place.started("serve", "--port=0") as server:
        assert server.stdout is not None
        server.stdout.readline()
        with place.at_a_terminal("ask", "--sql", HEAVY) as terminal:
            terminal.wait_for("Running the query")
            os.kill(server.pid, signal.SIGSTOP)
            terminal.press_ctrl_c()
            terminal.wait_for(WHAT_NOW)
            terminal.press("s")
            terminal.wait_for("sending your request to stop")
            terminal.press_ctrl_c()
            assert terminal.wait() == ends.CANCELLED
            said = terminal.text
        os.kill(server.pid, signal.SIGCONT)
        assert "Left without waiting for the stop to be confirmed; it may still run (id " in said
        found = re.search(r"Come back with: awhile attach ([0-9a-f]{32})", said)
        assert found
        done = place.run("cancel", found[1])
        assert done.returncode == ends.RESULT, done.stderr
        assert "Stopped: " in done.stderr


def test_what_ended_since_it_was_last_seen_is_not_said_to_run(served: Place) -> None:
    """Ours: the first line is not of what the ledger heard last."""
    with served.started("ask", "--sql", HEAVY) as asking:
        assert asking.stderr is not None
        assert "Running the query" in asking.stderr.readline()
        run_id = runs(served)[0]["run_id"]
        asking.kill()
        asking.wait()
    elsewhere = str(served.folder / "elsewhere.sqlite3")
    assert served.run("cancel", run_id, "--ledger", elsewhere).returncode == ends.RESULT
    again = served.run("attach", run_id)
    assert again.returncode == ends.CANCELLED
    assert "Stopped" in again.stderr
    assert "Running" not in again.stderr


def test_ctrl_c_before_anything_was_asked_says_so(place: Place) -> None:
    """Ours."""
    with place.at_a_terminal("ask", "how many products?") as terminal:
        terminal.wait_for("starting one")
        terminal.press_ctrl_c()
        assert terminal.wait() == ends.CANCELLED
        assert "Not asked." in terminal.text
    assert not place.announced


def test_what_is_left_running_goes_on_though_its_server_was_started_for_the_command(
    place: Place,
) -> None:
    """Ours: that server goes on by itself, is found by other commands, and speaks into a file."""
    with place.at_a_terminal("ask", "--sql", HEAVY) as terminal:
        terminal.wait_for("starting one")
        terminal.wait_for("% (the engine's estimate)")
        terminal.press_ctrl_c()
        terminal.wait_for("k  keep it running")
        terminal.press("k")
        assert terminal.wait() == ends.CANCELLED
        said = terminal.text
    assert "Its server goes on in the background, until nothing runs there." in said
    found = re.search(r"Left; it keeps running \(id ([0-9a-f]{32})\)\.", said)
    assert found
    assert f"Come back with: awhile attach {found[1]}" in said
    [run] = runs(place)
    assert (run["run_id"], run["status"], run["attempt"]) == (found[1], "working", 1)
    end_the_server_that_was_left(place)
    assert (place.folder / "data" / "left-servers.log").read_text() == ""


def test_a_server_that_another_command_has_found_outlives_the_one_it_was_started_for(
    place: Place,
) -> None:
    """Ours: it took the other command's run along when it ended."""
    with place.at_a_terminal("ask", "--sql", HEAVY) as first:
        first.wait_for("% (the engine's estimate)")
        with place.at_a_terminal("ask", "--sql", f"{HEAVY} -- second") as second:
            second.wait_for("% (the engine's estimate)")
            stop_by_hand(first)
            stop_by_hand(second)
            assert STOPPED.search(second.text)
    end_the_server_that_was_left(place)


@pytest.mark.parametrize(
    "leave",
    ["by an error", pytest.param("by Ctrl-C", marks=pytest.mark.long)],
)
def test_a_server_outlives_a_command_that_fails_or_is_left_while_another_has_a_run_there(
    place: Place, leave: str
) -> None:
    """Ours: the other one waited for it for ever."""
    nowhere = str(place.folder / "no" / "rows.parquet")
    with place.at_a_terminal("ask", "--sql", "SELECT :n", "--parquet", nowhere) as first:
        first.wait_for("A value for :n:")
        with place.at_a_terminal("ask", "--sql", HEAVY) as second:
            second.wait_for("% (the engine's estimate)")
            if leave == "by an error":
                first.type("1")
                assert first.wait() == ends.USAGE
            else:
                first.press_ctrl_c()
                assert first.wait() == ends.CANCELLED
            stop_by_hand(second)
            assert STOPPED.search(second.text)
    end_the_server_that_was_left(place)


def stop_by_hand(terminal: Terminal) -> None:
    """Press Ctrl-C, choose to stop it, and see the command end."""
    terminal.press_ctrl_c()
    terminal.wait_for(WHAT_NOW)
    terminal.press("s")
    assert terminal.wait() == ends.CANCELLED


def end_the_server_that_was_left(place: Place) -> None:
    """The one that says it is there; it ends in order."""
    [server] = place.announced
    os.kill(int(server.stem), signal.SIGTERM)
    wait_until(lambda: not place.announced, "its end in order")


def test_a_run_whose_server_was_killed_goes_on_and_is_watched_on(place: Place) -> None:
    """Ours: `ask` and `run_sql` are safe to re-run."""
    flags = ("serve", "--port=0", "--lease-seconds=1")
    with place.started(*flags) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with place.at_a_terminal("ask", "--sql", HEAVY) as terminal:
            terminal.wait_for("Running the query")
            server.kill()
            terminal.wait_for("Unreachable: it was running when last heard")
            port = url.removesuffix("/mcp").rpartition(":")[2]
            with place.started("serve", f"--port={port}", "--lease-seconds=1"):
                terminal.wait_for("Running again: 2nd attempt")
                stop_by_hand(terminal)
                assert "Stopped: " in terminal.text


def test_values_that_are_missing_are_asked_for(served: Place) -> None:
    """Ours: one after the other, also those of a script, before anything runs."""
    sql = "SELECT :a + :b AS sum, ':c' AS text"
    with served.at_a_terminal("ask", "--sql", sql, "--value", "a=40") as terminal:
        terminal.wait_for("A value for :b: ")
        terminal.type("2")
        assert terminal.wait() == ends.RESULT
        assert "42" in terminal.text
        assert ":c: " not in terminal.text
    script = served.folder / "asked.sql"
    script.write_text("SELECT 1; SELECT :since + 1 AS next\n")
    before = len(runs(served))
    with served.at_a_terminal("ask", "--file", str(script)) as terminal:
        terminal.wait_for("A value for :since: ")
        terminal.type("2025-12-31")
        assert terminal.wait() == ends.RESULT
        assert "2026-01-01" in terminal.text
    with served.at_a_terminal("ask", "--file", str(script)) as terminal:
        terminal.wait_for("A value for :since: ")
        terminal.type("")
        assert terminal.wait() == ends.FAILED
        assert "no value is given for it" in terminal.text
    assert len(runs(served)) == before + 2


def test_a_table_fits_the_terminal(served: Place) -> None:
    """Ours."""
    query = "SELECT *, repeat('word ', 40) AS words FROM products LIMIT 2"
    for columns in (60, 80, 120):
        with served.at_a_terminal("ask", "--sql", query, columns=columns) as terminal:
            assert terminal.wait() == ends.RESULT
            assert max(map(len, terminal.text.splitlines())) <= columns
            assert "12345678901234567891.0001" in terminal.text


def test_a_table_longer_than_the_terminal_goes_through_the_pager_every_row(served: Place) -> None:
    """Ours: and what would drive the terminal is written out there, too."""
    query = "SELECT *, chr(27) || '[31m' AS odd FROM products ORDER BY product_id"
    with served.at_a_terminal("ask", "--sql", query, PAGER="cat -n") as terminal:
        assert terminal.wait() == ends.RESULT
        said = terminal.text
    assert re.search(r"\d+\s+120  product 120  12345678901234568009.0001  \\x1b\[31m\n", said)
    assert re.search(r"\n120 rows in [\d.<]+ s, kept as result_\d+\.", said)
    with served.at_a_terminal("ask", "--sql", query, "--csv") as terminal:
        assert terminal.wait() == ends.RESULT
        assert "120,product 120,12345678901234568009.0001,\\x1b[31m\n" in terminal.text


def test_a_file_that_takes_long_is_left_by_ctrl_c(served: Place) -> None:
    """Ours: nothing is left of it, and the rows are kept."""
    target = served.folder / "large.xlsx"
    query = "SELECT range AS n, md5(range::VARCHAR) AS h FROM range(900_000)"
    with served.at_a_terminal("ask", "--sql", query, "--xlsx", str(target)) as terminal:
        terminal.wait_for("Making the workbook")
        terminal.press_ctrl_c()
        assert terminal.wait() == ends.CANCELLED
        said = " ".join(terminal.text.split())
        assert "Left before all rows were written. They are kept: awhile attach" in said
    assert not list(served.folder.glob("*large*"))


def test_a_dumb_terminal_gets_plain_lines(served: Place) -> None:
    """Ours: nothing is written over there, and nothing goes through a pager."""
    with served.at_a_terminal("ask", "--sql", HEAVY, TERM="dumb") as terminal:
        terminal.wait_for("Running the query, ")
        stop_by_hand(terminal)
        assert "━" not in terminal.text
        assert "\x1b" not in terminal.written


def test_cancelling_a_finished_run_says_that_it_had_finished(served: Place) -> None:
    """A4's sibling in the terminal (ours)."""
    answer = json.loads(served.run("ask", "--sql", "SELECT 1", "--json").stdout)
    done = served.run("cancel", answer["run_id"])
    assert done.returncode == ends.RESULT
    assert "It had already finished" in done.stderr


def test_a_question_that_comes_back_is_answered_by_a_number(served: Place) -> None:
    """Ours: and the same run goes on."""
    with served.at_a_terminal("ask", "top 5 products") as terminal:
        terminal.wait_for("Your choice (1 to ")
        terminal.type("99")
        terminal.type("1")
        assert terminal.wait() == ends.RESULT
        assert terminal.text.count("Your choice (1 to ") == 2
        assert "5 rows in" in terminal.text
    newest = runs(served)[0]
    assert newest["status"] == "completed"
    assert newest["outcome"] == "table"


def test_a_run_can_be_stopped_while_it_asks(served: Place) -> None:
    """Ours: Ctrl-C means the same at a question as anywhere, and the question is put again."""
    with served.at_a_terminal("ask", "top 5 products") as terminal:
        terminal.wait_for("Your choice (1 to ")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press("\r")
        terminal.wait_for("Your choice (1 to ", times=2)
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW, times=2)
        terminal.press("s")
        assert terminal.wait() == ends.CANCELLED
        assert "Stopped: " in terminal.text


def test_a_question_that_comes_back_can_be_left(served: Place) -> None:
    """Ours."""
    with served.at_a_terminal("ask", "top 5 products") as terminal:
        terminal.wait_for("Your choice (1 to ")
        terminal.type("")
        assert terminal.wait() == ends.NOT_ANSWERED
        assert "Not run: you declined." in terminal.text
