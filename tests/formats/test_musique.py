"""MuSiQue's format: Ans, Full and files without paragraphs come back as they were, and every reference leads somewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats import hotpotqa, musique, native
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.musique import MuSiQueGold, MuSiQuePrediction, musique as score
from kgqa.records import Instance

EXAMPLES = Path(__file__).parent / "examples" / "musique_dev.jsonl"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="#"), max_size=5)
EXTRA = st.dictionaries(st.sampled_from(["document_id", "more", "steps"]), st.none() | st.integers() | TEXT | st.lists(TEXT), max_size=2)


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def write_lines(records: list[dict[str, Any]], path: Path) -> Path:
    """A file of these records."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@st.composite
def hops(draw: st.DrawFn, paragraphs: list[int]) -> list[dict[str, Any]]:
    """Steps that refer to earlier ones, and to these paragraphs or to any."""
    ids = draw(st.lists(st.integers(-5, 30) | TEXT | st.integers(0, 9).map(lambda n: f"0{n}"), max_size=4, unique_by=str))
    support = st.none() | (st.sampled_from(paragraphs) if paragraphs else st.nothing()) | st.integers(-1, 30)
    found = []
    for place, id in enumerate(ids):  # noqa: A001
        earlier = draw(st.lists(st.integers(1, place), max_size=3)) if place else []
        question = draw(TEXT) + "".join(f" #{number}" for number in earlier)
        hop = {"id": id, "question": question, **draw(EXTRA)}
        found.append(hop | draw(st.fixed_dictionaries({}, optional={"answer": st.none() | TEXT, "paragraph_support_idx": support})))
    return found


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Records with and without paragraphs, marks, decomposition and answer, answerable or not."""
    idx = draw(st.lists(st.integers(-2, 25), max_size=4, unique=True))
    record: dict[str, Any] = {"id": draw(TEXT.filter(bool)), "question": draw(TEXT), "answerable": draw(st.booleans()), **draw(EXTRA)}
    if draw(st.booleans()) or idx:
        mark = st.fixed_dictionaries({}, optional={"is_supporting": st.booleans()})
        record["paragraphs"] = [
            {"idx": number, "title": draw(TEXT), "paragraph_text": draw(TEXT), **draw(mark), **draw(EXTRA)} for number in idx
        ]
    if "paragraphs" not in record or draw(st.booleans()):
        record["question_decomposition"] = draw(hops(idx))
    record |= draw(st.fixed_dictionaries({}, optional={"answer": st.none() | TEXT, "answer_aliases": st.lists(TEXT, max_size=2)}))
    if record["answerable"] and draw(st.booleans()):
        del record["answerable"]
    return record


@given(st.lists(records(), min_size=1, max_size=3, unique_by=lambda record: (record["id"], record.get("answerable", True))))
@settings(deadline=None)
def test_what_is_read_is_written(tmp_path_factory: pytest.TempPathFactory, given_records: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("musique")
    instances = list(musique.read(write_lines(given_records, folder / "x.jsonl")))
    musique.write(instances, folder / "y.jsonl")
    assert list(musique.read(folder / "y.jsonl")) == instances
    assert lines(folder / "y.jsonl") == given_records


def test_what_a_record_becomes() -> None:
    whole, twin, bare, unlabelled = musique.read(EXAMPLES)
    assert [(paragraph.id, paragraph.supporting) for paragraph in whole.paragraphs] == [("0", True), ("1", True), ("2", False)]
    assert (whole.answers, whole.answer_type, whole.provenance) == (("Skopje", "Üsküp", "Скопје"), "span", None)
    assert whole.decomposition is not None
    first, second = whole.decomposition
    assert (first.id, first.answer, first.paragraph_id, first.depends_on) == ("101", "North Macedonia", "0", ())
    assert (second.id, second.question, second.depends_on) == ("102", "What is the capital of #1?", ("101",))
    assert bare.paragraphs == ()
    assert bare.decomposition is not None
    assert [(step.paragraph_id, step.depends_on) for step in bare.decomposition] == [("4", ()), ("11", ()), ("2", ("7", "8"))]
    assert noted(bare, "musique")["question_decomposition"] == {
        "7": {"document_id": "Rome_0"},
        "8": {"document_id": "Pisa_0"},
        "9": {"id": "9"},
    }
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.decomposition) == ((), "none", None)
    assert [(paragraph.id, paragraph.supporting) for paragraph in unlabelled.paragraphs] == [("3", None)]
    assert (twin.answers, twin.answer_type, twin.answerable) == ((), "none", False)


def test_twins_share_the_official_id_and_are_scored_as_a_pair() -> None:
    twins = list(musique.read(EXAMPLES))[:2]
    assert [twin.id for twin in twins] == ["2hop__101_102", "2hop__101_102#unanswerable"]
    assert {twin.group for twin in twins} == {musique.to_record(twin)["id"] for twin in twins} == {"2hop__101_102"}
    assert noted(twins[1], "musique")["answer"] == "Skopje"
    assert musique.to_record(twins[1])["answer_aliases"] == ["Üsküp", "Скопје"]
    gold = [gold_question(twin) for twin in twins]
    predictions = [MuSiQuePrediction(id=q.id, answer="Skopje", support=frozenset({0, 1}), answerable=q.answerable) for q in gold]
    assert score(gold, predictions).official["group_answer_sufficiency_f1"] == 1.0


def test_an_id_that_ends_as_a_twins_is_kept_where_there_is_an_answer() -> None:
    whole, twin, *_ = musique.read(EXAMPLES)
    assert musique.to_record(replace(whole, id="x#unanswerable"))["id"] == "x#unanswerable"
    assert musique.to_record(replace(twin, group="pair"))["id"] == "2hop__101_102"


def gold_question(instance: Instance) -> MuSiQueGold:
    """What the scorer needs, from the normal form alone."""
    support = frozenset(int(paragraph.id) for paragraph in instance.paragraphs if paragraph.supporting)
    return MuSiQueGold(id=instance.group, answers=instance.answers, support=support, answerable=instance.answerable)


def test_what_the_question_says_wins_over_its_notes() -> None:
    whole, twin, bare, unlabelled = musique.read(EXAMPLES)
    fewer = musique.to_record(replace(whole, paragraphs=whole.paragraphs[1:]))
    assert [hop["paragraph_support_idx"] for hop in fewer["question_decomposition"]] == [None, 1]
    assert "paragraphs" not in musique.to_record(bare)
    assert musique.to_record(replace(unlabelled, paragraphs=()))["paragraphs"] == []
    assert musique.to_record(replace(twin, answers=("Bern",)))["answer"] == "Bern"
    assert musique.to_record(replace(unlabelled, answers=("sea",)))["answer"] == "sea"


def test_paragraphs_of_other_formats_are_numbered() -> None:
    whole = next(musique.read(EXAMPLES))
    assert whole.decomposition is not None
    names = {"0": "simple:8", "1": "simple:6", "2": "7"}
    paragraphs = tuple(replace(paragraph, id=names[paragraph.id]) for paragraph in whole.paragraphs)
    steps = tuple(replace(step, paragraph_id=names[step.paragraph_id or ""]) for step in whole.decomposition)
    assert musique.to_record(replace(whole, paragraphs=paragraphs, decomposition=steps)) == musique.to_record(whole)


def test_a_hotpotqa_question_has_its_place(tmp_path: Path) -> None:
    instances = list(hotpotqa.read(EXAMPLES.with_name("hotpotqa_dev.json")))
    musique.write(instances, tmp_path / "dev.jsonl")
    for before, after in zip(instances, musique.read(tmp_path / "dev.jsonl"), strict=True):
        assert (after.id, after.question, after.answers) == (before.id, before.question, before.answers)
        assert [(p.id, p.text, p.supporting) for p in after.paragraphs] == [(p.id, p.text, p.supporting) for p in before.paragraphs]


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"question": None}, BrokenInput, "field 'question': expected text, found null"),
        ({"answer_aliases": "Üsküp"}, BrokenInput, "field 'answer_aliases': expected a list, found text"),
        ({"answerable": "no"}, BrokenInput, "field 'answerable': expected true or false, found text"),
        ({"paragraphs": {}}, BrokenInput, "field 'paragraphs': expected a list, found an object"),
        ({"paragraphs": [{"idx": 0, "title": "t"}]}, MissingInput, "the field 'paragraphs.0.paragraph_text' is missing"),
        ({"paragraphs": [{"idx": True, "title": "t", "paragraph_text": "p"}]}, BrokenInput, "field 'paragraphs.0.idx'"),
        (
            {"paragraphs": [{"idx": 0, "title": "t", "paragraph_text": "p"}] * 2},
            DuplicateId,
            "field 'paragraphs': the idx 0 occurs twice",
        ),
        ({"question_decomposition": [{"id": 1, "question": "q"}] * 2}, DuplicateId, "the id 1 occurs twice"),
        (
            {"question_decomposition": [{"id": 1.5, "question": "q"}]},
            BrokenInput,
            "'question_decomposition.0.id': expected text or a whole",
        ),
        (
            {"question_decomposition": [{"id": 1, "question": "q", "paragraph_support_idx": "first"}]},
            BrokenInput,
            "field 'question_decomposition.0.paragraph_support_idx': expected a whole number, found text",
        ),
    ],
)
def test_what_is_wrong_with_a_record_is_said(change: dict[str, Any], kind: type[InputError], part: str, tmp_path: Path) -> None:
    record = lines(EXAMPLES)[0]
    path = write_lines([{**record, "id": "other"}, {**record, **change}], tmp_path / "x.jsonl")
    with pytest.raises(kind, match=r"^x.jsonl, line 2") as error:
        list(musique.read(path))
    assert part in str(error.value)


@pytest.mark.parametrize("question", ["What is Rome&#39;s river, #12345?", "Who sang a #1 hit?", "What is #2 of #0?"])
def test_what_is_no_earlier_step_is_text(question: str, tmp_path: Path) -> None:
    steps = [{"id": 1, "question": question}, {"id": 2, "question": "#1 >> capital"}]
    (instance,) = musique.read(write_lines([{"id": "a", "question": "q", "question_decomposition": steps}], tmp_path / "x.jsonl"))
    assert instance.decomposition is not None
    assert [step.depends_on for step in instance.decomposition] == [(), ("1",)]


def test_an_id_twice(tmp_path: Path) -> None:
    whole, twin, *_ = lines(EXAMPLES)
    for records_given in ([whole, twin, whole], [twin, whole, twin]):
        with pytest.raises(DuplicateId, match=r"x.jsonl, line 3: id 2hop__101_102\S* was already used in line 1"):
            list(musique.read(write_lines(records_given, tmp_path / "x.jsonl")))


def test_another_format_in_between(tmp_path: Path) -> None:
    plain = {"id": "a", "question": "q", "answer": "a", "title": "t", "context": "c"}
    with pytest.raises(MissingInput, match="line 2: the field 'paragraphs' is missing"):
        list(musique.read(write_lines([lines(EXAMPLES)[0], plain], tmp_path / "x.jsonl")))


def test_notes_that_are_none_of_ours_are_named() -> None:
    whole = next(musique.read(EXAMPLES))
    with pytest.raises(BrokenInput, match=r"instance 2hop__101_102, provenance, field 'paragraphs': expected an object, found a number"):
        musique.to_record(replace(whole, provenance='{"musique": {"paragraphs": 3}}'))


@pytest.mark.real_data
def test_the_official_records_come_back(real_data: Path, tmp_path: Path) -> None:
    hop_counts = {}
    for name, count in (("musique_ans_dev_200", 200), ("musique_ans_dev_2417_no_paragraphs", 2417)):
        source = open_dataset(real_data / "musique" / f"{name}.jsonl")
        instances = list(source.instances())
        assert (source.format, list(source.files), len(instances)) == ("musique", ["dev"], count)
        assert {len(instance.paragraphs) for instance in instances} == {20 if count == 200 else 0}
        hop_counts[count] = [len(instance.decomposition or ()) for instance in instances]
        assert all(instance.answers[0] == (instance.decomposition or ())[-1].answer for instance in instances)
        for instance in instances if count == 200 else ():
            supporting = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
            assert supporting == {step.paragraph_id for step in instance.decomposition or ()}
        musique.write(instances, tmp_path / "again.jsonl")
        assert lines(tmp_path / "again.jsonl") == lines(real_data / "musique" / f"{name}.jsonl")
        assert list(musique.read(tmp_path / "again.jsonl")) == instances
        native.write(instances, tmp_path / "native.parquet")
        assert list(native.read(tmp_path / "native.parquet")) == instances
    assert sum(hop_counts[200]) == 478
    assert {hops: hop_counts[2417].count(hops) for hops in (2, 3, 4)} == {2: 1252, 3: 760, 4: 405}
