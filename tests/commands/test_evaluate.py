"""``kgqa evaluate``: every family by the command, perfect and by hand; the metric, the split, what is refused, what is written."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, KgqaError, MissingInput, SettingsError, StorageError, UnknownId
from kgqa.formats import native
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.drop import NAMES as DROP
from kgqa.scoring.metrics import METRICS
from tests.conftest import Cli, SmallDisk
from tests.scoring.families import BY_METRIC, FAMILIES, NAMES, Family, command_line, hotpot, write

MARKED = pa.struct({"text": pa.list_(pa.string()), "answer_start": pa.list_(pa.int32())})
HUB = pa.schema({**dict.fromkeys(("id", "title", "context", "question"), pa.string()), "answers": MARKED})
EVERY_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=NAMES)


def test_every_metric_has_its_family() -> None:
    assert set(BY_METRIC) == set(METRICS)


def run(cli: Cli, family: Family, folder: Path, predictions: Any, *, beside: bool) -> dict[str, Any]:
    """What the command writes."""
    gold, file = family.write(folder, predictions)
    result = cli("evaluate", gold, file, *command_line(family.options(folder, beside=beside)), "--json", folder / "out.json")
    assert result.status == 0, result.err
    record: dict[str, Any] = json.loads((folder / "out.json").read_text("utf-8"))
    for name in record["official"]:
        assert name in result.out
    for name, values in record["official"].get("types", {}).items():
        assert [name, str(values["n"]), *(f"{values[score]:.3f}" for score in DROP)] in [line.split() for line in result.out.splitlines()]
    return record


@EVERY_FAMILY
def test_perfect_predictions_have_perfect_scores(family: Family, tmp_path: Path, cli: Cli) -> None:
    record = run(cli, family, tmp_path, family.perfect, beside=False)
    types = record["official"].pop("types", {})
    scores = {name: value for name, value in record["official"].items() if name not in family.counts}
    assert {*scores.values(), *(values[name] for values in types.values() for name in DROP)} == {family.best}
    assert record["metric"] == family.metric
    assert {(found["low"], found["mean"], found["high"]) for found in record["intervals"].values()} == {(family.best,) * 3}
    assert record["missing"] == record["extra"] == []
    for dimension in record["breakdown"]:
        assert {found["mean"] for group in dimension["groups"] for found in group["scores"].values()} == {family.best}


@EVERY_FAMILY
def test_worked_by_hand(family: Family, tmp_path: Path, cli: Cli) -> None:
    record = run(cli, family, tmp_path, family.worked, beside=True)
    assert record["official"].pop("types", None) == family.types
    assert record["official"] == pytest.approx(dict(family.official))
    for name, values in record["per_record"].items():
        assert record["intervals"][name]["mean"] == pytest.approx(METRICS[family.metric].scale * sum(values.values()) / len(values))
        assert record["intervals"][name]["low"] <= record["intervals"][name]["mean"] <= record["intervals"][name]["high"]


@EVERY_FAMILY
def test_the_same_bytes_again_and_other_intervals_with_another_seed(family: Family, tmp_path: Path) -> None:
    gold, file = family.write(tmp_path, family.worked)
    options = family.options(tmp_path, beside=True)
    texts = []
    for seed in (3, 3, 4):
        kgqa.evaluate(gold, file, json=tmp_path / "out.json", seed=seed, **options)
        texts.append((tmp_path / "out.json").read_bytes())
    assert texts[0] == texts[1] != texts[2]
    records = [json.loads(text) for text in texts]
    assert records[0]["official"] == records[2]["official"]
    assert str(tmp_path) not in texts[0].decode()


def test_intervals_depend_on_the_seed_and_on_nothing_else(tmp_path: Path) -> None:
    records = [hotpot(f"h{number}") for number in range(50)]
    said = {record["_id"]: "Sill" if number % 3 else "Harne" for number, record in enumerate(records)}
    file = write(tmp_path / "p.json", {"answer": said, "sp": {}})
    items = []
    for seed, order in ((3, 1), (3, -1), (4, 1)):
        (tmp_path / "x_dev.json").write_text(json.dumps(records[::order]), "utf-8")
        result = kgqa.evaluate(tmp_path / "x_dev.json", file, seed=seed)
        items.append((result.intervals, result.breakdown))
    assert items[0] == items[1]
    assert items[0][0]["em"] != items[2][0]["em"]
    assert items[0][1] != items[2][1]
    assert 0.4 < items[0][0]["em"].low < 33 / 50 < items[0][0]["em"].high < 0.9


def test_what_the_scores_were_computed_from(tmp_path: Path) -> None:
    family = BY_METRIC["hotpotqa"]
    gold, file = family.write(tmp_path)
    result = kgqa.evaluate(gold, file, json=tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert record["report"] == "kgqa evaluate"
    source = record["computed_from"]
    assert (source["dataset"]["file"], source["dataset"]["format"], source["seed"], source["original"]) == (gold.name, "hotpotqa", 13, None)
    assert source["predictions"]["sha256"] == result.computed_from["predictions"]["sha256"] != source["dataset"]["sha256"]
    assert {"kgqa", "python", "numpy"} <= source["versions"].keys()


def test_names_that_are_not_utf_8_are_written(tmp_path: Path) -> None:
    gold, file = BY_METRIC["hotpotqa"].write(tmp_path)
    odd = gold.rename(tmp_path / "b\udcff_dev.json")
    kgqa.evaluate(odd, file, json=tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["computed_from"]["dataset"]["file"] == odd.name


def test_predictions_from_a_pipe_are_refused(tmp_path: Path, cli: Cli) -> None:
    gold, _ = BY_METRIC["hotpotqa"].write(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    cli("evaluate", gold, tmp_path / "pipe").sentence("pipe: this is a pipe or device", "write it to a file first")


def test_a_question_twice_in_the_predictions_beside_is_named_with_its_file(tmp_path: Path, cli: Cli) -> None:
    family = BY_METRIC["dire-probe"]
    gold, file = family.write(tmp_path)
    line = {"question_id": "q", "answer": "a", "supporting_paragraphs": [], "supporting_sentences": []}
    (tmp_path / "whole.jsonl").write_text(f"{json.dumps(line)}\n" * 2, "utf-8")
    result = cli("evaluate", gold, file, "--metric", "dire-probe", "--original", tmp_path / "whole.jsonl")
    result.sentence("whole.jsonl, line 2: id q was already used in line 1")


def test_numbers_are_printed_as_the_official_scripts_print_them(tmp_path: Path) -> None:
    shown = {}
    for name in ("hotpotqa", "drop", "musique", "dire", "twowiki"):
        family = BY_METRIC[name]
        gold, file = family.write(tmp_path, family.worked)
        result = kgqa.evaluate(gold, file, **family.options(tmp_path))
        first = next(iter(result.scores.official))
        shown[name] = result.printed(first)
    assert shown == {"hotpotqa": "0.3333333333333333", "drop": "33.33", "musique": "1.0", "dire": "50.0", "twowiki": "0.0"}


def test_missing_and_other_ids_are_reported(tmp_path: Path, cli: Cli) -> None:
    family = BY_METRIC["squad"]
    gold, file = family.write(tmp_path, {"a": "x", "b": "y", "other": "z"})
    result = cli("evaluate", gold, file)
    assert "1 question without a prediction, counted as 0: c" in result.out
    assert "1 question predicted and not in the set, ignored: other" in result.out
    assert "lacks" not in cli("evaluate", *BY_METRIC["hotpotqa"].write(tmp_path, {"answer": {"h1": "x"}, "sp": {"h1": []}})).out


@pytest.mark.parametrize("metric", ["hotpotqa", "twowiki"])
def test_parts_that_predictions_lack_are_reported(metric: str, tmp_path: Path, cli: Cli) -> None:
    family = BY_METRIC[metric]
    for part in family.perfect:
        lacking = {name: dict(values) for name, values in family.perfect.items()}
        gone = sorted(lacking[part])[-1]
        del lacking[part][gone]
        gold, file = family.write(tmp_path, lacking)
        result = cli("evaluate", gold, file, "--json", tmp_path / "out.json")
        assert f"1 question with a prediction that lacks '{part}', which counts as 0: {gone}" in result.out
        assert json.loads((tmp_path / "out.json").read_text("utf-8"))["missing_parts"] == {part: [gone]}


@pytest.mark.parametrize("metric", ["squad", "squad2", "hotpotqa", "dire", "musique"])
def test_spans_that_are_needed_together_are_no_alternatives(metric: str, tmp_path: Path) -> None:
    """The first span alone would be right, or one of them."""
    first, second = islice(open_dataset(BY_METRIC["hotpotqa"].write(tmp_path)[0]).instances(), 2)
    native.write([first, replace(second, answers=("rye", "oats"), answer_type="spans")], tmp_path / "dev.parquet")
    said = {
        "hotpotqa": {"answer": {first.id: "rye", second.id: "rye"}, "sp": {first.id: [], second.id: []}},
        "dire": [
            {"question_id": one.id, "answer": "rye", "supporting_paragraphs": [], "supporting_sentences": []} for one in (first, second)
        ],
        "musique": [
            {"id": one.id, "predicted_answer": "rye", "predicted_support_idxs": [], "predicted_answerable": True} for one in (first, second)
        ],
    }
    file = write(tmp_path / "p.json", said.get(metric, {first.id: "rye", second.id: "rye"}))
    with pytest.raises(MissingInput, match=rf"instance {second.id}: its answer is several spans together, .* name --metric drop or iirc"):
        kgqa.evaluate(tmp_path / "dev.parquet", file, metric=metric)
    if metric == "squad":
        assert kgqa.evaluate(tmp_path / "dev.parquet", file, metric="drop").scores.per_record["F1 score"][second.id] == 0.5


def test_a_probe_without_the_unprobed_set_is_said_to_be_uncapped(tmp_path: Path, cli: Cli) -> None:
    family = BY_METRIC["dire-probe"]
    gold, file = family.write(tmp_path, family.worked)
    free = cli("evaluate", gold, file, "--from", "dire")
    capped = cli("evaluate", gold, file, "--from", "dire", "--original", write(tmp_path / "o.jsonl", family.original))
    assert "Not capped by the scores on the original set" in free.out
    assert "Not capped" not in capped.out


@pytest.mark.parametrize(
    "name", ["hotpotqa", "musique", "twowiki", "strategyqa", "squad", "squad2", "drop", "iirc", "qangaroo", "dire-sufficiency"]
)
def test_a_converted_set_is_scored_as_it_was(name: str, tmp_path: Path) -> None:
    family = BY_METRIC[name]
    gold, file = family.write(tmp_path, family.worked)
    options = family.options(tmp_path, beside=True)
    kgqa.convert(gold, to="native", out=tmp_path / "native")
    before = kgqa.evaluate(gold, file, **options)
    after = kgqa.evaluate(tmp_path / "native", file, **options)
    assert (after.metric, after.scores) == (before.metric, before.scores)
    assert after.breakdown == before.breakdown
    assert (before.chosen_by, after.chosen_by) in {
        ("the format of the set", "what was noted when the set was made"),
        ("the format of the set", "the ids of its unanswerable questions"),
        ("the transform that made it", "the transform that made it"),
    }


def test_unanswerable_twins_are_musiques_whoever_made_them(tmp_path: Path) -> None:
    family = BY_METRIC["musique"]
    gold, file = family.write(tmp_path, family.worked)
    kgqa.convert(gold, to="native", out=tmp_path / "native")
    (tmp_path / "native" / "manifest.json").unlink()
    result = kgqa.evaluate(tmp_path / "native", file)
    assert (result.metric, result.chosen_by) == ("musique", "the ids of its unanswerable questions")
    assert result.scores.official == pytest.approx(dict(family.official))


def test_a_set_of_ours_is_scored_as_its_export(seed_wikidata: Path, seed_medline: Path, tmp_path: Path) -> None:
    for workspace, name in ((seed_wikidata, "wikihop"), (seed_medline, "medhop")):
        dataset = workspace / "datasets" / name
        kgqa.export(dataset, to="qangaroo", out=tmp_path / name)
        for file, folder in (("dev.json", dataset), ("dev.masked.json", dataset / "masked")):
            records = json.loads((tmp_path / name / file).read_text("utf-8"))
            guessed = {record["id"]: record["candidates"][0] for record in records}
            predictions = write(tmp_path / "predictions.json", guessed)
            result = kgqa.evaluate(folder, predictions)
            assert (result.metric, result.split, result.chosen_by) == ("qangaroo", "dev", "what was noted when the set was made")
            right = sum(record["answer"] == record["candidates"][0] for record in records)
            assert result.scores.official == {"accuracy": 100 * right / len(records)}
            assert {dimension.name for dimension in result.breakdown} >= {"answer type", "relation"}
            again = kgqa.evaluate(tmp_path / name / file, predictions)
            assert again.scores == result.scores


def test_the_split_that_is_predicted_is_scored(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        records = [hotpot(f"{split}{number}") for number in range(4)]
        (folder / f"x_{split}.json").write_text(json.dumps(records), "utf-8")

    def predicted(*ids: str) -> Path:
        return write(tmp_path / "predictions.json", {"answer": dict.fromkeys(ids, "Sill"), "sp": {}})

    for split in ("train", "dev", "test"):
        result = kgqa.evaluate(folder, predicted(*(f"{split}{number}" for number in range(3))))
        assert (result.split, result.questions, result.scores.missing) == (split, 4, (f"{split}3",))
    result = kgqa.evaluate(folder, predicted("test0", "train1", "dev0", "train3"))
    assert (result.split, result.scores.missing, result.scores.extra) == ("train", ("train0", "train2"), ("test0", "dev0"))
    # Of splits with as many, the one that systems are measured on.
    assert kgqa.evaluate(folder, predicted("train0", "test0", "dev0")).split == "dev"
    with pytest.raises(BrokenInput, match="no id is in both, one looks like dev0 there and x here"):
        kgqa.evaluate(folder, predicted("x"))


def test_other_splits_need_no_answers(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    items = [
        {key: value for key, value in hotpot(f"test{number}").items() if key not in {"answer", "supporting_facts"}} for number in (0, 1)
    ]
    (folder / "x_test.json").write_text(json.dumps(items), "utf-8")
    (folder / "x_dev.json").write_text(json.dumps([hotpot("dev0"), hotpot("dev1")]), "utf-8")
    result = kgqa.evaluate(folder, write(tmp_path / "p.json", {"answer": {"dev0": "Sill", "test0": "Sill"}, "sp": {}}))
    assert (result.split, result.scores.official["em"], result.scores.extra) == ("dev", 0.5, ("test0",))
    for said, error, part in (("test0", MissingInput, "instance test0: its answer is hidden"), ("x", BrokenInput, "no id is in both")):
        with pytest.raises(error, match=part):
            kgqa.evaluate(folder, write(tmp_path / "p.json", {"answer": {said: "Sill"}, "sp": {}}))


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--metric", "hotpot"], "metric 'hotpot' is not known; did you mean hotpotqa?"),
        (["--metric", "zzz"], "metric 'zzz' is not known; choose one of dire, dire-probe"),
        (["--original", "o.jsonl"], "--original caps a probe's scores, and the metric is hotpotqa"),
        (["--aliases", "a.json"], "--aliases are 2WikiMultihopQA's, and the metric is hotpotqa"),
        (["--na-prob-file", "n.json"], "--missing-as-zero are SQuAD 2.0's, and the metric is hotpotqa"),
        (["--na-prob-thresh", "0.5"], "--missing-as-zero are SQuAD 2.0's, and the metric is hotpotqa"),
        (["--missing-as-zero"], "--missing-as-zero are SQuAD 2.0's, and the metric is hotpotqa"),
        (["--seed", "-1"], "seed -1 is not between 0 and"),
        (["--from", "hotpot"], "format 'hotpot' is not known"),
        (["--metric", "dire-probe"], "predictions.json, line 1: the field 'question_id' is missing"),
        (["--metric", "twowiki"], "the field 'evidence' is missing"),
        (["--metric", "qangaroo"], "field 'answer': expected text, found an object"),
        (["--metric", "musique"], "predictions.json, line 1: the field 'id' is missing"),
        (["--json", "set_dev.json"], "already exists and is not a report of kgqa evaluate"),
        (["--json", "predictions.json"], "already exists and is not a report of kgqa evaluate"),
        (["--json", "."], "already"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], part: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gold, file = BY_METRIC["hotpotqa"].write(tmp_path)
    before = gold.read_bytes(), file.read_bytes()
    cli("evaluate", gold, file, *arguments).sentence(part)
    assert (gold.read_bytes(), file.read_bytes()) == before
    assert {path.name for path in tmp_path.iterdir()} == {gold.name, file.name}


@pytest.mark.parametrize(
    ("metric", "predictions", "error", "part"),
    [
        ("squad", {}, BrokenInput, "predictions.json: it has no predictions"),
        ("hotpotqa", {"answer": {}, "sp": {}}, BrokenInput, "it has no predictions"),
        ("squad", {"x": "y"}, BrokenInput, "another set than set_dev.json: no id is in both, one looks like a there and x here"),
        ("squad", {"a": "y", "b": 3, "c": "z"}, BrokenInput, "predictions.json, field 'b': expected text, found a number"),
        ("squad", {"a": "y", "b": None}, BrokenInput, "field 'b': expected text, found null"),
        ("squad2", {"a": "x", "b": ""}, MissingInput, "predictions.json against set_dev.json: 1 of 3 questions have no prediction: c"),
        ("drop", {"a": {"x": "y"}, "b": "x"}, BrokenInput, "field 'a': expected text, found an object"),
        ("drop", {"a": 21, "b": "x"}, BrokenInput, "field 'a"),
        ("iirc", {"a": ["x", 1], "b": "", "c": ""}, BrokenInput, "field 'a"),
        ("hotpotqa", {"answer": {"h1": "x", "h2": "y"}}, MissingInput, "the field 'sp' is missing"),
        ("hotpotqa", {"answer": {}, "sp": {"h1": [["Mill", "1"]]}}, BrokenInput, "field 'sp.h1.0.1': expected a whole number, found text"),
        ("hotpotqa", {"answer": {}, "sp": {"h1": [["Mill"]]}}, MissingInput, "the field 'sp.h1.0.1' is missing"),
        ("twowiki", {"answer": {}, "sp": {}, "evidence": {"t1": [["a", "b"]]}}, MissingInput, "the field 'evidence.t1.0.2' is missing"),
        ("strategyqa", {"a": {"answer": "yes"}, "b": {"answer": True}}, BrokenInput, "field 'a.answer': expected true or false"),
        ("strategyqa", {"a": {"answers": True}, "b": {"answer": True}}, BrokenInput, "field 'a.answers': expected no such field"),
        ("strategyqa", {"a": {"answer": True}, "b": {"answer": True}, "c": {"answer": True}}, UnknownId, "are for other questions: c"),
        ("strategyqa", {"a": {"answer": True}, "b": {}}, InputError, "Accuracy: 1 predictions lack what it scores"),
        ("musique", BY_METRIC["musique"].perfect[:3], InputError, "There are 4 gold lines and 3 predictions"),
        ("musique", BY_METRIC["musique"].perfect[::-1], InputError, "line 1: the gold id is 2hop__1_2 and the predicted one x"),
        ("dire", [*BY_METRIC["dire"].perfect, BY_METRIC["dire"].perfect[0]], DuplicateId, "question h1: it was predicted more than once"),
        ("dire-probe", BY_METRIC["dire-probe"].perfect[:1], InputError, "question h1: its instance 1 has no prediction"),
        (
            "dire-probe",
            [{key: value for key, value in line.items() if key != "answer_confidence"} for line in BY_METRIC["dire-probe"].perfect],
            MissingInput,
            "line 1: the field 'answer_confidence' is missing",
        ),
        ("dire-sufficiency", BY_METRIC["dire-probe"].perfect, MissingInput, "line 1: the field 'sub_idx' is missing"),
    ],
)  # fmt: skip
def test_predictions_that_cannot_be_scored(metric: str, predictions: Any, error: type[KgqaError], part: str, tmp_path: Path) -> None:
    family = BY_METRIC[metric]
    gold, file = family.write(tmp_path, predictions)
    with pytest.raises(error) as caught:
        kgqa.evaluate(gold, file, json=tmp_path / "out.json", **family.options(tmp_path))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)
    assert file.name in str(caught.value)
    assert not (tmp_path / "out.json").exists()


def test_what_squad2_takes_beside(tmp_path: Path, cli: Cli) -> None:
    family = BY_METRIC["squad2"]
    gold, file = family.write(tmp_path, {"a": "Sill", "c": "rye"})
    probabilities, out = write(tmp_path / "na.json", {"a": 0.25, "c": 0.75}), tmp_path / "out.json"
    cli("evaluate", gold, file).sentence("1 of 3 questions have no prediction: b")
    assert cli("evaluate", gold, file, "--missing-as-zero", "--json", out).status == 0
    record = json.loads(out.read_text("utf-8"))
    assert (record["missing"], record["official"]["exact"]) == (["b"], 0.0)
    assert record["computed_from"]["missing_as_zero"] is True
    command = ("evaluate", gold, file, "--missing-as-zero", "--na-prob-file", probabilities)
    # c is taken to have no answer, which is right.
    for threshold, exact in (("0.5", 100 / 3), ("0.75", 0.0), ("-2.5", 100 / 3)):  # log-odds too
        assert cli(*command, "--na-prob-thresh", threshold, "--json", out).status == 0
        record = json.loads(out.read_text("utf-8"))
        assert record["official"]["exact"] == pytest.approx(exact)
        assert record["computed_from"]["na_prob_thresh"] == float(threshold)
        assert len(record["computed_from"]["na_prob_file"]["sha256"]) == 64
    for threshold in ("nan", "inf", "-inf"):
        cli(*command, "--na-prob-thresh", threshold).sentence(f"--na-prob-thresh {threshold} is not a finite number")
    cli("evaluate", gold, file, "--na-prob-thresh", "0.5").sentence("--na-prob-thresh is for the probabilities in --na-prob-file")
    write(probabilities, {"a": 0.25})
    cli(*command).sentence("1 predictions have no probability in --na-prob-file: c")


def test_a_report_is_no_pipe_and_no_circle(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    _, file = BY_METRIC["hotpotqa"].write(folder)
    file = file.rename(tmp_path / "p.json")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    cli("evaluate", folder, file, "--json", tmp_path / "pipe").sentence("pipe: this already exists and is not a report of kgqa evaluate")
    cli("evaluate", folder, file, "--json", tmp_path / "loop" / "x").sentence("the links in this path lead in a circle")


def test_squad2_is_told_by_any_question_without_an_answer(tmp_path: Path) -> None:
    """Rows of the hub with an answer look alike in SQuAD 1.1 and 2.0."""
    family = BY_METRIC["squad2"]
    _, file = family.write(tmp_path)
    rows = [
        {"id": key, "title": "Harne", "context": "The Sill.", "question": "?", "answers": {"text": texts, "answer_start": [4] * len(texts)}}
        for key, texts in (("a", ["Sill"]), ("b", []), ("c", []))
    ]
    (tmp_path / "hub").mkdir()
    pq.write_table(pa.Table.from_pylist(rows, schema=HUB), tmp_path / "hub" / "validation-00000-of-00001.parquet")
    assert kgqa.evaluate(tmp_path / "hub", file).metric == "squad2"
    kgqa.convert(tmp_path / "hub", to="native", out=tmp_path / "native")
    assert kgqa.evaluate(tmp_path / "native", file).metric == "squad2"


def test_a_set_without_triples_has_another_metric(tmp_path: Path, cli: Cli) -> None:
    gold, file = BY_METRIC["hotpotqa"].write(tmp_path)
    kgqa.convert(gold, to="twowiki", out=tmp_path / "out")
    done, same = kgqa.evaluate(tmp_path / "out", file), kgqa.evaluate(gold, file)
    assert (done.metric, done.chosen_by) == ("hotpotqa", "its fields, as there are no evidence triples")
    assert done.scores.official == same.scores.official
    cli("evaluate", tmp_path / "out", write(file, {"answer": {"h1": "x"}, "sp": {}, "evidence": {}}), "--metric", "twowiki").sentence(
        "instance h1: it has no evidence triples, which are scored; choose another --metric"
    )


def test_a_report_does_not_go_into_the_set(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    gold, file = BY_METRIC["hotpotqa"].write(folder)
    file = file.rename(tmp_path / "p.json")
    with pytest.raises(SettingsError, match=r"is inside the set that is read, .*set; choose another --json\."):
        kgqa.evaluate(folder, file, json=folder / "scores.json")
    assert list(folder.iterdir()) == [gold]
    kgqa.evaluate(gold, file, json=folder / "scores.json")


def test_long_ids_are_shown_in_part(tmp_path: Path) -> None:
    family = BY_METRIC["musique"]
    gold, file = family.write(tmp_path, [{**family.perfect[0], "id": "x" * 5000}, *family.perfect[1:]])
    with pytest.raises(InputError) as caught:
        kgqa.evaluate(gold, file)
    assert len(str(caught.value)) < 300


def test_an_id_twice_in_one_object(tmp_path: Path) -> None:
    for metric, text in (("squad", '{"a": "x", "b": "y", "a": "z"}'), ("hotpotqa", '{"answer": {"h1": "x", "h1": "y"}, "sp": {}}')):
        gold, file = BY_METRIC[metric].write(tmp_path)
        file.write_text(text)
        with pytest.raises(DuplicateId, match=r"predictions.json: the key '(a|h1)' occurs twice"):
            kgqa.evaluate(gold, file)


def test_aliases_twice(tmp_path: Path) -> None:
    family = BY_METRIC["twowiki"]
    gold, file = family.write(tmp_path)
    with pytest.raises(DuplicateId, match="line 3: id Q3 was already used in line 1"):
        kgqa.evaluate(gold, file, aliases=write(tmp_path / "id_aliases.json", [*family.aliases, family.aliases[0]]))


@pytest.mark.parametrize("metric", ["squad", "squad2", "hotpotqa", "dire", "twowiki", "drop", "strategyqa", "musique"])
def test_a_set_without_answers_cannot_be_scored_with(metric: str, tmp_path: Path) -> None:
    gold = tmp_path / "x_test.json"
    gold.write_text(json.dumps([{key: value for key, value in hotpot("h1").items() if key not in {"answer", "supporting_facts"}}]), "utf-8")
    family = BY_METRIC[metric]
    _, file = family.write(
        tmp_path, json.loads(json.dumps(family.perfect).replace('"a"', '"h1"').replace("t1", "h1").replace("2hop__1_2", "h1"))
    )
    with pytest.raises(MissingInput, match="instance h1"):
        kgqa.evaluate(gold, file, metric=metric)


def test_a_set_that_no_transform_made_is_no_probe(tmp_path: Path) -> None:
    gold, _ = BY_METRIC["hotpotqa"].write(tmp_path)
    file = write(tmp_path / "p.jsonl", BY_METRIC["dire-probe"].perfect)
    with pytest.raises(MissingInput, match="instance h1: it was not made by one of DiRe's transforms"):
        kgqa.evaluate(gold, file, metric="dire-probe")


def test_support_that_is_not_marked_cannot_be_scored(tmp_path: Path) -> None:
    gold, _ = BY_METRIC["qangaroo"].write(tmp_path)
    file = write(tmp_path / "p.json", {"answer": {"a": "sill", "b": "sill"}, "sp": {}})
    with pytest.raises(MissingInput, match="it is not known which paragraphs support the answer"):
        kgqa.evaluate(gold, file, metric="hotpotqa")


def plain_question(folder: Path) -> Path:
    record = {"id": "n1", "question": "What?", "answer": "rye", "title": "Mill", "context": "The mill grinds rye."}
    (folder / "seeds.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    return folder / "seeds.jsonl"


def test_a_set_that_names_no_metric(tmp_path: Path, cli: Cli) -> None:
    gold = plain_question(tmp_path)
    file = write(tmp_path / "p.json", {"n1": "rye"})
    cli("evaluate", gold, file).sentence("the metric is unknown; pass one with --metric: squad, squad2, hotpotqa")
    assert kgqa.evaluate(gold, file, metric="squad").scores.official == {"exact_match": 100.0, "f1": 100.0}


@pytest.mark.parametrize("wrong", [["x"], {}, 3, None, {"squad": 1}])
def test_what_names_no_metric_because_it_was_changed_by_hand(wrong: Any, tmp_path: Path) -> None:
    kgqa.convert(plain_question(tmp_path), to="native", out=tmp_path / "native")
    instances = [replace(found, provenance=json.dumps({"recipe": wrong})) for found in native.read(tmp_path / "native" / "test.parquet")]
    native.write_folder({"test": instances}, tmp_path / "changed")
    for folder in (tmp_path / "native", tmp_path / "changed"):
        (folder / "manifest.json").write_text(json.dumps({"from": wrong}), "utf-8")
        with pytest.raises(SettingsError, match="the metric is unknown"):
            kgqa.evaluate(folder, write(tmp_path / "p.json", {"n1": "rye"}))


def test_the_first_question_that_has_a_note_names_the_metric(tmp_path: Path) -> None:
    plain = {key: value for key, value in hotpot("h1").items() if key not in {"type", "level"}}
    (tmp_path / "x_dev.json").write_text(json.dumps([plain, plain | {"_id": "h2"}, hotpot("h3")]), "utf-8")
    kgqa.convert(tmp_path / "x_dev.json", to="native", out=tmp_path / "native")
    (tmp_path / "native" / "manifest.json").unlink()
    result = kgqa.evaluate(tmp_path / "native", write(tmp_path / "p.json", {"answer": {"h1": "Sill"}, "sp": {}}))
    assert (result.metric, result.chosen_by) == ("hotpotqa", "what was noted when the set was made")


def test_musiques_questions_are_known_by_their_ids(tmp_path: Path) -> None:
    gold, file = FAMILIES[3].write(tmp_path)
    kgqa.convert(gold, to="native", out=tmp_path / "native")
    for noted in ({"recipe": "contrast", "from": "native"}, {}):
        (tmp_path / "native" / "manifest.json").write_text(json.dumps(noted), "utf-8")
        result = kgqa.evaluate(tmp_path / "native", file)
        assert (result.metric, result.chosen_by) == ("musique", "the ids of its questions")


def test_compressed_predictions_and_wrong_compression(tmp_path: Path) -> None:
    family = BY_METRIC["squad"]
    gold, file = family.write(tmp_path)
    packed = tmp_path / "predictions.json.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert kgqa.evaluate(gold, packed).scores == kgqa.evaluate(gold, file).scores
    for data, part in (
        (packed.read_bytes()[:-9], "truncated"),
        (file.read_bytes(), "not gzip data although"),
        (b"PK\x03\x04" + bytes(20), "a zip archive"),
    ):
        packed.write_bytes(data)
        with pytest.raises(BrokenInput, match=part):
            kgqa.evaluate(gold, packed)


def test_a_file_that_would_fill_the_memory(tmp_path: Path) -> None:
    for name in ("squad", "musique"):
        gold, file = BY_METRIC[name].write(tmp_path)
        with file.open("wb") as sparse:
            sparse.truncate(2 << 30)
        with pytest.raises(BrokenInput, match="longer than 256 MiB"):
            kgqa.evaluate(gold, file)


def test_files_that_are_not_there(tmp_path: Path, cli: Cli) -> None:
    gold, file = BY_METRIC["squad"].write(tmp_path)
    cli("evaluate", gold, tmp_path / "none.json").sentence("none.json: there is no such file")
    cli("evaluate", tmp_path / "none.json", file).sentence("none.json: there is no such file or folder")
    cli("evaluate", gold, tmp_path).sentence("this is a folder; give a file")


def test_only_an_earlier_report_is_replaced(tmp_path: Path) -> None:
    gold, file = BY_METRIC["squad"].write(tmp_path)
    out = tmp_path / "new" / "out.json"
    kgqa.evaluate(gold, file, json=out)
    first = out.read_bytes()
    kgqa.evaluate(gold, write(file, {"a": "x", "b": "y", "c": "z"}), json=out)
    assert out.read_bytes() != first
    out.write_text("{}")
    with pytest.raises(StorageError, match="is not a report of kgqa evaluate"):
        kgqa.evaluate(gold, file, json=out)


def test_a_full_disk_leaves_nothing(tmp_path: Path, small_disk: SmallDisk) -> None:
    records = [hotpot(f"question-{number}") for number in range(5000)]
    (tmp_path / "x_dev.json").write_text(json.dumps(records), "utf-8")
    file = write(tmp_path / "p.json", {"answer": {record["_id"]: "Sill" for record in records}, "sp": {}})
    with pytest.raises(StorageError, match="the disk is full"):
        kgqa.evaluate(tmp_path / "x_dev.json", file, json=small_disk.path / "out.json")
    assert not list(small_disk.path.iterdir())


def test_unknown_metrics_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="metric 'x' is not known"):
        kgqa.evaluate(tmp_path / "none", tmp_path / "none", metric="x")


def test_a_link_that_leads_nowhere_is_not_replaced(tmp_path: Path) -> None:
    gold, file = BY_METRIC["hotpotqa"].write(tmp_path)
    link = tmp_path / "scores.json"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="already"):
        kgqa.evaluate(gold, file, json=link)
    assert link.is_symlink()
