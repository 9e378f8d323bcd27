"""Single-hop records of both kinds come back as they were, and no answer stands where its place does not have it."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats import hotpotqa, native, nq
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.squad import squad
from tests.formats.keeping import check_kept, written

EXAMPLES = Path(__file__).parent / "examples" / "nq_dev.jsonl"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
IDS = st.integers(-(2**63), 2**63 - 1) | TEXT.filter(bool) | st.integers(0, 9).map(str) | st.integers(0, 9).map(lambda n: f"0{n}")
EXTRA = st.dictionaries(st.sampled_from(["url", "hop", "style"]), st.none() | TEXT | st.lists(st.integers()), max_size=2)


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write_lines(records: list[dict[str, Any]], path: Path) -> Path:
    """A file of these records."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@st.composite
def qed(draw: st.DrawFn) -> dict[str, Any]:
    """QED's records, with and without what is optional, some of them imperfect."""
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))

    def span() -> dict[str, Any]:
        start, end = sorted(draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
        other = {"start": draw(st.integers(-3, 15)), "end": draw(st.integers(-3, 15)), "string": draw(TEXT)}
        return draw(st.sampled_from([{"start": start, "end": end, "string": text[start:end]}, other]))

    answers = [[span() for _ in range(draw(st.integers(0, 2)))] for _ in range(draw(st.integers(0, 3)))]
    record: dict[str, Any] = {
        "example_id": draw(IDS),
        "question_text": draw(TEXT),
        "paragraph_text": text,
        "original_nq_answers": answers,
        **draw(EXTRA),
    }
    if draw(st.booleans()):
        record["title_text"] = draw(TEXT)
    if draw(st.booleans()):
        sound = st.sets(st.integers(0, len(text) - 1)).map(sorted) if text else st.just([])
        record["sentence_starts"] = draw(sound | st.lists(st.integers(-2, 14), max_size=3))
    if draw(st.booleans()):
        record["annotation"] = draw(st.none() | st.just({"explanation_type": "none"}) | st.just({"selected_sentence": span()}))
    return record


@st.composite
def plain(draw: st.DrawFn) -> dict[str, Any]:
    """Plain records with no answer, one, or several."""
    record: dict[str, Any] = {
        "id": draw(IDS),
        "question": draw(TEXT),
        "title": draw(TEXT | st.none()),
        "context": draw(TEXT),
        **draw(EXTRA),
    }
    answers = draw(st.lists(TEXT, max_size=3, unique=True))
    record |= {"answer": answers[0]} if answers else {}
    return record | ({"answers": answers} if len(answers) > 1 else {})


def key(record: dict[str, Any]) -> str:
    """A record's id as text."""
    return str(record["id"] if "id" in record else record["example_id"])


@given(st.lists(qed() | plain(), min_size=1, max_size=3, unique_by=key))
@settings(deadline=None)
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, given_records: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("nq")
    instances = list(nq.read(write_lines(given_records, folder / "x.jsonl")))
    nq.write(instances, folder / "y.jsonl")
    assert list(nq.read(folder / "y.jsonl")) == instances
    assert lines(folder / "y.jsonl") == given_records


def test_what_a_record_becomes() -> None:
    arno, towns, _, _, mill, unlabelled = nq.read(EXAMPLES)
    assert (arno.id, arno.answers, arno.answer_type) == ("-3290814144789249484", ("on Mount Falterona", "Mount Falterona"), "span")
    (paragraph,) = arno.paragraphs
    assert (paragraph.id, paragraph.title, paragraph.supporting) == ("0", "Arno", True)
    assert [paragraph.text[start:][:3] for start in paragraph.sentences or ()] == ["The", "It ", "Its"]
    assert paragraph.supporting_sentences == (0,)
    assert set(noted(arno, "nq")) == {"url", "original_nq_answers", "annotation"}
    assert (towns.answers, towns.answer_type) == (("Florence", "Empoli", "Pisa"), "spans")
    assert towns.paragraphs[0].supporting_sentences is None
    assert (mill.id, mill.answers, mill.provenance) == ("0812", ("on 3 May 1901", "3 May 1901"), None)
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.paragraphs[0].supporting) == ((), "none", None)
    assert noted(unlabelled, "nq") == {"id": "77"}


ARNO = "-3290814144789249484"


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["original_nq_answers", 0, 0, "start"], 19, "original_nq_answers.0.0"),
        # Places are not counted from the end.
        (["original_nq_answers", 0, 0, "start"], 15 - 111, "original_nq_answers.0.0"),
        (["original_nq_answers", 1, 0, "end"], 10**30, "original_nq_answers.1.0"),
        (["original_nq_answers", 1, 0, "string"], "Falterona" * 20, "original_nq_answers.1.0"),
        (["annotation", "selected_sentence", "string"], "It", "annotation.selected_sentence"),
        (["sentence_starts"], [0, 0], "sentence_starts"),
        (["sentence_starts"], [0, 999], "sentence_starts"),
        (["sentence_starts"], [36, 0], "sentence_starts"),
        (["sentence_starts"], [-1, 10**30], "sentence_starts"),
    ],
)
def test_what_is_wrong_in_content_is_kept(path: list[str | int], value: object, place: str, tmp_path: Path) -> None:
    records = lines(EXAMPLES)
    inside: Any = records[0]
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    instance = check_kept(written(records, tmp_path / "x_dev.jsonl"), ARNO, {place: "wrong-place"})
    (paragraph,) = instance.paragraphs
    assert (paragraph.sentences is None) == (place == "sentence_starts")
    assert (paragraph.supporting_sentences is None) == (place in {"sentence_starts", "annotation.selected_sentence"})


def test_places_of_an_imperfect_record_still_follow_its_text(tmp_path: Path) -> None:
    records = lines(EXAMPLES)[:2]
    records[0]["original_nq_answers"][0][0]["start"] = 19
    records[1]["original_nq_answers"][0][2]["end"] = 80
    for record, instance in zip(records, nq.read(write_lines(records, tmp_path / "x.jsonl")), strict=True):
        assert nq.to_record(instance) == record
        moved = replace(instance, paragraphs=(replace(instance.paragraphs[0], text="See: " + instance.paragraphs[0].text),))
        assert "original_nq_answers" not in nq.to_record(moved)


def test_imperfect_gold_is_scored_by_its_strings(tmp_path: Path) -> None:
    records = lines(EXAMPLES)[:2]
    records[0]["original_nq_answers"] = [[{"start": 99, "end": 3, "string": "the Mount Falterona"}]]
    path = written(records, tmp_path / "x_dev.jsonl")
    given = written({ARNO: "mount falterona", "12": "Pisa"}, tmp_path / "p.json")
    with pytest.raises(MissingInput, match="its answer is several spans together"):
        kgqa.evaluate(path, given, metric="squad")
    written(records[:1], path)
    assert kgqa.evaluate(path, given, metric="squad").scores.official == {"exact_match": 100, "f1": 100}


def test_a_selected_passage_may_span_sentences() -> None:
    record = lines(EXAMPLES)[0]
    end = record["sentence_starts"][2]
    record["annotation"]["selected_sentence"] = {"start": 0, "end": end, "string": record["paragraph_text"][:end]}
    assert nq.from_record(record, "here").paragraphs[0].supporting_sentences == (0, 1)


def test_another_wording_of_the_same_question_has_its_own_id(tmp_path: Path) -> None:
    instances = list(nq.read(EXAMPLES))
    first, second = instances[2:4]
    assert (first.id, second.id) == ("574", "574#2")
    assert {first.group, second.group} == {"574"}
    # Without the first wording, the second one keeps the id by which it is known.
    for kept in (
        [second],
        [second, first],
        [first, replace(second, question=first.question)],
        [replace(first, id="574#1"), second],
        [first, replace(second, id="574#5")],
    ):
        nq.write(kept, tmp_path / "x.jsonl")
        assert [instance.id for instance in nq.read(tmp_path / "x.jsonl")] == [instance.id for instance in kept]


def test_the_scorer_finds_what_it_needs() -> None:
    gold = {instance.id: instance.answers for instance in list(nq.read(EXAMPLES))[:5]}
    assert squad(gold, {key: answers[-1] for key, answers in gold.items()}).official["exact_match"] == 100.0
    assert squad(gold, {**{key: answers[0] for key, answers in gold.items()}, "0812": "May"}).official["exact_match"] == 80.0


def test_what_the_question_says_wins_over_its_notes() -> None:
    arno = next(nq.read(EXAMPLES))
    (paragraph,) = arno.paragraphs
    moved = replace(arno, paragraphs=(replace(paragraph, text="See: " + paragraph.text),))
    unmarked = replace(arno, paragraphs=(replace(paragraph, supporting_sentences=()),))
    for changed in (moved, unmarked, replace(arno, answers=("Falterona",))):
        record = nq.to_record(changed)
        assert set(record) <= {"id", "question", "answer", "answers", "title", "context", "url"}
        assert (record["answer"], record["context"]) == (changed.answers[0], changed.paragraphs[0].text)
    assert "original_nq_answers" in nq.to_record(replace(arno, question="whence the arno"))
    assert "original_nq_answers" not in nq.to_record(replace(arno, provenance='{"nq": {"original_nq_answers": 3}}'))


def test_a_question_over_several_paragraphs_has_no_place(tmp_path: Path) -> None:
    instances = list(hotpotqa.read(EXAMPLES.with_name("hotpotqa_dev.json")))
    with pytest.raises(BrokenInput, match=r"instance hb1: a single-hop record holds one paragraph, and this question has 3; leave it out"):
        nq.write(instances, tmp_path / "x.jsonl")


@pytest.mark.parametrize(
    ("at", "path", "value", "kind", "part"),
    [
        (
            0,
            ["original_nq_answers", 0, 0, "string"],
            None,
            BrokenInput,
            "field 'original_nq_answers.0.0.string': expected text, found null",
        ),
        (0, ["original_nq_answers"], None, BrokenInput, "field 'original_nq_answers': expected a list, found null"),
        (0, ["example_id"], 1.5, BrokenInput, "field 'example_id': expected text or a whole number"),
        (2, ["id"], True, BrokenInput, "field 'id': expected text or a whole number"),
        (2, ["answer"], 1901, BrokenInput, "field 'answer': expected text, found a number"),
        (4, ["answers"], {"text": [], "start": 3}, BrokenInput, "field 'answers': expected a list, found an object"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(
    at: int, path: list[str | int], value: object, kind: type[InputError], part: str, tmp_path: Path
) -> None:
    record = copy.deepcopy(lines(EXAMPLES)[at])
    inside: Any = record
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    with pytest.raises(kind, match=r"^x.jsonl, line 2") as error:
        list(nq.read(write_lines([lines(EXAMPLES)[5], record], tmp_path / "x.jsonl")))
    assert part in str(error.value)


@pytest.mark.parametrize(("at", "field"), [(0, "paragraph_text"), (0, "original_nq_answers"), (0, "example_id"), (2, "context"), (2, "id")])
def test_a_missing_field_is_named(at: int, field: str, tmp_path: Path) -> None:
    record = lines(EXAMPLES)[at]
    del record[field]
    with pytest.raises(MissingInput, match=f"x.jsonl, line 1: the field '{field}' is missing"):
        list(nq.read(write_lines([record], tmp_path / "x.jsonl")))


def test_a_question_twice(tmp_path: Path) -> None:
    records = lines(EXAMPLES)
    with pytest.raises(DuplicateId, match=r"x.jsonl, line 2: id 12 was already used with the same question; drop one of them"):
        list(nq.read(write_lines([records[1], records[1]], tmp_path / "x.jsonl")))
    taken = {**records[2], "id": "574#2", "question": "another"}
    with pytest.raises(DuplicateId, match=r"x.jsonl, line 3: id 574#2 was already used in line 1"):
        list(nq.read(write_lines([taken, records[2], records[3]], tmp_path / "x.jsonl")))


@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_either_kind_is_recognised(at: int, tmp_path: Path) -> None:
    path = write_lines(lines(EXAMPLES)[at:], tmp_path / "validation.jsonl")
    source = open_dataset(path)
    assert (source.format, list(source.files)) == ("nq", ["dev"])


@pytest.mark.real_data
def test_the_official_records_come_back(real_data: Path, tmp_path: Path) -> None:
    sets = {}
    for name, count in (("nq/qed-dev.jsonl", 1355), ("musique/derived_single_hop.jsonl", 600)):
        source = open_dataset(real_data / name)
        sets[name] = instances = list(source.instances())
        assert (source.format, len(instances), len({instance.id for instance in instances})) == ("nq", count, count)
        assert all(answer in instance.paragraphs[0].text for instance in instances for answer in instance.answers)
        nq.write(instances, tmp_path / "again.jsonl")
        assert lines(tmp_path / "again.jsonl") == lines(real_data / name)
        assert list(nq.read(tmp_path / "again.jsonl")) == instances
        native.write(instances, tmp_path / "native.parquet")
        assert list(native.read(tmp_path / "native.parquet")) == instances
    natural, seeds = sets.values()
    explained = [instance.paragraphs[0].supporting_sentences for instance in natural]
    assert (sum(marks is not None for marks in explained), sum(len(marks or ()) > 1 for marks in explained)) == (1021, 16)
    assert all(marks != () for marks in explained)
    assert sum(instance.id != instance.group for instance in seeds) == 3
