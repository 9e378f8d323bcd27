"""What is right for an Instance, where the set is not the scorer's own or says less than usual."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput, MissingInput
from kgqa.formats import drop, hotpotqa, musique
from kgqa.formats.provenance import note
from kgqa.formats.question_set import open_dataset
from kgqa.formats.strategyqa import format as strategyqa
from kgqa.metrics import dire
from kgqa.metrics.hotpotqa import HotpotQAGold, HotpotQAPrediction as Said, hotpotqa as hotpotqa_scores
from kgqa.metrics.musique import MuSiQuePrediction as MuSiQueLine, musique as musique_scores
from kgqa.records import Instance, Paragraph
from kgqa.scoring import gold
from kgqa.scoring.default_metric import default_metric
from kgqa.scoring.dire_gold import dire_label, notes_of
from tests.scoring.families import BY_METRIC, MILL, drop_answer, hotpot, musique as musique_record, strategy, write


def read(record: dict[str, Any]) -> Instance:
    return hotpotqa.from_record(record)  # type: ignore[arg-type]


def test_facts_whose_paragraph_is_not_shown_are_facts(tmp_path: Path) -> None:
    elsewhere = ["Elsewhere", 2]
    record = hotpot("h1", supporting_facts=[MILL, elsewhere])
    assert gold.hotpotqa_question(read(record)) == HotpotQAGold(answer="the Sill", support=frozenset({("Mill", 1), ("Elsewhere", 2)}))
    (tmp_path / "x_dev.json").write_text(json.dumps([record]), "utf-8")
    done = kgqa.evaluate(tmp_path / "x_dev.json", write(tmp_path / "p.json", {"answer": {"h1": "x"}, "sp": {"h1": [elsewhere, MILL]}}))
    assert done.scores.official["sp_em"] == 1.0


def gold_alone(name: str, *facts: list[Any], paragraphs: tuple[Paragraph, ...] = (), **more: Any) -> Instance:
    """Question h1, of which ``facts`` are noted that are not among ``paragraphs``, as its format notes them."""
    field = {"hotpotqa": "absent_facts", "twowiki": "supporting_facts"}[name]
    return replace(read(hotpot("h1")), paragraphs=paragraphs, provenance=note(name, {field: facts, **more}))


def predicted(*facts: list[Any]) -> frozenset[tuple[Any, ...]]:
    return frozenset(tuple(fact) for fact in facts)


@pytest.mark.parametrize("name", ["hotpotqa", "twowiki"])
def test_gold_without_paragraphs_is_scored_by_its_facts_alone(name: str) -> None:
    """Of the three predicted facts two are right: P 2/3, R 1, as the script counts pairs of title and number."""
    instance = gold_alone(name, MILL, ["T", 9], evidences=[["x", "y", "z"]])
    facts = frozenset({("Mill", 1), ("T", 9)})
    assert gold.hotpotqa_question(instance) == HotpotQAGold(answer="the Sill", support=facts)
    said = predicted(MILL, ["T", 9], ["T", 8])
    scores = hotpotqa_scores({"h1": gold.hotpotqa_question(instance)}, {"h1": Said(answer="Sill", support=said)}).official
    assert (scores["sp_prec"], scores["sp_recall"], scores["sp_em"], scores["joint_f1"]) == (2 / 3, 1.0, 0.0, pytest.approx(0.8))
    line = dire.DiRePrediction(question_id="h1", answer="Sill", paragraphs=frozenset({"Mill", "T"}), sentences=said)
    dire_scores = dire.dire({"h1": gold.hotpotqa_question(instance)}, [line]).official
    assert (dire_scores["Supporting Paragraph Scores: em"], dire_scores["Supporting Sentence Scores: precision"]) == (100.0, 66.7)
    if name == "twowiki":
        assert gold.twowiki_question(instance).support == facts


@pytest.mark.parametrize("name", ["hotpotqa", "twowiki"])
@pytest.mark.parametrize(
    ("supporting", "marked", "facts"),
    [(True, (1,), {("Mill", 1), ("Mill", 9)}), (True, (), {("Mill", 9)}), (True, None, {("Mill", 9)}), (False, (), {("Mill", 9)})],
)
def test_a_fact_about_a_sentence_that_is_not_there_is_a_fact(
    name: str, supporting: bool, marked: tuple[int, ...] | None, facts: set[tuple[str, int]]
) -> None:
    """The paragraph is shown: nothing but what is marked in it and the fact itself counts, however the paragraph is marked."""
    mill, harne, *_ = read(hotpot("h1")).paragraphs
    paragraphs = (replace(mill, supporting=supporting, supporting_sentences=marked), harne)
    instance = gold_alone(name, ["Mill", 9], paragraphs=paragraphs, evidences=[["x", "y", "z"]])
    right = facts | {("Harne", 0)}
    assert gold.hotpotqa_question(instance).support == right
    if name == "twowiki":
        assert gold.twowiki_question(instance).support == right
    both = {"question": "h1", "transform": "probe", "bipartition": 0, "sub_idx": 0, "sufficiency": None, "removed": None}
    assert dire_label(replace(instance, provenance=note("dire", both, beside=instance.provenance))).instance.support == right


def test_a_twin_is_scored_whose_step_names_a_paragraph_that_was_removed() -> None:
    answerable = musique.from_record(musique_record("2hop__1_2"), "here")  # type: ignore[arg-type]
    twin = replace(
        answerable, id=f"{answerable.id}{musique.TWIN}", paragraphs=answerable.paragraphs[:1] + answerable.paragraphs[2:], answerable=False
    )
    assert any(step.paragraph_id == answerable.paragraphs[1].id for step in twin.decomposition or ())
    questions = [gold.musique_question(instance) for instance in (answerable, twin)]
    assert [(question.id, question.answerable) for question in questions] == [("2hop__1_2", True), ("2hop__1_2", False)]
    lines = [
        MuSiQueLine(id="2hop__1_2", answer="Sill", support=frozenset({0, 1}), answerable=True),
        MuSiQueLine(id="2hop__1_2", answer="", support=frozenset(), answerable=False),
    ]
    assert set(musique_scores(questions, lines).official.values()) == {1.0}


def test_a_paragraph_without_a_title_is_called_by_its_id() -> None:
    instance = read(hotpot("h1"))
    bare = replace(instance, paragraphs=tuple(replace(paragraph, title=None) for paragraph in instance.paragraphs))
    assert gold.hotpotqa_question(bare).support == {("0", 1), ("1", 0)}


def test_all_sentences_of_a_supporting_paragraph_without_marks_are_facts() -> None:
    instance = read(hotpot("h1"))
    unmarked = replace(instance, paragraphs=tuple(replace(paragraph, supporting_sentences=None) for paragraph in instance.paragraphs))
    assert gold.hotpotqa_question(unmarked).support == {("Mill", 0), ("Mill", 1), ("Harne", 0), ("Harne", 1)}
    whole = replace(unmarked, paragraphs=tuple(replace(paragraph, sentences=None) for paragraph in unmarked.paragraphs))
    assert gold.hotpotqa_question(whole).support == {("Mill", 0), ("Harne", 0)}


def test_musique_numbers_paragraphs_by_id_or_by_place() -> None:
    record = musique_record("2hop__1_2")
    for paragraph, idx in zip(record["paragraphs"], (7, 3, 5), strict=True):
        paragraph["idx"] = idx
    record["question_decomposition"] = []
    instance = musique.from_record(record, "here")  # type: ignore[arg-type]
    assert gold.musique_question(instance).support == {7, 3}
    named = replace(instance, paragraphs=tuple(replace(paragraph, id=f"doc:{paragraph.id}") for paragraph in instance.paragraphs))
    assert gold.musique_question(named).support == {0, 1}


def test_supporting_paragraphs_are_evidence_where_none_is_noted() -> None:
    instance = strategyqa.from_record(strategy("s", answer=True))  # type: ignore[arg-type]
    assert gold.strategyqa_question(instance).evidence == (frozenset({"Mill-1"}), frozenset({"Mill-1", "Rye-2"}))
    other = replace(read(hotpot("h1", answer="yes")), decomposition=instance.decomposition)
    question = gold.strategyqa_question(other)
    assert (question.answer, question.decomposition, question.evidence) == (
        True,
        ("What is it?", "Does #1 grind?"),
        (frozenset({"0", "1"}),),
    )
    with pytest.raises(MissingInput, match="instance h1: the answer is 'the Sill'"):
        gold.strategyqa_question(read(hotpot("h1")))


def test_aliases_are_other_answers_and_not_further_spans() -> None:
    instance = replace(read(hotpot("h1")), answers=("the Sill", "River Sill"))
    assert gold.squad_answers(instance) == ("the Sill", "River Sill")
    assert gold.drop_answers(instance) == gold.iirc_answers(instance) == (("the Sill",), ("River Sill",))
    assert gold.iirc_answers(replace(instance, answer_type="spans")) == (("the Sill", "River Sill"),)
    nothing = replace(instance, answers=(), answer_type="none", answerable=False)
    assert gold.squad_answers(nothing) == ()
    assert gold.iirc_answers(nothing) == ((),)


EMPTY = drop_answer()


def asked_drop(answer: dict[str, Any] | None, *validated: dict[str, Any]) -> Instance:
    given = {} if answer is None else {"answer": answer, "validated_answers": list(validated)}
    return drop.instance_of({"query_id": "d1", "question": "What?", **given}, "p", {"passage": "x", "qa_pairs": []})  # type: ignore[typeddict-item]


def test_answers_have_the_types_that_the_official_script_takes_them_for() -> None:
    may = {**EMPTY, "date": {"day": "", "month": "May", "year": "1990"}}
    instance = asked_drop(drop_answer(number="3"), drop_answer("3"), may, drop_answer("x", "y"), EMPTY)
    types = ("number", "span", "date", "spans", "date")
    assert gold.drop_typed(instance) == tuple(zip((("3",), ("3",), ("May 1990",), ("x", "y"), ()), types, strict=True))
    changed = replace(instance, answers=("4",))
    assert gold.drop_typed(changed)[0] == (("4",), "number")
    assert gold.drop_typed(replace(asked_drop(may), answers=("June", "July"), answer_type="spans")) == ((("June", "July"), "spans"),)
    other = replace(read(hotpot("h1")), answers=("the Sill", "River Sill"))
    assert gold.drop_typed(other) == gold.iirc_typed(other) == ((("the Sill",), "span"), (("River Sill",), "span"))
    assert gold.iirc_typed(replace(other, answers=(), answer_type="none", answerable=False)) == (((), "none"),)


def test_an_empty_answer_in_drops_form_is_none_to_iirc_and_none_that_counts_to_drop() -> None:
    assert gold.iirc_typed(asked_drop(EMPTY, EMPTY)) == (((), "date"), ((), "date"))
    assert gold.drop_typed(asked_drop(EMPTY, drop_answer("x"))) == (((), "date"), (("x",), "span"))
    for make in (gold.drop_typed, gold.iirc_typed):
        with pytest.raises(MissingInput, match="instance d1: its answer is hidden"):
            make(asked_drop(None))
    assert gold.drop_typed(asked_drop(EMPTY, EMPTY)) == (((), "date"), ((), "date"))


def test_an_iirc_set_in_drops_form_has_its_own_type_for_no_answer(tmp_path: Path) -> None:
    pairs = [
        {"query_id": key, "question": "What?", "answer": answer, "validated_answers": [answer]}
        for key, answer in (("a", EMPTY), ("b", EMPTY), ("c", drop_answer("yes")), ("d", drop_answer(number="3")))
    ]
    gold_file = write(tmp_path / "set_dev.json", {"p": {"passage": "x", "qa_pairs": pairs}})
    file = write(tmp_path / "p.json", {"a": "none", "b": "yes", "c": "Yes", "d": "3.0"})
    done = kgqa.evaluate(gold_file, file, json=tmp_path / "out.json")
    kgqa.convert(gold_file, to="native", out=tmp_path / "native")
    for again in (done, kgqa.evaluate(tmp_path / "native", file)):
        assert (again.metric, again.chosen_by) == ("iirc", "its empty answers, which mean none in IIRC's files")
    assert kgqa.evaluate(gold_file, file, metric="drop").scores.official["F1 score"] == 50.0
    right = {"Exact-match accuracy": 100.0, "F1 score": 100.0}
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["official"] == {
        "Exact-match accuracy": 75.0, "F1 score": 75.0,
        "types": {
            "none": {"n": 2, "Exact-match accuracy": 50.0, "F1 score": 50.0}, "number": {"n": 1, **right}, "span": {"n": 1, **right},
        },
    }  # fmt: skip


def test_answers_that_are_not_known_are_no_gold() -> None:
    unknown = replace(read(hotpot("h1")), answers=(), answer_type="none")
    for make in (gold.squad_answers, gold.hotpotqa_question, gold.drop_answers, gold.iirc_answers, gold.musique_question):
        with pytest.raises(MissingInput, match="instance h1: its answer is hidden"):
            make(unknown)


def test_demonyms_are_names_too(tmp_path: Path) -> None:
    family = BY_METRIC["twowiki"]
    gold_file, _ = family.write(tmp_path)
    file = write(tmp_path / "p.json", {"answer": {"t1": "Sillish", "t2": "Sillian"}, "sp": {}, "evidence": {}})
    aliases = write(tmp_path / "id_aliases.json", [{"Q_id": "Q3", "aliases": ["Sillish"], "demonyms": ["Sillian"]}])
    assert kgqa.evaluate(gold_file, file, aliases=aliases).scores.official["em"] == 100.0
    assert kgqa.evaluate(gold_file, file).scores.official["em"] == 0.0


@pytest.mark.parametrize(
    ("name", "notes"),
    [("twowiki", {"evidences": 3}), ("strategyqa", {"evidence": [["x"]]}), ("hotpotqa", {"absent_facts": [["x", "y"]]})],
)
def test_a_provenance_that_was_changed_by_hand(name: str, notes: dict[str, Any]) -> None:
    instance = replace(read(hotpot("h1", answer="yes")), provenance=note(name, notes))
    make = {"twowiki": gold.twowiki_question, "strategyqa": gold.strategyqa_question, "hotpotqa": gold.hotpotqa_question}[name]
    with pytest.raises((BrokenInput, MissingInput), match="instance h1, provenance"):
        make(instance)


def test_spans_that_are_needed_together_are_no_label() -> None:
    notes = {"question": "h1", "transform": "probe", "bipartition": 0, "sub_idx": 0, "sufficiency": None, "removed": [], "supporting": []}
    instance = replace(read(hotpot("h1")), answers=("rye", "oats"), provenance=note("dire", {**notes, "answers": ["rye", "oats"]}))
    assert dire_label(instance).instance.answer == "rye"
    with pytest.raises(MissingInput, match="instance h1: its answer is several spans together"):
        dire_label(replace(instance, answer_type="spans"))


def test_notes_of_a_transform_that_were_changed_by_hand() -> None:
    instance = replace(read(hotpot("h1")), provenance=note("dire", {"question": "h1", "transform": "probe"}))
    with pytest.raises(MissingInput, match="instance h1, provenance, 'dire': the field 'bipartition' is missing"):
        notes_of(instance)


def test_a_single_empty_answer_is_an_oversight_and_makes_no_set_iircs(tmp_path: Path) -> None:
    def pair(number: int) -> dict[str, Any]:
        return {"query_id": str(number), "question": "What?", "answer": EMPTY if number == 0 else drop_answer("x")}

    for size, metric in ((19, "iirc"), (20, "drop")):
        file = write(tmp_path / f"{size}_dev.json", {"p": {"passage": "x", "qa_pairs": [pair(number) for number in range(size)]}})
        assert default_metric(open_dataset(file))[0] == metric
