"""The official files that kgqa writes are those that it reads: what says exactly the gold scores full marks, in every format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.errors import BrokenInput, DuplicateId, KgqaError, SettingsError, StorageError
from kgqa.records import Candidate, Instance, Paragraph
from kgqa.scoring.dire_gold import dire_label
from kgqa.scoring.gold import title_or_id
from kgqa.scoring.metrics import METRICS
from kgqa.scoring.prediction_files import WRITERS, write_predictions
from kgqa.training.reader import Prediction
from tests.scoring.families import FAMILIES, NAMES, SUFFICIENCY, Family

UNPREDICTED = ("evi_", "joint_")
"""2WikiMultihopQA's scores of evidence triples, which no reader predicts."""


def perfect(instance: Instance) -> Prediction:
    """What the gold says, in a reader's words."""
    steps = instance.decomposition or ()
    marked = [paragraph for paragraph in instance.paragraphs if paragraph.supporting]
    supporting = [paragraph.id for paragraph in marked]
    sentences = [(paragraph.id, sentence) for paragraph in marked for sentence in paragraph.supporting_sentences or ()]
    return Prediction(
        id=instance.id,
        answer=instance.answers[0] if instance.answers else "",
        candidate=instance.answer_id if instance.candidates else None,
        confidence=0.5,
        supporting=tuple(supporting) if instance.paragraphs else tuple(step.paragraph_id for step in steps if step.paragraph_id),
        supporting_sentences=tuple(sentences),
        answerable=instance.answerable,
        steps=steps,
    )  # fmt: skip


def labelled(instance: Instance) -> Prediction:
    """The same for an instance that a transform of DiRe made: with its label, and the surer the more support it has."""
    found, label = perfect(instance), dire_label(instance).instance
    answer = label.answer if label.sufficiency in {1, None} else ""
    return replace(found, answer=answer, sufficiency=1 if label.sufficiency is None else label.sufficiency)


def scored(gold: Path, folder: Path, metric: str, say: Callable[[Instance], Prediction] = perfect, **options: Any) -> kgqa.Evaluation:
    source = kgqa.open_dataset(gold, options.get("format"), paragraphs=options.get("paragraphs"))
    instances = list(source.instances())
    out = folder / "official.json"
    out.unlink(missing_ok=True)
    assert write_predictions(metric, instances, map(say, instances), out) == ()
    return kgqa.evaluate(gold, out, metric=metric, **options)


def full_marks(done: kgqa.Evaluation, *, but: tuple[str, ...] = ()) -> bool:
    """Whether every question has the whole point in every score, of those whose names do not begin as said."""
    values = [value for name, found in done.scores.per_record.items() if not name.startswith(but) for value in found.values()]
    return set(values) == {1.0}


def test_every_metric_has_a_writer() -> None:
    assert set(WRITERS) == set(METRICS)


ONE_ANSWER = [(name, family) for name, family in zip(NAMES, FAMILIES, strict=True) if family.metric not in {"drop", "dire-probe"}]


@pytest.mark.parametrize(("name", "family"), ONE_ANSWER, ids=[name for name, _ in ONE_ANSWER])
def test_what_says_the_gold_has_full_marks(name: str, family: Family, tmp_path: Path) -> None:
    gold, _ = family.write(tmp_path)
    options = family.options(tmp_path)
    options.pop("metric", None)
    say = labelled if family.metric.startswith("dire-") else perfect
    if family.metric == "dire-probe-of-sufficiency":
        say = part_of_the_answer
    done = scored(gold, tmp_path, family.metric, say, **options)
    assert full_marks(done, but=UNPREDICTED if family.metric == "twowiki" else ()), done.scores.official
    assert not done.scores.missing
    assert not any(done.scores.missing_parts.values())


def part_of_the_answer(instance: Instance) -> Prediction:
    """In a probe both parts give the answer, so that it does not matter which is surer."""
    return replace(labelled(instance), answer=dire_label(instance).instance.answer)


def test_a_probe_is_scored_by_the_surer_part(tmp_path: Path) -> None:
    [family] = [family for family in FAMILIES if family.metric == "dire-probe"]
    gold, _ = family.write(tmp_path)

    def one_is_right(instance: Instance, *, wrong: float) -> Prediction:
        found = part_of_the_answer(instance)
        shows_harne = any(paragraph.title == "Harne" for paragraph in instance.paragraphs)
        return found if shows_harne else replace(found, answer="Harne", confidence=wrong)

    right = scored(gold, tmp_path, "dire-probe", lambda instance: one_is_right(instance, wrong=0.1), format="dire")
    wrong = scored(gold, tmp_path, "dire-probe", lambda instance: one_is_right(instance, wrong=0.9), format="dire")
    assert full_marks(right)
    assert not full_marks(wrong)


def test_drop_has_full_marks_where_one_text_can_be_the_answer(tmp_path: Path) -> None:
    [family] = [family for family in FAMILIES if family.metric == "drop"]
    gold, _ = family.write(tmp_path)
    done = scored(gold, tmp_path, "drop")
    assert {name: values for name, values in done.scores.per_record["F1 score"].items() if name != "b"} == {"a": 1.0, "c": 1.0}


def instance_of(key: str = "q", **more: Any) -> Instance:
    known: dict[str, Any] = {
        "question": "?", "answers": ("yes",), "answer_type": "span", "answerable": True, "group": key, "provenance": None, "paragraphs": (),
    }  # fmt: skip
    return Instance(id=key, **{**known, **more})


def paragraph(key: str, title: str | None, sentences: int) -> Paragraph:
    return Paragraph(id=key, title=title, text="x" * sentences, supporting=True, sentences=tuple(range(sentences)))


SHOWN = (paragraph("a", "Mill", 2), paragraph("b", None, 1), paragraph("c", "Rye", 3))


def written(metric: str, instance: Instance, predicted: Prediction, folder: Path) -> Any:
    write_predictions(metric, [instance], [predicted], folder / "p.json")
    return json.loads((folder / "p.json").read_text("utf-8"))


def test_paragraphs_are_called_as_in_gold_and_stand_for_all_their_sentences(tmp_path: Path) -> None:
    said = Prediction(id="q", answer="x", supporting=("c", "b", "a"), supporting_sentences=(("c", 2), ("c", 0)))
    found = written("hotpotqa", instance_of(paragraphs=SHOWN), said, tmp_path)
    assert found == {"answer": {"q": "x"}, "sp": {"q": [["Mill", 0], ["Mill", 1], ["b", 0], ["Rye", 0], ["Rye", 2]]}}


def test_a_sentence_brings_its_paragraph(tmp_path: Path) -> None:
    said = Prediction(id="q", answer="x", supporting_sentences=(("c", 1),), confidence=0.25)
    found = written("dire", instance_of(paragraphs=SHOWN), said, tmp_path)
    assert found == {
        "question_id": "q", "answer": "x", "answer_confidence": 0.25, "supporting_paragraphs": ["Rye"],
        "supporting_sentences": [["Rye", 1]],
    }  # fmt: skip


@pytest.mark.parametrize(("ids", "numbers"), [(("7", "5", "6"), [5, 7]), (("7", "x", "6"), [0, 1])])
def test_musique_numbers_paragraphs_by_id_or_by_place(ids: tuple[str, ...], numbers: list[int], tmp_path: Path) -> None:
    shown = tuple(paragraph(key, "T", 1) for key in ids)
    said = Prediction(id="q#unanswerable", answer="", supporting=ids[:2], answerable=False)
    found = written("musique", instance_of("q#unanswerable", paragraphs=shown), said, tmp_path)
    assert found == {"id": "q", "predicted_answer": "", "predicted_support_idxs": numbers, "predicted_answerable": False}


@pytest.mark.parametrize(
    ("metric", "said", "file"),
    [
        ("squad", {"answer": "x", "answerable": False}, "x"),
        ("squad2", {"answer": "x", "answerable": False}, ""),
        ("squad2", {"answer": "x"}, "x"),
        ("iirc", {"answer": "x", "answerable": False}, "none"),
        ("iirc", {"answer": ""}, "none"),
        ("drop", {"answer": ""}, ""),
        ("qangaroo", {"answer": "free words"}, "free words"),
        ("qangaroo", {"answer": "The Sill"}, "the sill"),
        ("qangaroo", {"answer": "x", "candidate": "Q2"}, "harne"),
    ],
)
def test_no_answer_and_candidates_are_said_as_the_scorers_know_them(metric: str, said: Any, file: str, tmp_path: Path) -> None:
    candidates = (Candidate(id="Q1", text="The Sill"), Candidate(id="Q2", text="Harne"))
    instance = instance_of(candidates=candidates, provenance='{"surface": "label", "query": "river"}')
    assert written(metric, instance, Prediction(id="q", **said), tmp_path) == {"q": file}


def test_strategyqa_has_booleans_and_only_the_tasks_that_are_done(tmp_path: Path) -> None:
    said = [Prediction(id="q", answer="Yes"), Prediction(id="r", answer="no")]
    assert write_predictions("strategyqa", [instance_of("q"), instance_of("r")], said, tmp_path / "p.json") == ()
    assert json.loads((tmp_path / "p.json").read_text("utf-8")) == {"q": {"answer": True}, "r": {"answer": False}}
    ranked = (("a", 0.1), ("b", 0.9))
    remarks = write_predictions(
        "strategyqa", [instance_of("q")], [Prediction(id="q", answer="Sill", paragraph_scores=ranked)], tmp_path / "r.json"
    )
    assert json.loads((tmp_path / "r.json").read_text("utf-8")) == {"q": {"answer": False, "paragraphs": ["b", "a"]}}
    assert len(remarks) == 1
    assert "neither yes nor no" in remarks[0]


def test_of_paragraphs_called_alike_the_number_is_that_of_the_whole_paragraph(tmp_path: Path) -> None:
    shown = (paragraph("a", "Mill", 2), paragraph("b", "Mill", 1), paragraph("c", "Rye", 2))
    note = {
        "question": "q", "transform": "probe", "bipartition": 0, "sub_idx": 3, "sufficiency": None, "removed": [["a", 0], ["c", 0]],
        "answers": ["x"],
    }  # fmt: skip
    instance = instance_of("q.3", paragraphs=shown, provenance=json.dumps({"dire": note}))
    said = Prediction(id="q.3", answer="x", supporting_sentences=(("a", 1), ("c", 1)))
    found = written("dire-probe", instance, said, tmp_path)
    # Of "Rye" the scorer knows which paragraph is meant, and counts what was cut itself.
    assert found["supporting_sentences"] == [["Mill", 2], ["Rye", 1]]
    assert (found["question_id"], found["sub_idx"], "sufficiency" in found) == ("q", 3, False)


def bad(metric: str, instances: list[Instance], said: list[Prediction], folder: Path) -> KgqaError:
    before = os.listdir(folder)
    with pytest.raises(KgqaError) as caught:
        write_predictions(metric, instances, said, folder / "p.json")
    assert os.listdir(folder) == before
    assert str(caught.value).endswith((".", "?"))
    return caught.value


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    q, r = instance_of("q", paragraphs=SHOWN), instance_of("r")
    p = Prediction(id="q", answer="x")
    assert isinstance(bad("sqad", [q], [p], tmp_path), SettingsError)
    for metric in WRITERS:
        if metric not in {"dire-probe", "dire-sufficiency", "dire-probe-of-sufficiency"}:
            assert isinstance(bad(metric, [q, r], [p], tmp_path), BrokenInput)
            assert isinstance(bad(metric, [q], [p, p], tmp_path), BrokenInput)
            assert isinstance(bad(metric, [q, r], [p, p], tmp_path), BrokenInput)
    for metric in ("squad", "hotpotqa", "strategyqa"):
        assert isinstance(bad(metric, [q, q], [p, p], tmp_path), DuplicateId)
    for metric in ("hotpotqa", "musique", "dire"):
        assert "'z'" in str(bad(metric, [q], [replace(p, supporting=("z",))], tmp_path))
    assert "nan" in str(bad("dire", [q], [replace(p, confidence=float("nan"))], tmp_path))
    assert "'Q9'" in str(bad("qangaroo", [q], [replace(p, candidate="Q9")], tmp_path))
    assert "not made by one of DiRe" in str(bad("dire-probe", [q], [p], tmp_path))


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("mine", "utf-8")
    with pytest.raises(StorageError, match="already there"):
        write_predictions("squad", [], [], tmp_path / "p.json")
    assert (tmp_path / "p.json").read_text("utf-8") == "mine"


def test_labels_are_read_from_sets_with_transformed_ids(tmp_path: Path) -> None:
    gold = tmp_path / "set_dev.json"
    gold.write_text(json.dumps(SUFFICIENCY), "utf-8")
    lines = [labelled(instance).sufficiency for instance in kgqa.open_dataset(gold, "dire").instances()]
    assert lines == [1, 0, 0]


REAL = {
    "squad": ("squad/xquad.en.json", "squad/dev-v1.1.json"),
    "hotpotqa": ("hotpotqa/hotpot_dev_distractor_200.json",),
    "dire": ("hotpotqa/hotpot_dev_distractor_200.json",),
    "twowiki": ("2wikimultihopqa/2wiki_dev_200.json",),
    "musique": ("musique/musique_ans_dev_200.jsonl", "musique/musique_ans_dev_2417_no_paragraphs.jsonl"),
    "iirc": ("iirc/iirc_dev_1301.jsonl",),
    "drop": ("drop/drop_contrast_sets_test.json",),
    "strategyqa": ("strategyqa/dev.json",),
    "qangaroo": tuple(f"qangaroo/{name}" for name in ("wikihop_dev_28.json", "wikihop_dev.masked_2.json", "medhop_dev_1.json")),
}


@pytest.mark.real_data
@pytest.mark.parametrize(("metric", "name"), [(metric, name) for metric, names in REAL.items() for name in names])
def test_real_sets_have_full_marks(metric: str, name: str, real_data: Path, tmp_path: Path) -> None:
    instances = {instance.id: instance for instance in kgqa.open_dataset(real_data / name).instances()}
    per_record = scored(real_data / name, tmp_path, metric).scores.per_record
    predicted = {score: values for score, values in per_record.items() if metric != "twowiki" or not score.startswith(UNPREDICTED)}
    short = {key for values in predicted.values() for key, value in values.items() if value != 1.0}
    assert not [key for key in short if predictable(instances[key])]
    assert len(short) < 0.2 * len(instances)


def predictable(instance: Instance) -> bool:
    """Not an answer of several spans, or one that its authors left empty, nor facts of paragraphs that are not shown."""
    return instance.answer_type != "spans" and bool(instance.answers) and bool(instance.paragraphs)


@pytest.mark.real_data
def test_strategyqa_with_its_paragraphs(real_data: Path, tmp_path: Path) -> None:
    texts = real_data / "strategyqa" / "dev_evidence_paragraphs_998.jsonl"
    done = scored(real_data / "strategyqa" / "dev.json", tmp_path, "strategyqa", paragraphs=texts)
    assert set(done.scores.per_record["Accuracy"].values()) == set(done.scores.per_record["SARI"].values()) == {1.0}
    found = done.scores.per_record["Recall@10"]
    instances = kgqa.open_dataset(real_data / "strategyqa" / "dev.json", paragraphs=texts).instances()
    supported = {instance.id for instance in instances if any(paragraph.supporting for paragraph in instance.paragraphs)}
    assert len(supported) > 150
    assert {found[key] for key in supported} == {1.0}


@pytest.mark.real_data
@pytest.mark.parametrize("transform", ["probe", "sufficiency", "probe-of-sufficiency"])
@pytest.mark.parametrize("level", [pytest.param("paragraph", marks=pytest.mark.thorough), "sentence"])
def test_our_transforms_have_full_marks(transform: str, level: str, real_data: Path, tmp_path: Path) -> None:
    kgqa.contrast(transform, real_data / "hotpotqa" / "hotpot_dev_distractor_200.json", out=tmp_path / "set", level=level)

    say = part_of_the_answer if "probe" in transform else labelled
    done = scored(tmp_path / "set", tmp_path, f"dire-{transform}", say)
    answers = done.scores.per_record["Answer Scores: em"].values()
    sentences = done.scores.per_record["Supporting Sentence Scores: f1"].values()
    assert set(answers) == {1.0}
    assert set(sentences) == {1.0}


def test_called_is_what_the_file_says(tmp_path: Path) -> None:
    found = written("dire", instance_of(paragraphs=SHOWN), Prediction(id="q", answer="x", supporting=("a", "b")), tmp_path)
    assert found["supporting_paragraphs"] == [title_or_id(shown) for shown in SHOWN[:2]]
