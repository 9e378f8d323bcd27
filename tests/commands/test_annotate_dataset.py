"""``kgqa annotate DATASET`` and ``kgqa annotate figures``: samples as text and to validate, the figures of tables, and the card."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.collection.draw import draw
from kgqa.collection.verdict_tables.card import HEADING, section, with_section
from kgqa.collection.verdict_tables.table import Judgement, Table, read_table
from kgqa.collection.verdicts import TABLE_MARKS, VERDICTS
from kgqa.errors import EmptyResult, InputError, MissingInput, SettingsError, StorageError
from kgqa.formats import native
from kgqa.metrics.wilson import wilson
from kgqa.runs.files import file_hash, write_whole
from tests import contents
from tests.collection.verdict_tables import table_text
from tests.command import COMMAND, environment
from tests.conftest import Cli

SAMPLE = 10
STOPPED = "kgqa: stopped; run the same command again.\n"
SAID = ["follows"] * 5 + ["likely"] * 2 + ["does-not-follow"] * 2


@pytest.fixture(scope="module")
def wikihop(seed_wikidata: Path) -> Path:
    return seed_wikidata / "datasets" / "wikihop"


def written(dataset: Path, path: Path, verdicts: list[str], *, reader: str = "ann", another: int = 0, sample: int = SAMPLE) -> Path:
    """A table with these verdicts on the first samples of a draw, and the mark on the first ones."""
    result = draw(dataset, sample=sample, seed=7)
    judgements = [
        Judgement(sample=id, reader=reader, verdict=verdict, marks=("another",) * (number < another))
        for number, (id, verdict) in enumerate(zip(result.splits, verdicts, strict=False))  # noqa: A001
    ]
    path.write_text(table_text(Table(origin=result.origin, judgements=tuple(judgements))), "utf-8")
    return path


def test_one_readers_figures(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    table = written(wikihop, tmp_path / "ann.tsv", SAID, another=3)
    result = kgqa.annotate_figures(wikihop, table)
    (ann,) = result.readers
    assert (ann.reader, ann.table, ann.read, ann.drawn, result.agreed) == ("ann", "ann.tsv", 9, SAMPLE, ())
    counts = {share.category: share.count for share in ann.shares}
    assert counts == {
        "follows or likely": 7, "follows": 5, "likely": 2, "does-not-follow": 2, "unreadable": 0, "another": 3, "wrong-link": 0,
    }  # fmt: skip
    assert [share.interval for share in ann.shares] == [wilson(count, 9) for count in counts.values()]
    out = cli("annotate", "figures", wikihop, table).out
    assert re.search(r"follows or likely\s*│\s*77\.8 \(45\.3 to 93\.7\)", out)
    assert all(each.label in out for each in (*VERDICTS.values(), *TABLE_MARKS.values()))


def test_two_readers_agree_as_far_as_they_do(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    ann = written(wikihop, tmp_path / "ann.tsv", SAID, another=3)
    bob = written(wikihop, tmp_path / "bob.tsv", ["follows"] * 4 + ["likely"] * 4, reader="bob", another=1)
    agreed = {each.question: each for each in kgqa.annotate_figures(wikihop, ann, bob).agreed}
    assert list(agreed) == ["verdict", "follows or likely", *VERDICTS, *TABLE_MARKS]
    # Of eight, six are the same; by chance (5 * 4 + 2 * 4) / 64.
    assert (agreed["verdict"].items, agreed["verdict"].same.mean) == (8, 6 / 8)
    assert agreed["verdict"].kappa == pytest.approx((6 / 8 - 28 / 64) / (1 - 28 / 64))
    assert agreed["verdict"].same == wilson(6, 8)
    assert agreed["wrong-link"].kappa is None
    assert agreed["another"].same.mean == 6 / 8
    out = cli("annotate", "figures", wikihop, ann, bob).out
    assert re.search(r"verdict\s*│\s*75\.0 \([^)]*\)\s*│\s*0\.56", out)
    assert "on the 8 samples with a verdict of both" in out


def test_two_readers_of_one_table_are_compared_as_two_tables_are(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    ann = written(wikihop, tmp_path / "ann.tsv", SAID)
    bob = written(wikihop, tmp_path / "bob.tsv", ["follows"] * 8, reader="bob")
    first, second = read_table(ann), read_table(bob)
    (tmp_path / "both.tsv").write_text(table_text(replace(first, judgements=(*second.judgements, *first.judgements))))
    apart, together = kgqa.annotate_figures(wikihop, ann, bob), kgqa.annotate_figures(wikihop, tmp_path / "both.tsv")
    assert together.agreed == apart.agreed
    assert [replace(each, table="") for each in together.readers] == [replace(each, table="") for each in apart.readers]
    assert "on the 8 samples with a verdict of both" in cli("annotate", "figures", wikihop, tmp_path / "both.tsv").out
    assert "said of each is in `both.tsv`.\n" in section(together)


def test_readers_of_different_samples_have_nothing_to_agree_on(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    ann = written(wikihop, tmp_path / "ann.tsv", SAID[:3])
    bob = written(wikihop, tmp_path / "bob.tsv", ["", "", "", "follows"], reader="bob", sample=20)
    result = kgqa.annotate_figures(wikihop, ann, bob)
    assert (result.agreed, result.origin.sample) == ((), 20)
    assert "no agreement to measure" in cli("annotate", "figures", wikihop, ann, bob).out


def test_the_card_says_what_people_found_and_the_dataset_stays_whole(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    dataset = wikidata_copy / "datasets" / "wikihop"
    before, card = contents.files(dataset), (dataset / "README.md").read_text("utf-8")
    ann = written(dataset, tmp_path / "ann.tsv", SAID)
    assert cli("annotate", "figures", dataset, ann).status == 0
    assert contents.files(dataset) == before  # only when asked
    assert f"Written: {dataset / 'README.md'}" in cli("annotate", "figures", dataset, ann, "--card").out
    once = (dataset / "README.md").read_text("utf-8")
    assert once.count(HEADING) == 1
    assert "| follows or likely | 77.8 (45.3 to 93.7) |" in once
    assert f"{SAMPLE} of " in once
    assert once.index(HEADING) < once.index("## Limits")
    bob = written(dataset, tmp_path / "bob.tsv", SAID, reader="bob")
    kgqa.annotate_figures(dataset, ann, bob, card=True)
    twice = (dataset / "README.md").read_text("utf-8")
    assert twice.count(HEADING) == 1
    assert "Cohen's kappa" in twice
    start, end = twice.index(HEADING), twice.index("## Limits")
    assert twice[:start] + twice[end:] == card
    kgqa.annotate_figures(dataset, ann, card=True)
    assert (dataset / "README.md").read_text("utf-8") == once
    manifest = json.loads((dataset / "manifest.json").read_text("utf-8"))
    assert all(file_hash(dataset / name) == digest for name, digest in manifest["files"].items())
    after = contents.files(dataset)
    assert {name for name in after if after[name] != before.get(name)} == {"README.md", "manifest.json"}
    assert set(after) == set(before)
    # The run that made it finds it whole, and the section stays.
    assert "write_dataset" in kgqa.generate("wikidata", workspace=wikidata_copy).reused
    assert (dataset / "README.md").read_text("utf-8") == once


@given(st.text(max_size=30), st.text(max_size=30), st.booleans())
def test_a_section_replaces_the_earlier_one_alone(above: str, below: str, limits: bool) -> None:
    card = (
        f"# Title\n\n{above.replace('#', '').replace(chr(13), '')}\n"
        + ("\n## Limits\n\n" if limits else "")
        + below.replace("#", "").replace(chr(13), "")
    )
    first = with_section(card, f"{HEADING}\n\nfirst")
    assert with_section(first, f"{HEADING}\n\nfirst") == first
    assert with_section(first, f"{HEADING}\n\nsecond") == first.replace(f"{HEADING}\n\nfirst", f"{HEADING}\n\nsecond", 1)
    assert first.replace(f"{HEADING}\n\nfirst\n\n" if limits else f"\n\n{HEADING}\n\nfirst\n", "", 1).rstrip("\n") == card.rstrip("\n")


def test_a_manifest_that_cannot_be_written_leaves_the_card(wikidata_copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = wikidata_copy / "datasets" / "wikihop"
    before = contents.files(dataset)

    def failing(path: Path, text: str) -> None:
        if path.name == "manifest.json":
            raise StorageError(f"{path}: the disk is full.")
        write_whole(path, text)

    monkeypatch.setattr("kgqa.collection.verdict_tables.card.write_whole", failing)
    with pytest.raises(StorageError, match="disk is full"):
        kgqa.annotate_figures(dataset, written(dataset, tmp_path / "ann.tsv", SAID), card=True)
    assert contents.files(dataset) == before


def test_a_set_without_a_card_has_no_place_for_figures(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "bare").mkdir()
    native.write(list(native.read(wikihop / "dev.parquet")), tmp_path / "bare" / "dev.parquet")
    table = written(tmp_path / "bare", tmp_path / "ann.tsv", SAID[:1])
    assert cli("annotate", "figures", tmp_path / "bare", table).status == 0
    cli("annotate", "figures", tmp_path / "bare", table, "--card").sentence("no card that its manifest knows", "--card")


def test_tables_that_say_nothing_of_these_samples_are_refused(wikihop: Path, seed_medline: Path, tmp_path: Path, cli: Cli) -> None:
    ann = written(wikihop, tmp_path / "ann.tsv", SAID)
    with pytest.raises(InputError, match="this table is of another dataset"):
        kgqa.annotate_figures(seed_medline / "datasets" / "medhop", ann)
    with pytest.raises(SettingsError, match="the same table twice"):
        kgqa.annotate_figures(wikihop, ann, tmp_path / "." / "ann.tsv")
    with pytest.raises(SettingsError, match="0 tables are given"):
        kgqa.annotate_figures(wikihop)
    with pytest.raises(MissingInput, match="no such file"):
        kgqa.annotate_figures(wikihop, tmp_path / "none.tsv")
    with pytest.raises(InputError, match="this table has no judgements"):
        kgqa.annotate_figures(wikihop, written(wikihop, tmp_path / "empty.tsv", []))
    with pytest.raises(InputError, match="no sample has a verdict"):
        kgqa.annotate_figures(wikihop, written(wikihop, tmp_path / "marks.tsv", [""], another=1))
    table = read_table(ann)
    many = (*table.judgements, *(replace(table.judgements[0], reader=name) for name in ("bob", "eve")))
    (tmp_path / "many.tsv").write_text(table_text(replace(table, judgements=many)))
    cli("annotate", "figures", wikihop, tmp_path / "many.tsv").sentence("3 readers are in these tables (ann, bob, eve)")
    other = replace(table, origin=replace(table.origin, seed=8))
    (tmp_path / "other.tsv").write_text(table_text(other))
    cli("annotate", "figures", wikihop, ann, tmp_path / "other.tsv").sentence("drawn with seed 8, not 7")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--print", "--port", "1"], "--port cannot be combined with --print"),
        (["--print", "--journal", "j.sqlite"], "--journal cannot be combined with --print"),
        (["--print", "--sample", "0"], "sample 0 is not between 1 and 1000000000"),
        (["--sample", "0"], "sample"),
        (["--sample", str(10**20)], "sample"),
        (["--seed", "-1"], "seed"),
        (["--split", "tests"], "did you mean test?"),
        (["--port", "70000"], "not between 0 and 65535"),
        (["--person", " "], "is not a valid name"),
        (["--person", "x" * 101], "person"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    arguments: list[str], part: str, wikihop: Path, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    port = [] if {"--port", "--print"} & set(arguments) else ["--port", "0"]
    cli("annotate", wikihop, *arguments, *port).sentence(part)
    assert not list(tmp_path.iterdir())


def test_options_of_a_dataset_do_not_go_with_a_project(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "project.toml").write_text("")
    cli("annotate", tmp_path / "project.toml", "--sample", "5").sentence("--sample requires a dataset folder")
    cli("annotate", tmp_path / "project.toml", "--print").sentence("--print requires a dataset folder")


def test_a_journal_within_the_dataset_would_go_with_it(wikihop: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents.files(wikihop)
    cli("annotate", wikihop, "--port", "0", "--journal", wikihop / "masked" / "j.sqlite").sentence(
        "this is in the folder of the data", "--journal"
    )
    monkeypatch.chdir(wikihop)
    cli("annotate", ".", "--port", "0").sentence("wikihop-annotation.sqlite: this is in the folder of the data")
    assert contents.files(wikihop) == before


def test_no_dataset_no_port(tmp_path: Path, wikihop: Path, cli: Cli) -> None:
    (tmp_path / "empty").mkdir()
    cli("annotate", tmp_path / "empty", "--port", "0").sentence("this folder holds no dataset")
    cli("annotate", tmp_path / "none", "--port", "0").sentence("there is no such project file")
    cli("annotate", tmp_path / "none", "--print").sentence("--print requires a dataset folder")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        cli("annotate", wikihop, "--port", str(other.getsockname()[1])).sentence("cannot be used", "--port")
    native.write([], tmp_path / "dev.parquet")
    with pytest.raises(EmptyResult, match="no samples"):
        kgqa.annotate_samples(tmp_path)


@pytest.mark.parametrize("domain", ["wikidata", "medline"])
def test_the_samples_as_text(domain: str, request: pytest.FixtureRequest, cli: Cli) -> None:
    dataset = next((request.getfixturevalue(f"seed_{domain}") / "datasets").iterdir())
    out = cli("annotate", dataset, "--sample", "5", "--seed", "7", "--print").out
    result = kgqa.annotate_samples(dataset, sample=5, seed=7)
    parts = re.split(r"^=== \d+\. ", out, flags=re.MULTILINE)[1:]
    assert len(parts) == len(result) == 5
    for part, reading in zip(parts, result, strict=True):
        instance = reading.instance
        assert part.startswith(f"{instance.question}   ({instance.id}, {reading.split})\nAnswer: {reading.answer}")
        plain = part.replace("«", "").replace("»", "").replace("\n  ", "\n")
        assert all(paragraph.text in plain for paragraph in instance.paragraphs)
        assert part.count("\nCandidate: ") == len(reading.others)
        (line,) = re.findall(r"^Chain: (.*)$", part, re.MULTILINE)
        assert [name for hop in reading.answer_chains[0] if (name := reading.names[hop.entity]) not in line] == []
    assert cli("annotate", dataset, "--sample", "5", "--seed", "7", "--print").out == out


@pytest.mark.slow
def test_the_command_validates_a_dataset_and_goes_on_where_it_was(wikihop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [*COMMAND, "annotate", str(wikihop), "--port", "0", "--seed", "7", "--person", "ann", "--sample", "3"]
    seen = []
    for answered in (0, 1):
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout
            name, address = process.stdout.readline().split(": ", maxsplit=1)
            assert name == "ann"
            assert process.stdout.readline() == "Press Ctrl-C to stop.\n"  # what the pipe's buffer holds is lost to communicate
            visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            page = visitor.open(address.strip()).read().decode()
            assert f'<span id="answered">{answered}</span> answered' in page
            item, token, form = (
                re.findall(pattern, page)[0] for pattern in ('data-item="([^"]+)"', 'data-token="([^"]+)"', 'kgqa-form" content="([^"]+)"')
            )
            seen.append(item)
            home = address.split("/enter")[0]
            body = json.dumps({"item": item, "answer": {"verdict": "likely"}, "token": token, "seconds": 2.5}).encode()
            headers = {"Content-Type": "application/json", "X-Kgqa-Form": form, "Origin": home}
            visitor.open(urllib.request.Request(f"{home}/api/submit", data=body, headers=headers)).read()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (130, "", STOPPED)
    assert seen == list(draw(wikihop, sample=3, seed=7).splits)[:2]
    assert [path.name for path in sorted(tmp_path.iterdir()) if path.suffix == ".sqlite"] == ["wikihop-annotation.sqlite"]
    monkeypatch.chdir(tmp_path)
    status = kgqa.annotate_status(wikihop)  # of the samples that were drawn, not of those that the defaults would draw
    assert (status.figures.progress[0].items, status.figures.progress[0].answers) == (3, 2)


def test_ids_with_line_ends_do_not_end_a_line(wikihop: Path, tmp_path: Path, cli: Cli) -> None:
    (instance,) = native.take(native.split_files(wikihop)["dev"], set(draw(wikihop, sample=1, seed=7, split="dev").splits))
    names = {paragraph.id: f"{paragraph.id}\nAnswer: forged" for paragraph in instance.paragraphs}
    paragraphs = tuple(replace(paragraph, id=names[paragraph.id]) for paragraph in instance.paragraphs)
    chains = tuple(tuple(tuple(names.get(node, node) for node in chain) for chain in chains) for chains in instance.chains or ())
    question = f"{instance.question}\nAnswer: forged"
    native.write([replace(instance, question=question, paragraphs=paragraphs, chains=chains)], tmp_path / "dev.parquet")
    for out in (cli("annotate", tmp_path, "--print").out, cli("show", tmp_path).out):
        assert "Answer: forged" in out
        assert not re.search(r"^Answer: forged", out, re.MULTILINE)


@pytest.mark.slow
def test_who_stops_it_as_soon_as_it_has_an_address_is_told_nothing_else(wikihop: Path, tmp_path: Path) -> None:
    command = [*COMMAND, "annotate", str(wikihop), "--port", "0", "--sample", "2", "--journal", str(tmp_path / "j.sqlite")]
    for number in (signal.SIGINT, signal.SIGTERM) * 2:
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout
            process.stdout.readline()
            process.stdout.readline()
            process.send_signal(number)
            process.send_signal(number)  # by who is impatient
            assert process.communicate(timeout=30) == ("", STOPPED)
        assert process.returncode == 128 + number
