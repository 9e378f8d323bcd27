"""Gold survives a conversion, or the conversion says that it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import GoldLost, InputError, KgqaError, MissingInput
from kgqa.formats.annotators import answer_fields
from kgqa.formats.musique import TWIN
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS
from kgqa.records import Instance
from kgqa.scoring.metrics import METRICS
from tests.conftest import Cli
from tests.formats.keeping import written
from tests.formats.mutations import examples

SAVING = ("native", "huggingface", "beir", "label_studio")
"""Formats that hold every part of an Instance."""
CHOIR = "Ada Holm and Bo Ek sang for the Queen of Orr in 1911. Ek, born in Lund, left the choir with Holm in 1920."


def scored(instance: Instance) -> dict[str, Any]:
    """What each metric compares predictions with; those that cannot score the question are left out."""
    found = {}
    for name, metric in METRICS.items():
        try:
            found[name] = metric.gold(instance)
        except InputError:
            continue
    return found


@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", sorted(examples()))
def test_every_metric_has_the_same_gold_before_and_after_or_the_loss_is_named(name: str, to: str, tmp_path: Path) -> None:
    example = examples()[name]
    path = example.write(tmp_path / "from")
    before = {instance.id: scored(instance) for instance in open_dataset(path, example.format).instances()}
    own = "drop" if example.format == "quoref" else example.format
    try:
        kgqa.convert(path, to=to, out=tmp_path / "to", format=example.format)
    except KgqaError as error:
        assert to not in SAVING
        assert "lose gold: " in str(error) or str(error).startswith("instance ")  # noqa: PT017 - which of both depends on the formats
        assert not (tmp_path / "to").exists()
        return
    after = {instance.id: scored(instance) for instance in open_dataset(tmp_path / "to", to).instances()}
    if to in SAVING:
        assert after == before
        return
    # A format may call a question or a text otherwise, which is no gold: MuSiQue's twins, StrategyQA's texts that share an id.
    assert [key.removesuffix(TWIN) for key in after] == [key.removesuffix(TWIN) for key in before]
    metrics = {own, to} - ({"strategyqa"} if own != "strategyqa" else set())
    for right, again in zip(before.values(), after.values(), strict=True):
        assert {name: again.get(name) for name in right if name in metrics} == {name: right[name] for name in right if name in metrics}


def test_several_annotators_are_alternatives_and_the_spans_of_one_belong_together() -> None:
    assert answer_fields([["Bo Ek"], ["Ek"], [], ["Bo Ek"]]) == (("Bo Ek", "Ek"), None)
    assert answer_fields([["Ek"], ["Ada Holm", "Bo Ek"]]) == (("Ek",), (("Ada Holm", "Bo Ek"),))
    assert answer_fields([["Ada Holm", "Bo Ek"], ["Bo Ek"], ["Ada Holm", "Bo Ek"]]) == (("Ada Holm", "Bo Ek"), (("Bo Ek",),))
    assert answer_fields([[], ["Ek"]]) == ((), (("Ek",),))
    assert answer_fields([]) == ((), None)


def span(text: str, nth: int = 0) -> dict[str, Any]:
    start = -1
    for _ in range(nth + 1):
        start = CHOIR.index(text, start + 1)
    return {"text": text, "answer_start": start}


def squad_file(*answers: list[dict[str, Any]]) -> dict[str, Any]:
    asked = [{"id": f"q{number}", "question": "Who sang?", "answers": given} for number, given in enumerate(answers)]
    return {"version": "1", "data": [{"title": "Choir", "paragraphs": [{"context": CHOIR, "qas": asked}]}]}


@pytest.mark.parametrize(
    ("answers", "form"),
    [
        ([[span("Ada Holm"), span("Bo Ek")]], "quoref"),
        ([[span("Ada Holm"), span("Bo Ek")], [span("1911")]], "quoref"),
        ([[span("Ada Holm"), span("Bo Ek")], [span("Lund"), span("Lund")]], "squad"),
        ([[span("Ada Holm"), span("Holm", 1)]], "squad"),
        ([[span("Queen of Orr"), span("the Queen")]], "squad"),
        ([[span("1911"), span("1911")]] * 3 + [[span("Ada Holm"), span("Bo Ek")]], "squad"),
        ([[span("1911"), span("1911")]] + [[span("Ada Holm"), span("Bo Ek")]] * 3, "quoref"),
        ([[{"text": "Ada Holm", "answer_start": None}, {"text": "Holm and Ek", "answer_start": None}]], "squad"),
        ([[span("1911")]], "squad"),
    ],
)
def test_what_a_list_of_answers_means_is_seen_in_all_lists_of_the_file(answers: list[Any], form: str, tmp_path: Path) -> None:
    path = written(squad_file(*answers), tmp_path / "x_dev.json")
    assert open_dataset(path).format == form
    for name, kind in (("squad", "span"), ("quoref", "spans")):
        (first, *_) = open_dataset(path, name).instances()
        assert first.answer_type == (kind if len(first.answers) > 1 else "span")


def test_parts_are_needed_together_whatever_the_format(tmp_path: Path) -> None:
    path = written(squad_file([span("Ada Holm"), span("Bo Ek")]), tmp_path / "x_dev.json")
    both, one = written({"q0": ["Ada Holm", "Bo Ek"]}, tmp_path / "both.json"), written({"q0": "Bo Ek"}, tmp_path / "one.json")
    for to in ("quoref", "drop", "iirc", *SAVING):
        kgqa.convert(path, to=to, out=tmp_path / to)
        for given, exact, f1 in ((both, 100, 100), (one, 0, 50)):
            metric = None if to in ("quoref", "drop", "native") else "drop"
            found = kgqa.evaluate(tmp_path / to, given, metric=metric).scores.official
            assert (found["Exact-match accuracy"], found["F1 score"]) == (exact, f1)
    for to in ("squad", "squad2", "musique", "nq", "hotpotqa", "twowiki"):
        with pytest.raises(InputError, match=r"instance q0: its answer is 2 spans together, and .* lists alternatives only"):
            kgqa.convert(path, to=to, out=tmp_path / to, lossy=True)
        assert not (tmp_path / to).exists()


def drop_file(canonical: list[str], *others: list[str]) -> dict[str, Any]:
    def answer(spans: list[str]) -> dict[str, Any]:
        return {"number": "", "date": {"day": "", "month": "", "year": ""}, "spans": spans}

    question = {"question": "Who sang?", "query_id": "q0", "answer": answer(canonical), "validated_answers": list(map(answer, others))}
    return {"p": {"passage": CHOIR, "qa_pairs": [question]}}


def test_what_other_annotators_say_is_right_everywhere(tmp_path: Path) -> None:
    path = written(drop_file(["Bo Ek"], ["Ek"], ["Bo Ek"]), tmp_path / "x_dev.json")
    given = written({"q0": "Ek"}, tmp_path / "p.json")
    for to in ("squad", "squad2", "musique", "nq", "drop", *SAVING):
        kgqa.convert(path, to=to, out=tmp_path / to)
        (found,) = open_dataset(tmp_path / to).instances()
        assert found.answers == ("Bo Ek", "Ek")
        assert kgqa.evaluate(tmp_path / to, given, metric="squad").scores.official["exact_match"] == 100
    for to in ("hotpotqa", "twowiki", "iirc", "quoref"):
        with pytest.raises(GoldLost, match=r"written as .*, questions lose gold: answers \(1 of 1\).*give --lossy"):
            kgqa.convert(path, to=to, out=tmp_path / to)
        assert kgqa.convert(path, to=to, out=tmp_path / to, lossy=True).gold == {"answers": 1}
        (found,) = open_dataset(tmp_path / to).instances()
        assert found.answers == ("Bo Ek",)


def test_an_alternative_of_several_parts_is_kept_or_named(tmp_path: Path, cli: Cli) -> None:
    path = written(drop_file(["Holm"], ["Ada Holm", "Bo Ek"], ["Ek"]), tmp_path / "x_dev.json")
    (found,) = open_dataset(path).instances()
    assert (found.answers, found.alternatives, found.answer_type) == (("Holm", "Ek"), (("Ada Holm", "Bo Ek"),), "span")
    assert found.whole_answers == (("Holm",), ("Ek",), ("Ada Holm", "Bo Ek"))
    given = written({"q0": ["Ada Holm", "Bo Ek"]}, tmp_path / "p.json")
    for to in ("drop", *SAVING):
        kgqa.convert(path, to=to, out=tmp_path / to)
        assert kgqa.evaluate(tmp_path / to, given, metric="drop").scores.official["Exact-match accuracy"] == 100
    cli("convert", path, "--to", "musique", "--out", tmp_path / "m").sentence("lose gold: answers (1 of 1)", "--lossy")
    done = cli("convert", path, "--to", "musique", "--out", tmp_path / "m", "--lossy")
    assert done.status == 0
    assert "Gold annotations that musique cannot represent" in " ".join(done.out.split())


FACTS = {
    "_id": "h1", "question": "Where was the founder of the choir of Orr born?", "answer": "Lund", "type": "bridge", "level": "hard",
    "supporting_facts": [["Choir of Orr", 0], ["Bo Ek", 1], ["Bo Ek", 7]],
    "context": [["Bo Ek", ["Bo Ek sang.", " He was born in Lund."]], ["Orr", ["Orr has a choir."]]],
}  # fmt: skip


def test_facts_that_are_not_shown_and_types_go_from_one_format_to_its_kin_and_back(tmp_path: Path) -> None:
    path = written([FACTS], tmp_path / "x_dev.json")
    said = {"answer": {"h1": "Lund"}, "sp": {"h1": FACTS["supporting_facts"]}, "evidence": {"h1": []}}
    given = written(said, tmp_path / "p.json")
    done = kgqa.convert(path, to="twowiki", out=tmp_path / "y_dev.json")
    assert done.changed == {"sentences": 1}
    (record,) = json.loads((tmp_path / "y_dev.json").read_text("utf-8"))
    facts = sorted(map(tuple, record["supporting_facts"]))
    assert (record["type"], record["level"], facts) == ("bridge", "hard", sorted(map(tuple, FACTS["supporting_facts"])))
    assert kgqa.evaluate(tmp_path / "y_dev.json", given).scores.official["sp_em"] == 1.0
    kgqa.convert(tmp_path / "y_dev.json", to="hotpotqa", out=tmp_path / "z_dev.json")
    (again,) = json.loads((tmp_path / "z_dev.json").read_text("utf-8"))
    assert {field: again[field] for field in ("type", "level", "answer")} == {"type": "bridge", "level": "hard", "answer": "Lund"}
    assert kgqa.evaluate(tmp_path / "z_dev.json", given).scores.official["sp_em"] == 1.0
    with pytest.raises(GoldLost, match=r"supporting facts \(1 of 1\)"):
        kgqa.convert(path, to="musique", out=tmp_path / "m")


def test_notes_that_are_lost_are_named_by_field(tmp_path: Path) -> None:
    path = written([{**FACTS, "supporting_facts": [["Bo Ek", 0], ["Bo Ek", 1]], "curator": "k"}], tmp_path / "x_dev.json")
    done = kgqa.convert(path, to="musique", out=tmp_path / "m", lossy=True)
    assert done.gold == {"supporting facts": 1}
    assert {part for part in done.changed if part.startswith("note ")} == {f"note hotpotqa.{name}" for name in ("type", "level", "curator")}


NO_ANSWERS = [{"id": "a", "question": "Who sang?"}, {"id": "b", "question": "Who left?"}]


@pytest.mark.parametrize("more", [{}, {"answers": []}, {"answers": [], "is_impossible": False}])
def test_answers_that_are_hidden_are_not_called_impossible(more: dict[str, Any], tmp_path: Path, cli: Cli) -> None:
    asked = [{**question, **more} for question in NO_ANSWERS]
    file = {"version": "v2.0", "data": [{"title": "Choir", "paragraphs": [{"context": CHOIR, "qas": asked}]}]}
    path = written(file, tmp_path / "x_test.json")
    found = list(open_dataset(path, strict=True).instances())
    assert [(one.hidden, one.answerable, one.paragraphs[0].supporting) for one in found] == [(True, True, None)] * 2
    for to in ("musique", "squad", "squad2", "hotpotqa", "drop", "nq", "twowiki", *SAVING):
        done = cli("convert", path, "--to", to, "--out", tmp_path / to)
        assert "The answers of 2 of 2 questions are hidden" in done.out.replace("\n", " ")
        assert all(one.hidden for one in open_dataset(tmp_path / to, to).instances())
    assert "answerable" not in (tmp_path / "musique" / "test.jsonl").read_text("utf-8")
    again = json.loads((tmp_path / ("squad2" if "is_impossible" in more else "squad") / "test.json").read_text("utf-8"))
    assert again == file
    given = written({"a": "x", "b": "y"}, tmp_path / "p.json")
    for metric in ("squad", "squad2", "drop", "iirc"):
        cli("evaluate", path, given, "--metric", metric).sentence("instance a: its answer is hidden")
    cli("contrast", "adversarial", path, "--out", tmp_path / "c").sentence("the answer of the question is hidden (2)")


def test_one_answer_or_one_impossible_question_shows_that_answers_are_not_hidden(tmp_path: Path) -> None:
    for number, more in enumerate(({"answers": [], "is_impossible": True}, {"answers": [span("Bo Ek")], "is_impossible": False})):
        asked = [{**NO_ANSWERS[0], "answers": [], "is_impossible": True}, {**NO_ANSWERS[1], **more}]
        file = {"version": "v2.0", "data": [{"title": "Choir", "paragraphs": [{"context": CHOIR, "qas": asked}]}]}
        found = list(open_dataset(written(file, tmp_path / f"{number}_dev.json")).instances())
        assert [one.hidden for one in found] == [False, False]
        assert not found[0].answerable


@pytest.mark.parametrize("empty", [{}, {"answer": "", "supporting_facts": []}, {"supporting_facts": []}])
@pytest.mark.parametrize("form", ["hotpotqa", "twowiki"])
def test_hidden_facts_are_not_said_to_be_none(form: str, empty: dict[str, Any], tmp_path: Path) -> None:
    kin = {"evidences": [], **empty} if form == "twowiki" else empty
    record = {"_id": "h1", "question": FACTS["question"], "context": FACTS["context"], **kin}
    path = written([record], tmp_path / "x_test.json")
    (found,) = open_dataset(path).instances()
    assert found.hidden
    assert {paragraph.supporting for paragraph in found.paragraphs} == {None}
    kgqa.convert(path, to=form, out=tmp_path / "y_test.json")
    assert json.loads((tmp_path / "y_test.json").read_text("utf-8")) == [record]
    kgqa.convert(path, to="musique", out=tmp_path / "z_test.jsonl")
    assert "is_supporting" not in (tmp_path / "z_test.jsonl").read_text("utf-8")


def test_what_musique_says_of_a_hidden_answer_comes_back(tmp_path: Path) -> None:
    plain = {"id": "2hop__1_2", "paragraphs": [{"idx": 0, "title": "Orr", "paragraph_text": "Orr has a choir."}], "question": "Who?"}
    for number, more in enumerate(({}, {"answerable": True})):
        path = tmp_path / f"{number}_test.jsonl"
        path.write_text(json.dumps({**plain, **more}) + "\n", "utf-8")
        kgqa.convert(path, to="musique", out=tmp_path / f"{number}_again.jsonl")
        assert json.loads((tmp_path / f"{number}_again.jsonl").read_text("utf-8")) == {**plain, **more}
    with pytest.raises(MissingInput, match="its answer is hidden"):
        METRICS["musique"].gold(next(open_dataset(path).instances()))


def test_an_export_that_loses_gold_is_refused_too(tmp_path: Path, cli: Cli) -> None:
    kgqa.convert(written([FACTS], tmp_path / "x_dev.json"), to="native", out=tmp_path / "set")
    cli("export", tmp_path / "set", "--to", "musique", "--out", tmp_path / "out").sentence(
        "lose gold: supporting facts (1 of 1)", "--lossy"
    )
    assert not (tmp_path / "out").exists()
    done = cli("export", tmp_path / "set", "--to", "musique", "--out", tmp_path / "out", "--lossy")
    assert (done.status, done.err) == (0, "")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["musique_ans_dev.jsonl"]
    cli("export", tmp_path / "graph.xml", "--to", "graphml", "--lossy").sentence("--lossy is for datasets")
