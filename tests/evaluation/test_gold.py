"""What is right for an Instance, where the set is not the scorer's own or says less than usual."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput, MissingInput
from kgqa.evaluation import gold
from kgqa.evaluation.dire_gold import dire_label, notes_of
from kgqa.formats import hotpotqa, musique, strategyqa
from kgqa.formats.provenance import note
from kgqa.metrics.hotpotqa import Question
from kgqa.records import Instance
from tests.evaluation.families import BY_METRIC, MILL, hotpot, strategy, write
from tests.evaluation.families import musique as musique_record


def read(record: dict[str, Any]) -> Instance:
    return hotpotqa.from_record(record)  # type: ignore[arg-type]


def test_facts_whose_paragraph_is_not_shown_are_facts(tmp_path: Path) -> None:
    elsewhere = ["Elsewhere", 2]
    record = hotpot("h1", supporting_facts=[MILL, elsewhere])
    assert gold.hotpotqa_question(read(record)) == Question(answer="the Sill", support=frozenset({("Mill", 1), ("Elsewhere", 2)}))
    (tmp_path / "x_dev.json").write_text(json.dumps([record]), "utf-8")
    done = kgqa.evaluate(tmp_path / "x_dev.json", write(tmp_path / "p.json", {"answer": {"h1": "x"}, "sp": {"h1": [elsewhere, MILL]}}))
    assert done.scores.official["sp_em"] == 1.0


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


def test_answers_that_are_not_known_are_no_gold() -> None:
    unknown = replace(read(hotpot("h1")), answers=(), answer_type="none")
    for make in (gold.squad_answers, gold.hotpotqa_question, gold.drop_answers, gold.iirc_answers, gold.musique_question):
        with pytest.raises(MissingInput, match="instance h1: it has no answer to compare with"):
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
