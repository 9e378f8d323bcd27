"""StrategyQA's format: questions come back with their evidence and its texts, which stand in a file beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput, SettingsError
from kgqa.formats import native
from kgqa.formats.faults import faults_of
from kgqa.formats.provenance import noted
from kgqa.formats.question_set import open_dataset
from kgqa.formats.strategyqa import format as strategyqa
from kgqa.metrics.strategyqa import StrategyQAGold, StrategyQAPrediction, strategyqa as score
from kgqa.records import Instance, Paragraph, Step

EXAMPLES = Path(__file__).parent / "examples" / "strategyqa_dev.json"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="#"), max_size=5)
NAMES = ["Ship-1", "Ship-2", "Öre-1", "", "a#b"]
ENTRIES = st.lists(st.sampled_from(NAMES), max_size=3) | st.sampled_from(["operation", "no_evidence"])
OPTIONAL = {
    "term": TEXT | st.none(),
    "description": TEXT,
    "facts": st.lists(TEXT, max_size=2),
    "answer": st.none() | st.booleans(),
    "evidence": st.lists(st.lists(st.lists(ENTRIES, max_size=3), max_size=2), max_size=2),
    "more": st.integers(),
}
LINES = st.fixed_dictionaries({"contents": TEXT}, optional={"title": TEXT, "section": TEXT, "para_index": st.integers()})


def paragraph(name: str, text: str, *, supporting: bool | None = True) -> Paragraph:
    """One without a title."""
    return Paragraph(id=name, title=None, text=text, supporting=supporting, mentions=None, sentences=None, supporting_sentences=None)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Records with steps that refer to earlier ones or to none, and with evidence that may have a text."""
    record = {"qid": draw(TEXT.filter(bool)), "question": draw(TEXT), **draw(st.fixed_dictionaries({}, optional=OPTIONAL))}
    if draw(st.booleans()):
        count = draw(st.integers(0, 3))
        record["decomposition"] = [
            draw(TEXT) + "".join(f" #{n}" for n in draw(st.lists(st.integers(0, place + 1), max_size=2))) for place in range(count)
        ]
    return record


@given(
    st.lists(records(), min_size=1, max_size=3, unique_by=lambda record: record["qid"]),
    st.dictionaries(st.sampled_from(NAMES), LINES),
)
@settings(deadline=None)
def test_what_is_read_is_written(
    tmp_path_factory: pytest.TempPathFactory, given_records: list[dict[str, Any]], texts: dict[str, dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("strategyqa")
    (folder / "x.json").write_text(json.dumps(given_records), "utf-8")
    lines = [json.dumps({"evidence_id": name, **line}) + "\n" for name, line in texts.items()]
    (folder / "x_paragraphs.jsonl").write_text("".join(lines), "utf-8")
    instances = list(strategyqa.read(folder / "x.json"))
    assert {p.id for instance in instances for p in instance.paragraphs} <= texts.keys()
    (folder / "again").mkdir()
    strategyqa.write(instances, folder / "again" / "y.json")
    assert list(strategyqa.read(folder / "again" / "y.json")) == instances
    assert json.loads((folder / "again" / "y.json").read_text("utf-8")) == given_records
    written = folder / "again" / "y_paragraphs.jsonl"
    assert written.exists() == any(instance.paragraphs for instance in instances)
    for line in written.read_bytes().splitlines() if written.exists() else ():
        again = json.loads(line)
        assert again == {"evidence_id": again["evidence_id"], **texts[again["evidence_id"]]}


def test_what_a_record_becomes() -> None:
    first, second, unlabelled = strategyqa.read(EXAMPLES)
    # The texts of two more ids are nowhere: they are in the notes and are no paragraphs.
    assert [p.id for p in first.paragraphs] == ["Tower of Hercules-1", "Cádiz-2"]
    assert {p.supporting for p in first.paragraphs} == {True}
    assert (first.paragraphs[1].title, first.paragraphs[1].text) == ("Cádiz", "Cádiz lies in the south of Spain.")
    assert noted(first, "strategyqa_paragraphs")["Cádiz-2"] == {"section": "Sea", "headers": ["City", "Sea"], "para_index": 2}
    assert set(noted(first, "strategyqa")) == {"term", "description", "facts", "evidence"}
    assert [(step.id, step.depends_on) for step in first.decomposition or ()] == [("1", ()), ("2", ("1",)), ("3", ("2",))]
    assert (first.answers, first.answer_type, second.answers) == (("no",), "boolean", ("yes",))
    assert (unlabelled.answers, unlabelled.answer_type, unlabelled.decomposition, unlabelled.provenance) == ((), "none", None, None)


def test_the_official_file_of_texts_is_one_object(tmp_path: Path) -> None:
    records_given = json.loads(EXAMPLES.read_text("utf-8"))
    (tmp_path / "strategyqa_train.json").write_text(json.dumps(records_given), "utf-8")
    entry = {"title": "Ship", "section": "", "headers": [""], "para_index": 1, "content": "A ship floats."}
    (tmp_path / "strategyqa_train_paragraphs.json").write_text(json.dumps({"Ship-1": entry, "Boat-1": entry}), "utf-8")
    source = open_dataset(tmp_path)
    assert (source.format, list(source.files)) == ("strategyqa", ["train"])
    ship = list(source.instances())[1]
    assert [(p.id, p.title, p.text) for p in ship.paragraphs] == [("Ship-1", "Ship", "A ship floats.")]
    assert noted(ship, "strategyqa_paragraphs")["Ship-1"] == {"section": "", "headers": [""], "para_index": 1}


def texts(path: Path, text: str) -> Path:
    """A file with a text for one id."""
    path.write_text(json.dumps({"evidence_id": "Ship-1", "contents": text}), "utf-8")
    return path


def shown(opened: Path, **options: Any) -> tuple[list[str], list[str]]:
    """The texts of the second question, and what is to be said of the set."""
    source = open_dataset(opened, **options)
    return [paragraph.text for paragraph in list(source.instances())[1].paragraphs], source.remarks


@pytest.mark.parametrize("name", ["dev_paragraphs.json", "dev_paragraphs.jsonl", "strategyqa_train_paragraphs.json"])
def test_only_a_file_of_the_official_name_is_taken(name: str, tmp_path: Path) -> None:
    questions = tmp_path / "dev.json"
    questions.write_bytes(EXAMPLES.read_bytes())
    other = texts(tmp_path / "dev_evidence_paragraphs_998.jsonl", "other")
    for opened in (questions, tmp_path):
        found, (remark, *_) = shown(opened)
        assert found == []
        assert remark.startswith(
            "dev_evidence_paragraphs_998.jsonl is not what the texts of these questions are called, and is passed over"
        )
        assert shown(opened, paragraphs=other)[0] == ["other"]
    texts(tmp_path / name, "own")
    for opened in (questions, tmp_path):
        assert shown(opened)[0] == ["own"]
        assert shown(opened, paragraphs=other)[0] == ["other"]


def test_a_files_own_texts_come_before_the_released_ones(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(EXAMPLES.read_bytes())
    texts(tmp_path / "strategyqa_train_paragraphs.json", "released")
    texts(tmp_path / "dev_paragraphs.jsonl", "own")
    assert shown(tmp_path / "dev.json")[0] == ["own"]


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"Ship-1": {"title": "Ship"}}', '{"evidence_id": "Ship-1"}', "", "\xff", '{"Ship-1": 3}', "[[1]]"]
)
@pytest.mark.parametrize("name", ["dev_paragraphs.json", "strategyqa_train_paragraphs.json", "all_paragraphs_dev.json"])
def test_a_file_that_holds_no_texts_is_passed_over(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(EXAMPLES.read_bytes())
    (tmp_path / name).write_bytes(content.encode("latin-1"))
    for opened in (tmp_path / "dev.json", tmp_path):
        found, remarks = shown(opened)
        assert found == []
        said = f"{name} holds no texts of strategyqa and is passed over; name another file with --paragraphs."
        assert (said in remarks) == (name != "all_paragraphs_dev.json")
    with pytest.raises(BrokenInput, match=f"{name}: this is not a file of texts for strategyqa"):
        open_dataset(tmp_path / "dev.json", paragraphs=tmp_path / name)


def test_a_named_file_must_be_there_and_the_format_must_have_texts_beside(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match=r"none\.json: there is no such file of paragraphs"):
        open_dataset(EXAMPLES, paragraphs=tmp_path / "none.json")
    with pytest.raises(SettingsError, match="--paragraphs gives a file of texts, but the questions of hotpotqa contain their own"):
        open_dataset(EXAMPLES.with_name("hotpotqa_dev.json"), paragraphs=EXAMPLES)


def test_a_step_that_refers_to_none_before_it_is_a_fault(tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0] | {"decomposition": ["What is #1?", "Is #1 it, and #4?", "#1 or #2?"]}
    (tmp_path / "x.json").write_text(json.dumps([record]), "utf-8")
    (instance,) = strategyqa.read(tmp_path / "x.json")
    assert [step.depends_on for step in instance.decomposition or ()] == [(), ("1",), ("1", "2")]
    assert [(fault.kind, fault.place, fault.detail) for fault in faults_of(instance)] == [
        ("wrong-reference", "decomposition.0", "it refers to #1, but nothing comes before the first step"),
        ("wrong-reference", "decomposition.1", "it refers to #4, but only #1 to #1 come before it"),
    ]
    assert strategyqa.to_record(instance) == record


def test_evidence_without_a_text_is_counted_where_there_is_a_file_of_texts(tmp_path: Path) -> None:
    (tmp_path / "dev.json").write_bytes(EXAMPLES.read_bytes())
    assert [faults_of(instance) for instance in strategyqa.read(tmp_path / "dev.json")] == [(), (), ()]
    texts(tmp_path / "dev_paragraphs.jsonl", "own")
    (fault,), second, third = (faults_of(instance) for instance in strategyqa.read(tmp_path / "dev.json"))
    assert (fault.kind, fault.place, fault.detail) == ("absent-text", "evidence", "'Tower of Hercules-1' and 3 more of 4")
    assert (second, third) == ((), ())
    # A corpus may lack texts: that breaks no promise of the questions.
    assert len(list(open_dataset(tmp_path / "dev.json", strict=True).instances())) == 3


def gold_question(instance: Instance) -> StrategyQAGold:
    """What the scorer needs, from the normal form and its notes."""
    evidence = tuple(frozenset(strategyqa.evidence_ids([annotator])) for annotator in noted(instance, "strategyqa")["evidence"])
    steps = tuple(step.question for step in instance.decomposition or ())
    return StrategyQAGold(question=instance.question, answer=instance.answers == ("yes",), decomposition=steps, evidence=evidence)


def test_the_scorer_finds_what_it_needs() -> None:
    gold = {instance.id: gold_question(instance) for instance in list(strategyqa.read(EXAMPLES))[:2]}
    assert gold["s1"].evidence[0] == {"Tower of Hercules-1", "Cádiz-2", "Galicia-7"}
    right = {
        key: StrategyQAPrediction(answer=q.answer, decomposition=q.decomposition, paragraphs=tuple(sorted(q.evidence[0])))
        for key, q in gold.items()
    }
    assert score(gold, right).official == {"Accuracy": 1.0, "SARI": 1.0, "Recall@10": 1.0}


def test_evidence_that_was_removed_is_not_written() -> None:
    first, second, _ = strategyqa.read(EXAMPLES)
    fewer = strategyqa.to_record(replace(first, paragraphs=first.paragraphs[1:]))
    assert fewer["evidence"] == [
        [[], [["Cádiz-2", "Galicia-7"], "no_evidence"], ["operation"]],
        [[["A Coruña-3"]], ["no_evidence"], ["operation"]],
    ]
    unmarked = replace(second, paragraphs=(replace(second.paragraphs[0], supporting=False),))
    assert strategyqa.to_record(unmarked)["evidence"] == [[[]]]


def test_support_that_nobody_named_is_one_more_annotators(tmp_path: Path) -> None:
    steps = tuple(
        Step(id=str(n), question=f"q{n}", answer=None, paragraph_id=paragraph_id, depends_on=())
        for n, paragraph_id in ((1, "0"), (2, None), (3, None))
    )
    made = Instance(
        id="m1",
        question="Is it?",
        paragraphs=(paragraph("0", "a"), paragraph("1", "b", supporting=False), paragraph("2", "c")),
        answers=("yes",),
        answer_id=None,
        answer_type="boolean",
        candidates=None,
        chains=None,
        decomposition=steps,
        answerable=True,
        group="m1",
        provenance=None,
    )
    other = replace(made, id="m2", paragraphs=(paragraph("0", "another text"), paragraph("2", "c")), decomposition=None)
    strategyqa.write([made, other], tmp_path / "dev.json")
    assert [record["evidence"] for record in json.loads((tmp_path / "dev.json").read_text("utf-8"))] == [
        [[[["0"]], [], [["2"]]]],
        [[[["m2#0", "2"]]]],  # another question has another text under that id
    ]
    texts = (tmp_path / "dev_paragraphs.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["evidence_id"] for line in texts] == ["0", "2", "m2#0"]
    first, second = strategyqa.read(tmp_path / "dev.json")
    assert [(p.id, p.text) for p in first.paragraphs] == [("0", "a"), ("2", "c")]
    assert [(p.id, p.text) for p in second.paragraphs] == [("m2#0", "another text"), ("2", "c")]


def test_an_answer_that_is_neither_yes_nor_no_has_no_place() -> None:
    first = next(strategyqa.read(EXAMPLES))
    with pytest.raises(BrokenInput, match="instance s1: StrategyQA's answers are yes and no"):
        strategyqa.to_record(replace(first, answers=("Cádiz",)))


@pytest.mark.parametrize(
    ("change", "kind", "part"),
    [
        ({"answer": "yes"}, BrokenInput, "field 'answer': expected true or false, found text"),
        ({"facts": "one"}, BrokenInput, "field 'facts': expected a list, found text"),
        ({"decomposition": "What?"}, BrokenInput, "field 'decomposition': expected a list, found text"),
        ({"evidence": [[[3]]]}, BrokenInput, "field 'evidence.0.0.0': expected a list of paragraph ids, or text"),
        ({"evidence": [[[["Ship-1", None]]]]}, BrokenInput, "field 'evidence.0.0.0': expected a list of paragraph ids"),
    ],
)
def test_what_is_wrong_with_a_record_is_said(change: dict[str, Any], kind: type[InputError], part: str, tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([{**record, "qid": "other"}, {**record, **change}]), "utf-8")
    with pytest.raises(kind, match=r"^x.json, record 2") as error:
        list(strategyqa.read(tmp_path / "x.json"))
    assert part in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        (
            "x_paragraphs.jsonl",
            '{"evidence_id": "a", "contents": "b"}\n' * 2,
            "x_paragraphs.jsonl, line 2: id a was already used in line 1",
        ),
        (
            "x_paragraphs.jsonl",
            '{"evidence_id": "a", "contents": "b"}\n{"evidence_id": "b"}',
            "x_paragraphs.jsonl, line 2: the field 'contents' is missing",
        ),
        ("x_paragraphs.json", '{"a": {"content": "b"}, "b": 3}', "x_paragraphs.json, field 'b': expected an object, found a number"),
        ("x_paragraphs.json", '{"a": {"content": "b"}', "x_paragraphs.json, character"),
    ],
)
def test_what_is_wrong_with_the_texts_is_said(name: str, content: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(EXAMPLES.read_bytes())
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(InputError) as error:
        list(strategyqa.read(tmp_path / "x.json"))
    assert str(error.value).startswith(part)


def test_an_id_twice_and_another_format_in_between(tmp_path: Path) -> None:
    record = json.loads(EXAMPLES.read_text("utf-8"))[0]
    (tmp_path / "x.json").write_text(json.dumps([record, record]), "utf-8")
    with pytest.raises(DuplicateId, match=r"x.json, record 2: id s1 was already used in record 1"):
        list(strategyqa.read(tmp_path / "x.json"))
    (tmp_path / "x.json").write_text(json.dumps([record, {"_id": "a", "question": "q"}]), "utf-8")
    with pytest.raises(MissingInput, match="record 2: the field 'qid' is missing"):
        list(strategyqa.read(tmp_path / "x.json"))


def test_notes_that_are_none_of_ours_are_named() -> None:
    first = next(strategyqa.read(EXAMPLES))
    for key, part in (("strategyqa", "field 'evidence'"), ("strategyqa_paragraphs", "field 'evidence'")):
        with pytest.raises(BrokenInput, match=f"instance s1, provenance, {part}: expected"):
            strategyqa.to_record(replace(first, provenance=json.dumps({key: {"evidence": 3}})))


@pytest.mark.real_data
def test_the_official_records_come_back(real_data: Path, tmp_path: Path) -> None:
    source = open_dataset(real_data / "strategyqa", paragraphs=real_data / "strategyqa" / "dev_evidence_paragraphs_998.jsonl")
    assert (source.format, list(source.files)) == ("strategyqa", ["train", "dev"])
    sets = {split: list(source.read(split)) for split in source.files}
    assert {split: len(instances) for split, instances in sets.items()} == {"train": 2061, "dev": 229}
    # The file of texts covers dev, and what train has in common with it.
    named = {
        split: {name for q in instances for name in strategyqa.evidence_ids(noted(q, "strategyqa")["evidence"])}
        for split, instances in sets.items()
    }
    held = {split: {p.id for instance in instances for p in instance.paragraphs} for split, instances in sets.items()}
    assert len(held["dev"]) == 998
    assert held["dev"] == named["dev"]
    assert held["train"] == named["train"] & named["dev"]
    lacking = sum(not set(strategyqa.evidence_ids(noted(q, "strategyqa")["evidence"])) <= named["dev"] for q in sets["train"])
    assert source.faults.kinds == {"absent-text": lacking}
    assert sum(instance.answers == ("yes",) for instance in sets["train"] + sets["dev"]) == 1071
    for split, instances in sets.items():
        strategyqa.write(instances, tmp_path / f"{split}.json")
        original = source.files[split]
        assert isinstance(original, Path)
        assert json.loads((tmp_path / f"{split}.json").read_text("utf-8")) == json.loads(original.read_text("utf-8"))
    for split, instances in sets.items():
        assert list(strategyqa.read(tmp_path / f"{split}.json")) == instances
        native.write(instances, tmp_path / "native.parquet")
        assert list(native.read(tmp_path / "native.parquet")) == instances
    before, after = (
        {json.loads(line)["evidence_id"]: json.loads(line) for line in path.read_bytes().splitlines()}
        for path in (real_data / "strategyqa" / "dev_evidence_paragraphs_998.jsonl", tmp_path / "dev_paragraphs.jsonl")
    )
    assert after == before
