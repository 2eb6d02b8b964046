"""``awhile ask`` in pipes: results for programs, refusals for people, an exit code for each end."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from subprocess import PIPE

import anyio
import anyio.to_thread
import pytest

from awhile.cli import ends
from tests.interaction.ask.model_server import model_server
from tests.interaction.cli.conftest import InThisProcess
from tests.interaction.cli.terminal import Place

ODD = "SELECT * FROM odd"


@pytest.fixture
def served(
    served: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> InThisProcess:
    """The place with a server running, its commands in this process."""
    return InThisProcess(served, monkeypatch, capfd)


@pytest.fixture
def other() -> Generator[str]:
    """The URL of an MCP server without a database."""
    command = [sys.executable, "-m", "tests.interaction.fixture_server"]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.kill()


def test_a_question_ends_as_reading_sql_and_table(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "how many products are there?")
    assert done.returncode == ends.RESULT, done.stderr
    assert "SELECT" in done.stdout
    lines = done.stdout.splitlines()
    assert lines[-2].strip() == "120"
    assert lines[-1].startswith("1 row in ")


def test_csv_has_every_row_exactly(served: InThisProcess) -> None:
    """Ours: 120 rows, of which the answer itself carries fewer."""
    done = served.run("ask", "--sql", "SELECT * FROM products ORDER BY product_id", "--csv")
    assert done.returncode == ends.RESULT, done.stderr
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[0] == ["product_id", "name", "price"]
    assert len(rows) == 121
    assert rows[120] == ["120", "product 120", "12345678901234568009.0001"]


def test_csv_tells_null_from_empty_text_and_keeps_odd_texts(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "--sql", ODD, "--csv")
    lines = done.stdout.splitlines()
    assert lines[2] == '"",9007199254740993'
    assert lines[3] == ",170141183460469231731687303715884105727"
    rows = list(csv.reader(io.StringIO(done.stdout)))
    assert rows[4][0] == 'with "quotes", a comma\nand two lines'


def test_json_has_every_row_and_what_was_computed(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "--sql", "SELECT product_id FROM products", "--json")
    answer = json.loads(done.stdout)
    assert answer["row_count"] == len(answer["rows"]) == 120
    assert answer["columns"] == [{"name": "product_id", "type": "INTEGER"}]
    assert answer["sql"] == "SELECT product_id FROM products"


def test_what_drives_a_terminal_is_written_out_in_the_table(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "--sql", ODD)
    assert "\\x1b[31mred" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_question_not_understood_is_refused_helpfully(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "what is the meaning of life?")
    assert done.returncode == ends.NOT_ANSWERED
    assert done.stdout == ""
    assert "products" in done.stderr


def test_a_refusal_is_json_where_json_was_asked_for(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "what is the meaning of life?", "--json")
    assert done.returncode == ends.NOT_ANSWERED
    assert json.loads(done.stdout)["refusal"]["tables"]


def test_an_error_in_the_sql_is_marked_at_its_place(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "--sql", "SELECT *\nFORM products")
    assert done.returncode == ends.FAILED
    assert "2 | FORM products" in done.stderr
    assert "^" in done.stderr


def test_values_for_names_are_given_by_value(served: InThisProcess) -> None:
    """Ours: in one SELECT and in a script, and what is missing is named with what to type."""
    sql = "SELECT name FROM products WHERE product_id = :id AND name <> :name"
    done = served.run("ask", "--sql", sql, "--value", "id=7", "--value", "name=' OR 1 = 1", "--csv")
    assert done.stdout == "name\nproduct 7\n", done.stderr
    missing = served.run("ask", "--sql", sql, "--value", "id=7")
    assert missing.returncode == ends.FAILED
    assert "refused because of ':name': no value is given for it" in missing.stderr
    assert "Give it with --value name=…" in missing.stderr
    script = served.folder / "values.sql"
    script.write_text("SELECT :a + 1 AS first; SELECT :b::DATE AS second\n")
    both = ("--value", "a=41", "--value", "b=2026-01-01")
    done = served.run("ask", "--file", str(script), *both, "--csv")
    assert done.stdout == "first\n42\nsecond\n2026-01-01\n", done.stderr
    missing = served.run("ask", "--file", str(script), "--value", "a=41")
    assert missing.returncode == ends.FAILED
    assert "statement 2 of 2: refused because of ':b': no value" in missing.stderr
    done = served.run("ask", "how many products are there?", "--value", "a=1")
    assert done.returncode == ends.USAGE


def test_a_statement_that_writes_is_not_run(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("ask", "--sql", "DROP TABLE products")
    assert done.returncode == ends.FAILED
    assert "DROP" in done.stderr


def test_a_statement_can_come_from_standard_input(served: InThisProcess) -> None:
    """Ours: here standard input is empty."""
    done = served.run("ask", "--sql", "-")
    assert done.returncode == ends.USAGE
    assert "is empty" in done.stderr


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/mcp", "127.0.0.1:9", "ftp://127.0.0.1/mcp"])
def test_a_server_that_cannot_be_reached_is_named_with_the_next_step(
    served: InThisProcess, url: str
) -> None:
    """Ours: port 9 is closed; the others are no addresses."""
    done = served.run("ask", "how many products?", "--url", url)
    assert done.returncode in (ends.UNREACHABLE, ends.USAGE)
    assert done.stderr.startswith("awhile: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_a_question_goes_on_from_the_newest_run(served: InThisProcess) -> None:
    """Ours."""
    assert served.run("ask", "revenue by product").returncode == ends.RESULT
    done = served.run("ask", "only product 7", "--follows", "last", "--json")
    assert "product 7" in json.loads(done.stdout)["sql"]
    done = served.run("ask", "--sql", "SELECT 1", "--follows", "last")
    assert (done.returncode, "about a question" in done.stderr) == (ends.USAGE, True)


def test_quiet_says_nothing_but_the_answer(served: InThisProcess) -> None:
    """Ours: the rows alone; and a file without a word."""
    done = served.run("ask", "how many products are there?", "--quiet")
    assert [line.strip() for line in done.stdout.splitlines()][2:] == ["120"]
    assert done.stderr == ""
    target = served.folder / "quiet.parquet"
    done = served.run("ask", "--sql", "SELECT 1", "-q", "--parquet", str(target))
    assert (done.returncode, done.stdout, done.stderr) == (ends.RESULT, "", "")
    assert target.exists()


def test_one_form_at_a_time(served: InThisProcess) -> None:
    """Ours."""
    for two in (("--json", "--csv"), ("--csv", "--parquet", "x.parquet")):
        done = served.run("ask", "how many products?", *two)
        assert (done.returncode, "take one of them" in done.stderr) == (ends.USAGE, True)


def test_rows_become_a_file_of_the_form_that_is_asked_for(served: InThisProcess) -> None:
    """Ours: written by the server, whole or not at all."""
    sql = "SELECT 9007199254740993 AS id, repeat('x', 50000) AS long FROM range(3)"
    for kind, begins in (("parquet", b"PAR1"), ("xlsx", b"PK")):
        target = served.folder / f"rows.{kind}"
        done = served.run("ask", "--sql", sql, f"--{kind}", str(target))
        assert done.returncode == ends.RESULT, done.stderr
        assert target.read_bytes().startswith(begins)
        assert done.stdout == ""
    assert "3 cells are cut" in done.stderr
    assert [path.name for path in served.folder.glob(".rows*")] == []
    done = served.run("ask", "--sql", sql, "--parquet", str(served.folder / "none" / "x.parquet"))
    assert (done.returncode, "cannot be written" in done.stderr) == (ends.USAGE, True)


def test_csv_has_whole_cells(served: InThisProcess) -> None:
    """Ours; field case D10: a page of rows cuts a cell this long, a file does not."""
    done = served.run("ask", "--sql", "SELECT repeat('x', 50000) AS long", "--csv")
    assert done.stdout == f"long\n{'x' * 50000}\n"


def test_json_has_whole_cells_also_beyond_the_first_rows(served: InThisProcess) -> None:
    """Ours; field case D10: text and bytes, longer than a page of rows shows them."""
    sql = (
        "SELECT range AS n, CASE WHEN range IN (0, 299) THEN repeat('äb', 20000) END AS long, "
        "CASE range WHEN 1 THEN repeat('x', 25000)::BLOB WHEN 2 THEN repeat('x', 20000)::BLOB END "
        "AS bytes FROM range(300)"
    )
    rows = json.loads(served.run("ask", "--sql", sql, "--json").stdout)["rows"]
    assert [len(row) for row in rows] == [3] * 300
    assert [(row[0], row[1]) for row in rows if row[1]] == [
        ("0", "äb" * 20_000),
        ("299", "äb" * 20_000),
    ]
    assert [(row[0], row[2]) for row in rows if row[2]] == [
        ("1", "78" * 25_000),
        ("2", "78" * 20_000),
    ]


def test_tasks_lists_what_was_asked_and_attach_shows_it_again(served: InThisProcess) -> None:
    """Ours: the beginning of an id is enough."""
    asked = json.loads(served.run("ask", "--sql", "SELECT 42 AS answer", "--json").stdout)
    listed = served.run("tasks")
    assert asked["run_id"][:8] in listed.stdout
    assert "Finished" in listed.stdout
    again = served.run("attach", asked["run_id"][:8])
    assert again.returncode == ends.RESULT, again.stderr
    assert "42" in again.stdout


def test_an_id_nobody_has_is_refused(served: InThisProcess) -> None:
    """Ours."""
    done = served.run("attach", "ffff0000")
    assert done.returncode == ends.USAGE
    assert "No run has an id that begins with 'ffff0000'" in done.stderr
    whole = served.run("attach", "f" * 32)
    assert whole.returncode == ends.FAILED
    assert "No longer kept by the server" in whole.stderr


def test_a_semantic_file_is_gone_by_also_where_a_server_without_it_runs(
    served: InThisProcess, tmp_path: Path
) -> None:
    """Ours: that server knows none of its words, so that it is not asked."""
    file = tmp_path / "words.yaml"
    file.write_text("entities:\n  products: {synonyms: [gizmo]}\n")
    question = ("ask", "how many gizmos are there?", "--quiet")
    assert served.run(*question).returncode == ends.NOT_ANSWERED
    done = served.run(*question, "--semantic-file", str(file))
    assert done.returncode == ends.RESULT, done.stderr


UNREACHED = ("--model-url", "http://127.0.0.1:9/v1")
"""Where no model is, which is not asked either."""
COUNT = ("ask", "how many products are there?", "--model")


def test_a_model_that_is_named_is_the_one_that_is_asked_though_a_server_without_it_runs(
    served: InThisProcess,
) -> None:
    """Ours: it is asked by a server of this command, and that is said."""

    async def asked() -> subprocess.CompletedProcess[str]:
        async with model_server("```sql\nSELECT 42 AS answer\n```") as model:
            words = ("ask", "is there any pattern in what people buy?", "--csv")
            flags = ("--model", "compatible:stand-in", "--model-url", model.url)
            done = await anyio.to_thread.run_sync(served.place.run, *words, *flags)
            assert len(model.asked) == 1
            return done

    done = anyio.run(asked)
    assert (done.returncode, done.stdout) == (ends.RESULT, "answer\n42\n"), done.stderr
    assert "No server of that database and with the model 'compatible:stand-in at " in done.stderr
    assert "is running here; starting one, which ends with this command." in done.stderr


def test_a_server_that_has_the_model_that_is_named_is_asked(place: Place) -> None:
    """Ours: it has loaded it already."""
    with place.started("serve", "--port=0", "--model", "compatible:any", *UNREACHED) as server:
        assert server.stdout is not None
        assert server.stdout.readline()
        same = place.run(*COUNT, "compatible:any", *UNREACHED)
        assert same.returncode == ends.RESULT, same.stderr
        assert "starting one" not in same.stderr
        server.send_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--database", "own.duckdb"),
        ("--sample", "small"),
        ("--model", "gguf:own.gguf"),
        ("--semantic-file", "own.yaml"),
    ],
)
def test_a_server_that_is_named_is_asked_as_it_is(
    served: InThisProcess, flag: str, value: str
) -> None:
    """Ours: it is refused, rather than answered of other data, by another model or without the
    words."""
    done = served.run("ask", "how many?", flag, value, "--url", "http://127.0.0.1:9/mcp")
    assert done.returncode == ends.USAGE
    assert f"{flag} is for a server that this command starts" in done.stderr
    assert f"Give {flag} to `awhile serve` there" in done.stderr


def test_without_a_server_one_is_started_and_what_was_asked_is_listed_all_the_same(
    place: Place,
) -> None:
    """Ours: also what was answered at once; each run as it was last seen, and that is said."""
    listed = place.run("tasks")
    assert listed.returncode == ends.UNREACHABLE
    assert "awhile serve" in listed.stderr
    done = place.run("ask", "how many products are there?", "--json")
    assert done.returncode == ends.RESULT, done.stderr
    assert not place.announced
    asked = json.loads(done.stdout)
    refused = place.run("ask", "please write me a poem")
    assert refused.returncode == ends.NOT_ANSWERED
    listed = place.run("tasks")
    assert listed.returncode == ends.RESULT, listed.stderr
    assert "the runs of this terminal, as last seen" in listed.stderr
    _, second, first = listed.stdout.splitlines()
    assert first.startswith(asked["run_id"][:8])
    assert "Finished" in first
    assert "how many products are there?" in first
    assert "Not answered" in second
    told = json.loads(place.run("tasks", "--json").stdout)
    assert [one["outcome"] for one in told] == ["refusal", None]
    assert not any("server" in one for one in told)
    assert told[1]["last_seen_at"]
    # And coming back to one starts a server, which has kept the whole answer.
    again = place.run("attach", asked["run_id"], "--json")
    assert json.loads(again.stdout)["rows"] == asked["rows"]


def test_a_database_that_was_chosen_is_the_one_that_is_asked(served: InThisProcess) -> None:
    """Ours: a server is running, and it serves another database."""
    done = served.run("ask", "--sql", "SELECT 1", "--database", str(served.folder / "no.duckdb"))
    assert done.returncode == ends.USAGE
    assert "there is no file" in done.stderr


def test_files_behind_the_question_are_the_tables_that_are_asked(place: Place) -> None:
    """Ours: their names reach the server that is started for it, and none is written."""
    orders, folder = place.folder / "my orders.csv", place.folder / "more"
    folder.mkdir()
    orders.write_text("order_id,customer_id\n1,1\n2,1\n")
    (folder / "customers.json").write_text('[{"customer_id": 1, "name": "Ann"}]')
    sql = "SELECT name, count(*) FROM my_orders JOIN customers USING (customer_id) GROUP BY name"
    done = place.run("ask", "--sql", sql, str(orders), str(folder), "--csv")
    assert done.returncode == ends.RESULT, done.stderr
    assert done.stdout.splitlines()[1:] == ["Ann,2"]
    assert orders.read_text() == "order_id,customer_id\n1,1\n2,1\n"


def test_a_server_of_something_else_is_named_with_its_tools(
    served: InThisProcess, other: str
) -> None:
    """Ours."""
    done = served.run("ask", "how many products?", "--url", other)
    assert done.returncode == ends.USAGE
    assert "is not one to ask a database" in done.stderr
    assert "greet" in done.stderr


def test_a_question_back_is_printed_with_numbers_where_nobody_can_choose(
    served: InThisProcess,
) -> None:
    """Ours."""
    done = served.run("ask", "top 5 products")
    assert done.returncode == ends.NOT_ANSWERED
    assert "  1  " in done.stderr
    assert "Which one?" not in done.stderr


@pytest.mark.parametrize("form", ["--csv", "--json", "table"])
def test_a_reader_that_goes_away_early_is_no_error_to_complain_of(
    served: InThisProcess, form: str
) -> None:
    """Ours: as `head` does."""
    query = "SELECT repeat('x', 4000) FROM range(5000)"
    flags = [] if form == "table" else [form]
    with served.started("ask", *flags, "--sql", query) as asking:
        assert asking.stdout is not None
        assert asking.stderr is not None
        asking.stdout.readline()
        asking.stdout.close()
        assert asking.wait(30) == ends.FAILED
        said = asking.stderr.read()
        assert not [line for line in said.splitlines() if not line.endswith(" s")], said


def test_a_file_of_statements_is_run_in_order_to_the_first_that_fails(
    served: InThisProcess,
) -> None:
    """Ours."""
    script = served.folder / "script.sql"
    script.write_text("SELECT ';' AS first; SELECT nonsense; SELECT 3; SELECT 4\n")
    done = served.run("ask", "--file", str(script))
    assert done.returncode == ends.FAILED
    assert "first" in done.stdout
    assert "nonsense" in done.stderr
    assert "Not run: statements 3 to 4." in done.stderr
    script.write_text("SELECT 1 AS a;\nSELECT 2 AS b;")
    done = served.run("ask", "--file", str(script), "--json")
    assert done.returncode == ends.RESULT
    first, _, second = done.stdout.partition("\n}\n")
    assert json.loads(first + "}")["rows"] == [["1"]]
    assert json.loads(second)["rows"] == [["2"]]


def test_a_question_and_a_file_at_once_are_refused(place: Place) -> None:
    """Ours."""
    for arguments in ((), ("how many products?", "--file", "script.sql")):
        done = place.run("ask", *arguments)
        assert done.returncode == ends.USAGE
        assert "--file" in done.stderr
    missing = place.run("ask", "--file", "nowhere.sql")
    assert missing.returncode == ends.USAGE
    assert "nowhere.sql" in missing.stderr
