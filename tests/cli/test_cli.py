"""The commands as documented: their help, what they print, and what they leave alone."""

from __future__ import annotations

import csv
import dataclasses
import inspect
import io
import json
import random
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

import kgqa
from kgqa.cli.app import app
from kgqa.cli.query import _widths
from kgqa.formats import native
from kgqa.records import SPLITS
from tests import contents
from tests.command import COMMAND, ROOT, environment, function_name, run_command
from tests.conftest import Cli

GROUP: Any = typer.main.get_group(app)
COMMANDS: dict[str, Any] = {name: GROUP.get_command(None, name) for name in GROUP.list_commands(None)}
HEAVY = ("numpy", "pyarrow", "polars", "numba", "torch", "pydantic", "rich.progress", "ladybug")
STRANGE = "[bold]Tagus[/bold] [/] <b>&amp;</b> :smile: [link=x] \\"


def test_the_commands_are_those_that_users_know() -> None:
    graph = {"import", "init", "validate", "estimate", "generate", "compose", "export", "show", "query", "load", "explore", "doctor"}
    sets = {"convert", "evaluate", "contrast", "audit", "annotate", "relations", "split"}
    assert set(COMMANDS) == graph | sets | {"train", "predict", "runs", "publish"}


def test_every_command_is_a_function_of_the_same_name() -> None:
    for name in map(function_name, COMMANDS):
        assert name in vars(kgqa)["__all__"]
        assert inspect.isfunction(getattr(kgqa, name)), name


@pytest.mark.parametrize("name", COMMANDS)
def test_help_documents_every_option(name: str, cli: Cli) -> None:
    outcome = cli(name, "--help")
    assert outcome.status == 0
    assert outcome.err == ""
    assert COMMANDS[name].help
    for parameter in COMMANDS[name].params:
        if parameter.name == "help":
            continue
        assert parameter.help, parameter.name
        shown = parameter.opts[-1] if parameter.param_type_name == "option" else parameter.metavar or parameter.name
        assert shown.lower() in outcome.out.lower(), shown


def test_help_and_version(cli: Cli) -> None:
    outcome = cli("--help")
    assert outcome.status == 0
    assert all(name in outcome.out for name in COMMANDS)
    assert cli("--version").out == f"kgqa {kgqa.__version__}\n"
    assert cli().status == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nosuch"], "No such command 'nosuch'; see kgqa --help."),
        (["--nosuch"], "No such option: --nosuch; see kgqa --help."),
        (["generatte"], "see kgqa --help."),
        (["generate"], "Missing option '--domain'; see kgqa generate --help."),
        (["generate", "--domain"], "Option '--domain' requires an argument; see kgqa generate --help."),
        (["generate", "--seed", "x"], "Invalid value for '--seed'"),
        (["show", "--maskd", "x"], "No such option: --maskd"),
        (["convert"], "Missing argument 'dataset'; see kgqa convert --help."),
        (["convert", "x", "--out", "y"], "Missing option '--to'; see kgqa convert --help."),
        (["convert", "x", "--form", "y"], "No such option: --form"),
        (["contrast", "probe", "x", "--out", "y", "--seed", "z"], "Invalid value for '--seed'"),
        (["audit", "x", "y"], "see kgqa audit --help."),
    ],
)
def test_a_mistaken_command_line_is_one_sentence(arguments: list[str], part: str, cli: Cli) -> None:
    cli(*arguments).sentence(part)


LOST = """
import ctypes, signal, time
import kgqa.cli.app
from kgqa.cli import main

def run():
    called_from_c = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))
    called_from_c()
    for _ in range(6000):
        time.sleep(0.01)
    return 0

kgqa.cli.app.run = run
main()
"""


@pytest.mark.slow
def test_a_signal_that_c_code_loses_stops_the_run_all_the_same() -> None:
    process = subprocess.run(
        [sys.executable, "-c", LOST], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert (process.returncode, process.stderr) == (143, "kgqa: stopped; run the same command again.\n")


WITHIN = """
import signal, time
import kgqa.cli.app
from kgqa.cli import main

torch = {"__name__": "torch.nn.modules", "signal": signal, "time": time}
exec('''
def work(until):
    signal.raise_signal(signal.SIGINT)
    began = time.monotonic()
    while time.monotonic() < began + until:
        time.sleep(0.01)
    print("came out", flush=True)
''', torch)

def run():
    torch["work"](UNTIL)
    time.sleep(60)
    return 0

kgqa.cli.app.run = run
main()
"""


@pytest.mark.parametrize(("until", "said"), [(0.3, "came out\n"), (60, "")])
@pytest.mark.slow
def test_torch_is_interrupted_when_it_is_done_or_after_a_while(until: float, said: str) -> None:
    script = WITHIN.replace("UNTIL", str(until))
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=30,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert (process.returncode, process.stdout, process.stderr) == (130, said, "kgqa: stopped; run the same command again.\n")


KERNEL = """
import signal
import kgqa.cli.app
from kgqa.arrays import kernel, tokens
from kgqa.cli import main
import pyarrow as pa

call = kernel._call

def between(*arguments):
    for _ in range(SIGNALS):
        signal.raise_signal(signal.SIGTERM)
    found = call(*arguments)
    print("whole", flush=True)
    return found

def run():
    kernel._call = between
    tokens.word_hashes(pa.array(["a b-c d"]))
    return 0

kgqa.cli.app.run = run
main()
"""


@pytest.mark.parametrize(("signals", "said"), [(1, "whole\n"), (2, "")])
@pytest.mark.slow
def test_a_kernel_is_over_before_a_signal_is_obeyed_and_a_second_one_does_not_wait(signals: int, said: str) -> None:
    script = KERNEL.replace("SIGNALS", str(signals))
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert (process.returncode, process.stdout, process.stderr) == (143, said, "kgqa: stopped; run the same command again.\n")


EARLY = """
import typer.core
from kgqa.cli import main

def stopped(*arguments, **settings):
    raise KeyboardInterrupt

typer.core.TyperGroup.make_context = stopped
main()
"""
COMPILED = """
import kgqa.cli.app
from kgqa.cli import main

def run():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interruption:
        try:
            raise SystemError("returned a result with an exception set") from interruption
        except SystemError as error:
            raise SystemError("and so did what called it") from error

kgqa.cli.app.run = run
main()
"""
COMPILER = """
import os
import signal
import time
import kgqa.cli.app
from kgqa.cli import main

def run():
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)
    except KeyboardInterrupt:
        raise RuntimeError("Failed in nopython mode pipeline (step: nopython frontend)") from None

kgqa.cli.app.run = run
main()
"""
BUG = """
import kgqa.cli.app
from kgqa.cli import main

def run():
    raise RuntimeError("a fault of the program")

kgqa.cli.app.run = run
main()
"""
OTHERWISE = """
import sys
import kgqa.cli.app
from kgqa.cli import main

class Odd:
    def __del__(self):
        raise ValueError("what else goes wrong there")

def run():
    Odd()
    return 0

kgqa.cli.app.run = run
main()
"""


@pytest.mark.parametrize(
    ("script", "status", "said"),
    [
        (EARLY, 130, "kgqa: stopped; run the same command again.\n"),
        (COMPILED, 130, "kgqa: stopped; run the same command again.\n"),
        (COMPILER, 143, "kgqa: stopped; run the same command again.\n"),
        (BUG, 1, "a fault of the program"),
        (OTHERWISE, 0, "what else goes wrong there"),
    ],
)
@pytest.mark.slow
def test_what_is_said_of_an_early_stop_and_of_other_faults_in_c_code(script: str, status: int, said: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert process.returncode == status
    assert said in process.stderr


UNKEPT = """
import kgqa.cli.app
from kgqa.cli import main

def run():
    from kgqa.arrays.cache import log, private_folder
    private_folder()
    log.warning("a second note")
    return 0

kgqa.cli.app.run = run
main()
"""


def test_compiled_code_that_cannot_be_kept_is_said_once() -> None:
    process = subprocess.run(
        [sys.executable, "-c", UNKEPT], cwd=ROOT, env={**environment(), "NUMBA_CACHE_DIR": "/dev/null"},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert process.returncode == 0
    assert process.stderr == (
        "kgqa: the code is compiled anew in each process, as it cannot be kept (/dev/null/kgqa-kernels: Not a directory); "
        "set NUMBA_CACHE_DIR to another folder.\n"
    )


def test_the_readme_mentions_every_command() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"kgqa {name}" not in readme] == []


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['kgqa', '--help']\n"
        "from kgqa.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    process = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True)
    assert process.stdout.splitlines()[-1] == "[]"


@pytest.mark.slow
def test_the_documented_command_lines_work(tmp_path: Path) -> None:
    outcome = run_command("generate", "--domain", "wikidata", cwd=tmp_path)
    assert outcome.status == 0, outcome.err
    assert outcome.err == ""
    assert "using the small domain that kgqa ships" in outcome.out
    dataset = Path("kgqa-workspace/datasets/wikihop")
    assert f"kgqa show {dataset}" in outcome.out
    assert run_command("show", dataset, cwd=tmp_path).status == 0
    assert run_command("query", "hubs", "--limit", "2", cwd=tmp_path).out.rstrip().endswith("2 rows")
    out = run_command("export", dataset, "--to", "qangaroo", "--out", "official", cwd=tmp_path)
    assert "This format has no place for: paragraph ids" in out.out
    assert re.search(r"^official/dev\.json: [1-9][0-9.,]* kB$", out.out, re.MULTILINE)  # not 0.0 MB
    splits = [f"{split}{kind}.json" for split in SPLITS for kind in ("", ".masked")]
    assert sorted(contents.files(tmp_path / "official")) == sorted(splits)


def test_a_source_of_ones_own_is_read(tmp_path: Path, cli: Cli) -> None:
    outcome = cli(
        "generate",
        "--domain",
        "medline",
        "--source",
        ROOT / "seeds" / "medline",
        "--workspace",
        tmp_path / "w",
        "--limit",
        "300",
        "--verbose",
    )
    assert outcome.status == 0, outcome.err
    assert "small domain" not in outcome.out
    assert "not selected by --limit" in outcome.out
    for table in ("What was dropped, and why", "Shortcut baselines", "Time"):
        assert table in outcome.out


def test_the_result_comes_first_and_is_short(seed_wikidata: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = cli("generate", "--domain", "wikidata", "--workspace", seed_wikidata)
    lines = outcome.out.splitlines()
    assert len(lines) <= 17, outcome.out
    assert lines[0] == f"{seed_wikidata}/datasets/wikihop: train 136, dev 18, test 10"
    assert lines[1] == "Main reasons for rejection:"
    assert any(re.match(r"Best shortcut baseline on dev: [\w -]+, [\d.]+% of 18 samples, chance [\d.]+%$", line) for line in lines)
    assert "No --source given" in outcome.out
    assert "kgqa generate is for readers that choose a candidate" in outcome.out
    long = cli("generate", "--domain", "wikidata", "--workspace", seed_wikidata, "--verbose").out
    assert "What was dropped, and why" in long
    assert " 0 │" not in long.partition("Shortcut baselines")[0]


def test_tables_of_nodes_leave_out_what_only_queries_use(seed_wikidata: Path, cli: Cli) -> None:
    query = "MATCH (e:Entity {id: 'Q45'})-[f:FACT]->(t) RETURN e, f, t"
    out = cli("query", "--cypher", query, "--workspace", seed_wikidata).out
    assert "Portugal" in out
    assert not re.search(r'"(row|search|common)":', out)
    (first, *_) = json.loads(cli("query", "--cypher", query, "--workspace", seed_wikidata, "--format", "json").out)
    assert {"row", "search", "common"} <= first["e"]["properties"].keys()


def test_a_dry_run_writes_nothing(tmp_path: Path, seed_wikidata: Path, cli: Cli) -> None:
    outcome = cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", "--dry-run")
    assert outcome.status == 0
    assert "Nothing was changed." in outcome.out
    assert outcome.out.count("to do") == 10
    assert re.search(r"relations\.tsv +│ [1-9][0-9.,]* (bytes|kB) ", outcome.out)  # not 0.0 megabytes
    assert list(tmp_path.iterdir()) == []
    before = contents.files(seed_wikidata)
    outcome = cli("generate", "--domain", "wikidata", "--workspace", seed_wikidata, "--dry-run")
    assert outcome.out.count("finished before") == 10
    assert contents.files(seed_wikidata) == before


def test_show_prints_the_sample_that_is_asked_for(seed_wikidata: Path, cli: Cli) -> None:
    dataset = seed_wikidata / "datasets" / "wikihop"
    every = list(native.read(dataset / "test.parquet"))
    assert cli("show", dataset).out == cli("show", dataset, kgqa.show(dataset).id).out
    plain = cli("show", dataset, every[-1].id).out
    assert every[-1].question in plain
    assert every[-1].answers[0] in plain
    masked = cli("show", dataset, every[-1].id, "--masked").out
    assert "___MASK" in masked
    assert "___MASK" not in plain
    assert kgqa.show(dataset, every[-1].id) == every[-1]


def test_query_lists_and_prints_in_three_formats(seed_wikidata: Path, cli: Cli) -> None:
    listed = cli("query", "--list").out
    assert "bridge_entities: " in listed
    assert "--entity (name or id of an entity)" in listed
    assert "--limit (integer, 50 by default)" in listed
    assert "--candidate (name or id of an entity, empty by default)" in listed
    assert "    gives dataset, chain, position, role, kind, id, name\n" in listed
    assert "    gives bridge, label, documents, together, facts, score\n" in listed
    # What only the page, the traversal, the loader or the doctor asks is not shown.
    assert not [
        line for line in listed.splitlines() if line.startswith(("page_", "wikihop_", "medhop_", "load_", "conformance_", "article_"))
    ]
    rows = kgqa.query("hubs", {"limit": "3"}, workspace=seed_wikidata).to_pylist()
    ask = ("query", "hubs", "--limit", "3", "--workspace", seed_wikidata, "--format")
    assert json.loads(cli(*ask, "json").out) == rows
    table = list(csv.DictReader(io.StringIO(cli(*ask, "csv").out)))
    assert table == [{name: str(value) for name, value in row.items()} for row in rows]
    assert all(str(row["label"]) in cli(*ask, "table").out for row in rows)
    none = cli("query", "find_entity", "--text", "zzzz", "--workspace", seed_wikidata).out
    assert none.rstrip().endswith("No rows: check the ids, or try another query.")
    assert "--minimum (number, 0.0 by default)" in listed
    assert "--dataset (string, empty by default)" in listed


def test_a_table_is_as_wide_as_the_terminal_at_most_and_breaks_no_word() -> None:
    rng = random.Random(5)
    letters = "abcdefgh名前"
    for _ in range(2000):
        columns = {
            f"{number}": [" ".join("".join(rng.choices(letters, k=rng.randint(1, 14))) for _ in range(rng.randint(0, 6))) for _ in range(3)]
            for number in range(rng.randint(1, 7))
        }
        room = rng.randint(20, 140)
        widths = _widths(columns, room)
        longest = [max(cell_len(word) for text in texts for word in text.split() or [""]) for texts in columns.values()]
        whole = [max(1, *map(cell_len, texts)) for texts in columns.values()]
        assert bool(widths) == (sum(max(1, width) + 3 for width in longest) + 1 <= room)
        if widths:
            table = Table()
            for name, width in zip(columns, widths, strict=True):
                table.add_column(name, overflow="fold", width=width)
            for row in zip(*columns.values(), strict=True):
                table.add_row(*row)
            console = Console(width=room, file=io.StringIO(), record=True, color_system=None)
            console.print(table)
            lines = console.export_text().splitlines()
            assert {cell_len(line) for line in lines} == {sum(widths) + 3 * len(widths) + 1}
            shown = {word for line in lines for cell in line.strip("│┃").split("│") for word in cell.split()}
            assert {word for texts in columns.values() for text in texts for word in text.split()} <= shown
            if sum(whole) + 3 * len(whole) + 1 <= room:
                assert widths == whole


def test_a_part_of_the_rows_is_never_shown_as_all(seed_wikidata: Path, cli: Cli) -> None:
    ask = ("query", "--workspace", seed_wikidata, "--cypher", "MATCH (e:Entity) RETURN e.id AS id ORDER BY e.row")
    some = cli(*ask, "--rows", "3")
    assert some.out.rstrip().endswith("3 rows, cut")
    assert some.err == "Cut: only the first 3 rows are shown, there are more; --rows allows more.\n"
    one = cli(*ask, "--rows", "1")
    assert one.out.rstrip().endswith("\n1 row, cut")
    assert one.err == "Cut: only the first row is shown, there are more; --rows allows more.\n"
    few = cli(*ask, "--bytes", "2KiB", "--rows", "100", "--format", "json")
    shown = len(json.loads(few.out))
    assert 0 < shown < 100
    none = cli(*ask, "--bytes", "1")
    assert none.err == "Cut: none of the rows is shown, there are more; --bytes allows more.\n"
    assert few.err == f"Cut: only the first {shown} rows are shown, there are more; --bytes allows more.\n"
    entities = kgqa.cypher("MATCH (e:Entity) RETURN count(e) AS n", workspace=seed_wikidata).rows["n"][0].as_py()
    whole = cli(*ask, "--rows", str(entities), "--format", "csv")
    assert (len(whole.out.splitlines()), whole.err) == (entities + 1, "")
    dates = cli("query", "--workspace", seed_wikidata, "--cypher", "RETURN date('2020-02-29') AS day", "--format", "json")
    assert json.loads(dates.out) == [{"day": "2020-02-29"}]


def test_markup_in_names_is_shown_as_it_is(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    dataset = wikidata_copy / "datasets" / "wikihop"
    instance = kgqa.show(dataset)
    assert instance.candidates
    first = dataclasses.replace(instance.candidates[0], text=STRANGE)
    strange = dataclasses.replace(
        instance,
        id="[i]1[/i]",
        question=f"q {STRANGE}",
        candidates=(first, *instance.candidates[1:]),
        paragraphs=(dataclasses.replace(instance.paragraphs[0], title=STRANGE, text=STRANGE, mentions=()), *instance.paragraphs[1:]),
    )
    native.write([strange], dataset / "train.parquet")
    contents.renew_manifest(dataset)
    shown = cli("show", dataset).out
    assert shown.count(STRANGE) in {4, 5}  # the best other candidate may be that one
    assert "([i]1[/i])" in shown
    relations = (ROOT / "seeds" / "wikidata" / "relations.tsv").read_text("utf-8").replace("\tcountry\t", f"\t{STRANGE[:-2]}\t", 1)
    source = tmp_path / "[bold]source"
    source.mkdir()
    for path in (ROOT / "seeds" / "wikidata").iterdir():
        (source / path.name).write_bytes(path.read_bytes())
    (source / "relations.tsv").write_text(relations, "utf-8")
    result = cli("generate", "--domain", "wikidata", "--source", source, "--workspace", tmp_path / "[red]w[/]")
    assert result.status == 0, result.err
    assert f"kgqa show '{tmp_path}/[red]w[/]/datasets/wikihop'" in result.out
    asked = ("query", "relation_counts", "--workspace", tmp_path / "[red]w[/]", "--format")
    assert STRANGE[:-2] in cli(*asked, "csv").out
    table = "".join(line.strip("│").split("│")[1].strip() for line in cli(*asked, "table").out.splitlines() if line.startswith("│ P17 "))
    assert table.startswith("[bold]Tagus[/bold]")


@pytest.mark.parametrize(
    "command",
    [
        ["query", "relation_counts"],
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (["query", "relation_counts", "--format", "csv"], ["query", "--list"], ["show"])
        ),
    ],
)
def test_a_reader_who_goes_away_is_no_error(command: list[str], seed_wikidata: Path) -> None:
    where = ["--workspace", str(seed_wikidata)]
    if command[-1] in {"show", "--list"}:
        where = [str(seed_wikidata / "datasets" / "wikihop")] if command == ["show"] else []
    with subprocess.Popen([*COMMAND, *command, *where], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout
        assert run.stderr
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == 0


def test_a_terminal_without_letters_shows_their_numbers(seed_wikidata: Path) -> None:
    environ = {**environment(), "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for command in (
        ["show", str(seed_wikidata / "datasets" / "wikihop")],
        ["query", "find_entity", "--text", "o", "--workspace", str(seed_wikidata)],
    ):
        process = subprocess.run([*COMMAND, *command], env=environ, capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr


def test_control_characters_in_data_do_not_reach_the_terminal() -> None:
    from kgqa.cli.printable import printable

    text = "a\x1b]0;owned\x07\x1b[2J\r\x85b\n\t\x7f"
    assert len(printable(text)) == len(text)
    assert not {character for character in printable(text) if character < " " or "\x7f" <= character < "\xa0"} - {"\n", "\t"}


def test_an_error_line_shows_control_characters(tmp_path: Path, cli: Cli) -> None:
    outcome = cli("generate", "--domain", "x\x1b[2J")
    assert "\x1b" not in outcome.err


def test_a_program_that_calls_the_command_line_can_still_be_stopped(cli: Cli) -> None:
    cli("--version")
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)]
    cli("--version")
    cli("--versoin")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGALRM)] == before


STOPPED_AT_THE_END = """
import atexit, os, signal, sys

atexit.register(lambda: [os.kill(os.getpid(), number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
sys.argv = ["kgqa", *sys.argv[1:]]
from kgqa.cli import main

main()
"""


@pytest.mark.parametrize(("argument", "status"), [("--version", 0), ("--versoin", 2)])
@pytest.mark.slow
def test_what_is_done_is_not_stopped_any_more(argument: str, status: int) -> None:
    command = [sys.executable, "-c", STOPPED_AT_THE_END, argument]
    process = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert process.returncode == status
    assert process.stderr.count("\n") == (status == 2)
