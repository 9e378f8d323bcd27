"""The whole audit: a report that is whole, the same each time and safe to open; conditions that decide; mistakes in one sentence."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import kgqa
from kgqa.checks import CHECKS
from kgqa.checks.conditions import COMPARISONS, parse
from kgqa.checks.findings import FAMILIES, STATES
from kgqa.checks.report.page import shown
from kgqa.checks.result import Audit
from kgqa.cli.audit import audit as command
from kgqa.commands.audit import audit, verify_certificate
from kgqa.errors import BrokenInput, EmptyResult, KgqaError, MissingInput, SettingsError, StorageError
from kgqa.formats import native
from kgqa.progress import Silent
from kgqa.records import Instance, Paragraph
from tests.checks.sets import PARAGRAPHS, Maker, Splits, clean_set, planted, with_paragraphs

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x00\x1b[31m\u202e"


def written(splits: Splits, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for split, instances in splits.items():
        native.write(instances, folder / f"{split}.parquet")
    return folder


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(clean_set(), tmp_path_factory.mktemp("sets") / "clean")


@pytest.fixture(scope="module")
def leaky(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spoil = dict(planted())["shared-questions"]
    return written(spoil(clean_set({"train": 30, "dev": 20})), tmp_path_factory.mktemp("sets") / "leaky")


@pytest.fixture(scope="module")
def audited(leaky: Path, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audit(leaky, out=tmp_path_factory.mktemp("out"), fail_on=["leakage>0", "fault > 0", "shared-questions<=.2"])


def test_findings_come_in_order_and_conditions_name_what_decided(audited: Audit) -> None:
    states = [list(STATES).index(finding.state) for finding in audited.findings]
    assert states == sorted(states)
    assert len(audited.findings) == len(CHECKS)
    assert [(o.condition, o.check, o.holds) for o in audited.outcomes] == [
        ("leakage>0", "shared-questions", True),
        ("fault>0", "content-faults", False),
        ("shared-questions<=0.2", "shared-questions", False),
    ]
    assert audited.failed


def test_the_json_says_what_the_audit_says(audited: Audit) -> None:
    value = json.loads(audited.json.read_text("utf-8"))
    assert value["dataset"] == "leaky"
    assert value["questions"] == {"train": 30, "dev": 20}
    assert value["failed"] is True
    assert [each["check"] for each in value["findings"]] == [finding.check for finding in audited.findings]
    shared = next(each for each in value["findings"] if each["check"] == "shared-questions")
    assert shared["count"] == 13
    assert len(shared["examples"]) == 10
    assert shared["examples"][0]["id"] == "dev-1"
    assert "question train-1" in shared["examples"][0]["what"]
    assert {each["reason"] for each in value["not_measured"]} == {
        "needs a trained reader: --readers minimal",
        "needs trained readers: --readers full",
    }
    assert value["certificate"]["shared"][0]["distinct"] == 13


def test_the_same_audit_gives_the_same_bytes_and_names_no_place(leaky: Path, audited: Audit, tmp_path: Path) -> None:
    again = audit(leaky, out=tmp_path, fail_on=["leakage>0", "fault > 0", "shared-questions<=.2"])
    for one, other in ((audited.html, again.html), (audited.json, again.json)):
        assert one.read_bytes() == other.read_bytes()
        for place in (leaky, tmp_path, Path.cwd()):
            assert str(place) not in other.read_text("utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.html", "audit.json"]


class Tags(HTMLParser):
    """Every element with its attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


class Seen(Silent):
    """The stages that were begun."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        self.stages.append(stage)


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page)
    return parser.found


def outside(page: str) -> Iterator[str]:
    """Addresses that the page would fetch or lead to."""
    for tag, attributes in tags(page):
        for name, value in attributes.items():
            if name in {"src", "href", "xlink:href", "data", "action"} and value and not value.startswith("#"):
                yield f"{tag} {value}"
    yield from (match for match in re.findall(r"url\(([^)]*)\)|@import", page) if match and not match.startswith("#"))


def test_the_page_needs_nothing_else(audited: Audit) -> None:
    page = audited.html.read_text("utf-8")
    result = tags(page)
    assert not list(outside(page))
    assert "script" not in {tag for tag, _ in result}
    ids = [attributes["id"] for _, attributes in result if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for tag, attributes in result if tag == "a"}
    assert links == {f"#{check.name}" for check in CHECKS}
    assert {str(link)[1:] for link in links} <= set(ids)
    assert sum(tag == "svg" for tag, _ in result) >= 3
    assert {attributes.get("role") for tag, attributes in result if tag == "svg"} == {"img"}


def evil(instance: Instance, maker: Maker) -> Instance:
    """Text that would be a page's or a terminal's, everywhere."""

    def spoilt(paragraph: Paragraph) -> Paragraph:
        return replace(paragraph, title=EVIL, text=f"{paragraph.text} {EVIL} {maker.word()}")

    changed = with_paragraphs(instance, spoilt)
    return replace(changed, id=EVIL + instance.id, question=f"{instance.question} {EVIL}", answers=(EVIL, *instance.answers))


def test_html_in_the_data_is_shown_as_text(tmp_path: Path) -> None:
    maker = Maker(8)
    splits = {split: [evil(each, maker) for each in instances] for split, instances in clean_set({"train": 20, "dev": 20}).items()}
    result = audit(written(splits, tmp_path / "<b>set"), out=tmp_path / "out", against=[written(splits, tmp_path / "<i>other")])
    page = result.html.read_text("utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert not {"script", "img", "b", "i"} & {tag for tag, attributes in tags(page) if tag not in {"b", "i"} or "onerror" in attributes}
    assert "onerror" not in {name for _, attributes in tags(page) for name in attributes}
    assert "<b>set" not in page
    assert not set("\x00\x1b\u202e") & set(page)


def test_spaces_and_letters_of_any_script_are_shown_as_they_are() -> None:
    assert shown("1\u00a0000\u3000\u4e2d\n<\ue000>") == "1\u00a0000\u3000\u4e2d\n&lt;\ue000&gt;"
    assert shown("\x00\x85\u202e\u2066\u200f\udcff") == "\ufffd" * 6


def test_a_folder_whose_name_is_not_utf_8_is_audited(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"set\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    question = {"id": "1", "question": "Who sang?", "answers": [{"text": "Ada", "answer_start": 0}]}
    articles = [{"title": "Song", "paragraphs": [{"context": "Ada sang.", "qas": [question]}]}]
    (folder / "dev.json").write_text(json.dumps({"version": "1.1", "data": articles}), "utf-8")
    result = audit(folder, against=[folder], out=tmp_path / "out")
    assert json.loads(result.json.read_text("utf-8"))["dataset"] == "set\udcff"
    assert "set\ufffd" in result.html.read_text("utf-8")
    assert verify_certificate(result.json, folder, against=[folder]) == []


def test_more_splits_than_can_be_compared_are_told(leaky: Path, tmp_path: Path) -> None:
    dev = leaky / "dev.parquet"
    with pytest.raises(SettingsError, match=r"these sets have 64 splits, and an audit compares 63 at most"):
        audit(dev, against=[dev] * 63, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_certificate_holds_for_the_data_and_for_no_other(leaky: Path, clean: Path, audited: Audit, tmp_path: Path) -> None:
    assert verify_certificate(audited.json, leaky) == []
    reordered = {split: list(native.read(path))[::-1] for split, path in native.split_files(leaky).items()}
    assert verify_certificate(audited.json, written(reordered, tmp_path / "reordered")) == []
    assert any("questions that dev has of train" in line for line in verify_certificate(audited.json, clean))


def test_other_sets_are_compared_and_not_audited(leaky: Path, clean: Path, tmp_path: Path) -> None:
    result = audit(leaky, against=[clean, leaky], out=tmp_path)
    assert list(result.questions) == ["clean/train", "clean/dev", "leaky/train", "leaky/dev", "train", "dev"]
    by_name = {finding.check: finding for finding in result.findings}
    assert by_name["shared-questions"].figure == 1.0
    assert by_name["lexical-overlap"].total == 50
    assert [part.name for part in by_name["lexical-overlap"].parts] == ["train", "dev"]
    twice = audit(leaky, against=[leaky, leaky], out=tmp_path)
    assert list(twice.questions)[:2] == ["leaky (1)/train", "leaky (1)/dev"]
    assert twice.replaced


@pytest.mark.parametrize("condition", ["lekage>0", "shared-question>0", "shortcuts>=0.1"])
def test_an_unknown_name_is_told_with_a_suggestion(leaky: Path, tmp_path: Path, condition: str) -> None:
    with pytest.raises(SettingsError, match=r"did you mean (leakage|shared-questions|shortcut)\?"):
        audit(leaky, fail_on=[condition], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "condition", ["leakage", "leakage=0", ">0", "leakage>-1", "leakage>nan", "leakage>1e9", "shortcut>40", "", "leakage>0%"]
)
def test_what_is_no_condition_is_told(leaky: Path, tmp_path: Path, condition: str) -> None:
    with pytest.raises(SettingsError, match=r"^--fail-on .*\.$"):
        audit(leaky, fail_on=[condition], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [*FAMILIES, *(check.name for check in CHECKS)])
@pytest.mark.parametrize("comparison", COMPARISONS)
def test_conditions_are_written_as_they_are_read(name: str, comparison: str) -> None:
    assert str(parse(f" {name} {comparison} 0.25 ", CHECKS, readers="full")) == f"{name}{comparison}0.25"


def test_a_condition_that_cannot_be_decided_is_a_mistake(clean: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"leakage>0: this cannot be decided on this set \(There is one split only"):
        audit(clean / "dev.parquet", fail_on=["leakage>0"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_report_goes_beside_and_never_into_the_dataset(leaky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = audit(leaky)
    assert result.html == Path("leaky-audit/audit.html")
    assert not result.replaced
    assert audit(leaky).replaced
    monkeypatch.chdir(leaky)
    with pytest.raises(SettingsError, match="inside the dataset's folder"):
        audit(leaky)
    assert sorted(path.name for path in leaky.iterdir()) == ["dev.parquet", "train.parquet"]


@pytest.mark.parametrize("name", ["audit.html", "audit.json"])
def test_files_of_others_are_not_replaced(leaky: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", "utf-8")
    with pytest.raises(StorageError, match="is not replaced"):
        audit(leaky, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text("utf-8") == "mine"


def broken(folder: Path) -> Iterator[tuple[Path, type[KgqaError]]]:
    """What cannot be audited."""
    yield folder / "nowhere", MissingInput
    (folder / "empty").mkdir()
    yield folder / "empty", MissingInput
    (folder / "dev.json").write_text('[{"a": 1}]', "utf-8")
    yield folder / "dev.json", BrokenInput
    (folder / "set").mkdir()
    (folder / "set" / "train.parquet").write_bytes(b"PAR1")
    yield folder / "set", BrokenInput


def test_bad_input_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for path, error in broken(tmp_path / "in"):
        with pytest.raises(error, match=r"[.?]$"):
            audit(path, out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_a_report_that_cannot_be_written_leaves_the_earlier_one(leaky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    audit(leaky, out=tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(StorageError, match="the disk is full"):
        audit(leaky, out=tmp_path, seed=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_without_matplotlib_the_install_line_is_given(leaky: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.errors.find_spec", lambda name: None)
    with pytest.raises(SettingsError, match=re.escape("pip install 'kgqa[audit]'")):
        audit(leaky, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_empty_split_is_no_obstacle(tmp_path: Path) -> None:
    splits = {**clean_set({"train": 10, "dev": 10}), "test": []}
    result = audit(written(splits, tmp_path / "set"), out=tmp_path / "out")
    assert result.questions["test"] == 0


def test_a_set_without_questions_is_refused(clean: Path, tmp_path: Path) -> None:
    result = written({"train": []}, tmp_path / "nothing")
    for dataset, against in ((result, []), (clean, [result])):
        with pytest.raises(EmptyResult, match="nothing: the set has no questions; choose one that has"):
            audit(dataset, against=against, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_format_that_is_not_recognised_is_named_where_it_can_be(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "odd_dev.json").write_text('[{"foo": 1}]')
    for dataset, against, option in (
        (tmp_path / "odd_dev.json", [], "--from"),
        (clean, [tmp_path / "odd_dev.json"], "kgqa convert --from"),
    ):
        with pytest.raises(BrokenInput, match=rf"odd_dev.json: no known format has these fields \(foo\). Give one with {option}: native"):
            audit(dataset, against=against, out=tmp_path / "out")


def test_a_pipe_is_no_report(clean: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "audit.html")
    with pytest.raises(StorageError, match=r"audit.html: this file is not an audit of kgqa, so it is not replaced"):
        audit(clean, out=tmp_path)


def test_where_the_report_cannot_go_is_said_before_any_work(clean: Path, tmp_path: Path) -> None:
    (tmp_path / "afile").touch()
    result = Seen()
    for out, says in ((tmp_path / "afile" / "x" / "y", "afile: a part of the path is a file"), (Path("/dev/null/x"), "/dev/null: a part")):
        with pytest.raises(StorageError, match=says):
            audit(clean, out=out, progress=result)
    other = written(clean_set({"train": 4}), tmp_path / "other")
    for dataset, against, out in (
        (clean / "dev.parquet", [], clean),
        (clean, [other], other / "report"),
        (clean, [other / "train.parquet"], other),
    ):
        with pytest.raises(SettingsError, match="inside the dataset's folder"):
            audit(dataset, against=against, out=out, progress=result)
    assert not result.stages


def run(*arguments: str | Path) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_the_command_prints_findings_certificate_and_conditions(leaky: Path, tmp_path: Path) -> None:
    status, out = run(leaky, "--out", tmp_path, "--fail-on", "leakage>0", "--fail-on", "fault>0")
    assert status == 1
    for part in ("shared-questions", "Leakage certificate", "audit.html", "leakage>0 fails: shared-questions is 0.65", "fault>0 passes"):
        assert part in out, part
    status, out = run(leaky, "--out", tmp_path, "--fail-on", "fault>0")
    assert status == 0
    assert "in place of the earlier one" in out


def test_the_command_takes_other_sets_and_a_format(leaky: Path, clean: Path, tmp_path: Path) -> None:
    status, out = run(leaky / "dev.parquet", "--against", clean, "--from", "native", "--out", tmp_path, "--seed", "3")
    assert status == 0
    assert "clean/train" in out
    with pytest.raises(SettingsError, match="format 'nativ' is not known; did you mean native"):
        run(leaky, "--from", "nativ", "--out", tmp_path)


def test_the_command_hands_names_of_the_hub_on(audited: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def fake(dataset: str, **options: object) -> Audit:
        asked.update(options, dataset=dataset)
        return replace(audited, outcomes=())

    monkeypatch.setattr(kgqa, "audit", fake, raising=False)
    assert run("hf://owner/name", "--against", "hf://owner/other")[0] == 0
    assert (asked["dataset"], asked["against"]) == ("hf://owner/name", ["hf://owner/other"])


def test_the_command_shows_control_characters_of_a_path(leaky: Path, tmp_path: Path) -> None:
    status, out = run(leaky, "--out", tmp_path / "\x1b[31mred")
    assert status == 0
    assert "\x1b" not in out
    assert "\u241b[31mred" in out


def test_the_sets_are_as_large_as_they_should_be(clean: Path) -> None:
    assert all(len(instance.paragraphs) == PARAGRAPHS for instance in native.read(clean / "dev.parquet"))


@pytest.mark.real_data
def test_xquad_is_found_in_squad(real_data: Path, tmp_path: Path) -> None:
    result = audit(real_data / "squad" / "dev-v1.1.json", against=[real_data / "squad" / "xquad.en.json"], out=tmp_path)
    found = {finding.check: finding for finding in result.findings}
    assert (found["shared-questions"].count, found["shared-questions"].total) == (1190, 10570)
    assert found["near-duplicate-questions"].count == 1
    assert verify_certificate(result.json, real_data / "squad" / "dev-v1.1.json", against=[real_data / "squad" / "xquad.en.json"]) == []


@pytest.mark.real_data
def test_the_ids_of_musique_list_the_steps(real_data: Path, tmp_path: Path) -> None:
    result = audit(real_data / "musique" / "musique_ans_dev_200.jsonl", out=tmp_path, fail_on=["hop-order-in-ids>0.9"])
    assert result.failed
    assert {finding.check: finding for finding in result.findings}["hop-order-in-ids"].count == 199


@pytest.mark.parametrize("seed", [-1, 2**31, 10**30])
def test_a_seed_that_is_none(seed: int, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"seed {seed} is not between 0 and"):
        kgqa.audit(tmp_path, seed=seed)


@pytest.mark.parametrize("condition", ["fault>1", "fault<0", "leakage>=0", "shortcut<=1.0"])
def test_a_condition_that_decides_nothing(condition: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="this decides nothing"):
        kgqa.audit(tmp_path, fail_on=[condition])
