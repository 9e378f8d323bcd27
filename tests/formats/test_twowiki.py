"""2WikiMultihopQA's format: records with and without paragraphs come back as they were, and what its scorer needs is there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats import hotpotqa, native, twowiki
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.twowiki import Triple, TwoWikiGold, TwoWikiPrediction, twowiki as score
from kgqa.records import Instance, Paragraph

EXAMPLES = Path(__file__).parent / "examples" / "twowiki_dev.json"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TRIPLES = st.lists(st.lists(TEXT, min_size=3, max_size=3), max_size=3)
OPTIONAL = {
    "type": TEXT,
    "question": TEXT,
    "entity_ids": TEXT,
    "evidences_id": TRIPLES,
    "answer": st.none() | TEXT,
    "answer_id": st.none() | TEXT,
    "explanation": TEXT | st.lists(TEXT),
}


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Records with and without each field, filled and empty, with facts in any order and repeated, some of which are not there."""
    context = draw(st.none() | st.lists(st.tuples(TEXT, st.lists(TEXT | st.just(" "), max_size=3)), max_size=4))
    there = [(title, number) for title, sentences in context or () for number in range(len(sentences))]
    absent = [("nowhere at all", 3), *[(title, place) for title, sentences in context or () for place in (len(sentences), -1)]]
    record: dict[str, Any] = {"_id": draw(TEXT.filter(bool)), **draw(st.fixed_dictionaries({}, optional=OPTIONAL))}
    if context is not None:
        record["context"] = [list(entry) for entry in context]
    if draw(st.booleans()):
        facts = draw(st.none() | st.lists(st.sampled_from([*there, *absent]), max_size=5))
        record["supporting_facts"] = None if facts is None else [list(fact) for fact in facts]
    if "entity_ids" not in record or draw(st.booleans()):
        record["evidences"] = draw(st.none() | TRIPLES)
    return record if {"answer", "supporting_facts"} <= record.keys() else {"question": "q", **record}


@given(st.lists(records(), min_size=1, max_size=3, unique_by=lambda record: record["_id"]))
@settings(deadline=None)
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, given_records: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("twowiki")
    (folder / "x.json").write_text(json.dumps(given_records), "utf-8")
    instances = list(twowiki.read(folder / "x.json"))
    twowiki.write(instances, folder / "y.json")
    assert list(twowiki.read(folder / "y.json")) == instances
    assert json.loads((folder / "y.json").read_text("utf-8")) == given_records


def test_what_a_record_becomes() -> None:
    first, boolean, bare, unlabelled = twowiki.read(EXAMPLES)
    blue = first.paragraphs[0]
    assert (blue.text, blue.sentences) == ("Blue Door is a film by Ana Novak. It was shown in 1999.", (0, 34))
    assert [paragraph.supporting_sentences for paragraph in first.paragraphs] == [(0,), (0,), (0,), (0,)]
    assert (first.answers, first.answer_id, first.answer_type) == (("Red Gate",), "Q2", "span")
    assert noted(first, "twowiki")["evidences"][1] == ["Red Gate", "director", "Jürgen Weiß"]
    assert (boolean.answers, boolean.answer_id, boolean.answer_type) == (("no",), None, "boolean")
    assert [paragraph.supporting for paragraph in boolean.paragraphs] == [True, False]
    assert bare.paragraphs == ()
    assert noted(bare, "twowiki")["supporting_facts"] == [["Blue Door", 0], ["Ana Novak", 0]]
    assert noted(bare, "twowiki")["explanation"] == "Blue Door is by Ana Novak."
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.paragraphs[0].supporting) == ((), "none", None)


def test_an_empty_answer_is_none(tmp_path: Path) -> None:
    for answer in ("", None):
        (tmp_path / "x.json").write_text(json.dumps([{"_id": "a", "question": "q", "evidences": [], "answer": answer}]), "utf-8")
        (instance,) = twowiki.read(tmp_path / "x.json")
        assert (instance.answers, instance.answer_type) == ((), "none")


def gold_question(instance: Instance) -> TwoWikiGold:
    """What the scorer needs, from the normal form and its notes."""
    notes = noted(instance, "twowiki")
    facts = [*hotpotqa.facts_of(instance), *notes.get("supporting_facts", [])]
    return TwoWikiGold(
        answer=instance.answers[0],
        answer_id=instance.answer_id,
        support=frozenset((title, sentence) for title, sentence in facts),
        evidence=triples(notes["evidences"]),
        evidence_ids=triples(notes["evidences_id"]),
    )


def triples(lists: list[list[str]]) -> tuple[Triple, ...]:
    """As the scorer has them."""
    return tuple((head, relation, tail) for head, relation, tail in lists)


def test_the_scorer_finds_what_it_needs() -> None:
    gold = {instance.id: gold_question(instance) for instance in list(twowiki.read(EXAMPLES))[:3]}
    right = {key: TwoWikiPrediction(answer=q.answer, support=q.support, evidence=q.evidence) for key, q in gold.items()}
    assert score(gold, right).official["joint_f1"] == 100.0
    right["c1"] = replace(right["c1"], evidence=right["c1"].evidence and right["c1"].evidence[:2])
    assert score(gold, right).official["joint_f1"] < 100.0


def test_what_the_question_says_wins_over_its_notes() -> None:
    first, _, bare, _ = twowiki.read(EXAMPLES)
    fewer = twowiki.to_record(replace(first, paragraphs=first.paragraphs[1:], answers=("Blue Door",), answer_id=None))
    assert ["Blue Door", 0] not in fewer["supporting_facts"]
    assert (fewer["answer"], fewer["answer_id"], fewer["entity_ids"]) == ("Blue Door", None, "Q1_Q2_Q3_Q4")
    stale = replace(bare, answers=("no",), provenance='{"twowiki": {"answer": "yes", "context": [], "entity_ids": "Q1"}}')
    assert (twowiki.to_record(stale)["answer"], "context" in twowiki.to_record(stale)) == ("no", False)


@pytest.mark.parametrize(
    ("text", "sentences", "written"),
    [
        ("One. Two.", (0, 5), ["One.", "Two."]),  # the space belongs to the sentence before it
        ("One. Two.", (0, 4), ["One.", "Two."]),  # to the one after it, as in HotpotQA
        ("One.  Two.", (0, 5), ["One.", " Two."]),
        ("One.  Two.", (0, 6), ["One. ", "Two."]),
        ("One. Two.", None, ["One. Two."]),
        ("", (), []),
    ],
)
def test_no_letter_is_lost_between_sentences(text: str, sentences: tuple[int, ...] | None, written: list[str]) -> None:
    paragraph = Paragraph(id="0", title="t", text=text, supporting=None, mentions=None, sentences=sentences, supporting_sentences=None)
    assert twowiki.sentences_of(paragraph) == written
    assert " ".join(written) == text


def test_hotpotqas_questions_keep_their_texts(tmp_path: Path) -> None:
    instances = list(hotpotqa.read(EXAMPLES.with_name("hotpotqa_dev.json")))
    twowiki.write(instances, tmp_path / "dev.json")
    assert open_dataset(tmp_path / "dev.json").format == "twowiki"
    for before, after in zip(instances, twowiki.read(tmp_path / "dev.json"), strict=True):
        assert [(p.text, p.supporting) for p in after.paragraphs] == [(p.text, p.supporting) for p in before.paragraphs]
        assert after.answers == before.answers


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"evidences": [["a", "b"]]}, MissingInput, "the field 'evidences.0.2' is missing"),
        ({"evidences_id": [["a", "b", 3]]}, BrokenInput, "field 'evidences_id.0.2': expected text, found a number"),
        ({"evidences": "none"}, BrokenInput, "field 'evidences': expected a list, found text"),
        ({"context": [["Harne", "a text"]]}, BrokenInput, "field 'context.0.1': expected a list, found text"),
        ({"answer_id": 5.5}, BrokenInput, "field 'answer_id': expected text, found a number"),
        ({"answer": True}, BrokenInput, "field 'answer': expected text, found true or false"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(change: dict[str, Any], kind: type[InputError], part: str, tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([{**record, "_id": "other"}, {**record, **change}]), "utf-8")
    with pytest.raises(kind, match=r"^x.json, record 2") as error:
        list(twowiki.read(tmp_path / "x.json"))
    assert part in str(error.value)


def test_an_id_twice_and_another_format_in_between(tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([record, record]), "utf-8")
    with pytest.raises(DuplicateId, match=r"x.json, record 2: id c1 was already used in record 1"):
        list(twowiki.read(tmp_path / "x.json"))
    other = json.loads(EXAMPLES.with_name("hotpotqa_dev.json").read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([record, other]), "utf-8")
    with pytest.raises(MissingInput, match="record 2: the field 'evidences' is missing"):
        list(twowiki.read(tmp_path / "x.json"))


def test_notes_that_are_none_of_ours_are_named() -> None:
    first = next(twowiki.read(EXAMPLES))
    with pytest.raises(BrokenInput, match=r"instance c1, provenance, field 'supporting_facts': expected a list, found a number"):
        twowiki.to_record(replace(first, provenance='{"twowiki": {"supporting_facts": 3}}'))


@pytest.mark.real_data
def test_the_official_records_come_back(real_data: Path, tmp_path: Path) -> None:
    source = open_dataset(real_data / "2wikimultihopqa" / "2wiki_dev_200.json")
    instances = list(source.instances())
    assert (source.format, list(source.files), len(instances)) == ("twowiki", ["dev"], 200)
    assert sum(not instance.paragraphs for instance in instances) == 36
    assert {len(instance.paragraphs) for instance in instances} == {0, 10}
    assert sum(instance.answer_type == "boolean" for instance in instances) == 23
    assert all(any(paragraph.supporting for paragraph in instance.paragraphs) for instance in instances if instance.paragraphs)
    twowiki.write(instances, tmp_path / "again.json")
    assert list(twowiki.read(tmp_path / "again.json")) == instances
    assert json.loads((tmp_path / "again.json").read_text("utf-8")) == json.loads(Path(str(source.path)).read_text("utf-8"))
    native.write(instances, tmp_path / "native.parquet")
    assert list(native.read(tmp_path / "native.parquet")) == instances
    gold = {instance.id: gold_question(instance) for instance in instances}
    right = {key: TwoWikiPrediction(answer=q.answer, support=q.support, evidence=q.evidence) for key, q in gold.items()}
    assert score(gold, right).official["joint_em"] == 100.0
