"""Sets of ``kgqa contrast`` scored by the command: who connects the facts has full marks, who cannot has not, as native set and as file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.commands.contrast import contrast
from kgqa.formats import dire, native
from kgqa.formats.provenance import noted
from kgqa.metrics.dire import HEADINGS, DiRePrediction
from kgqa.records import Instance, Paragraph
from kgqa.scoring.dire_gold import dire_label, whole_numbers
from tests.formats.test_dire import three_facts
from tests.scoring.families import dire_line, write

LABELLED = ("probe", "sufficiency", "probe-of-sufficiency")
LEVELS = ("paragraph", "sentence")


def perfect(instances: list[Instance], *, order: int = 1) -> list[dict[str, Any]]:
    """What is to be said of each instance, about the sentences as they are numbered there."""
    found = []
    for instance in instances:
        note = noted(instance, "dire")
        shown = [
            [paragraph.title or paragraph.id, sentence]
            for paragraph in instance.paragraphs
            if paragraph.supporting
            for sentence in paragraph.supporting_sentences or ()
        ]
        labels = {} if note["sufficiency"] is None else {"sufficiency": note["sufficiency"], "sub_idx": note["sub_idx"]}
        found.append(dire_line(note["question"], note["answers"][0], *shown, **labels))
    return found[::order]


def sets(kind: str, level: str, source: Path, folder: Path) -> Iterator[tuple[Path, list[Instance]]]:
    """The native set, and the same in DiRe's form."""
    contrast(kind, source, out=folder / "ours", level=level)
    instances = list(native.read(folder / "ours" / "dev.parquet"))
    yield folder / "ours", instances
    dire.write(instances, folder / "x_dev.json")
    yield folder / "x_dev.json", instances


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", LABELLED)
def test_a_perfect_system_has_full_marks(kind: str, level: str, tmp_path: Path) -> None:
    for dataset, instances in sets(kind, level, three_facts(tmp_path), tmp_path):
        done = kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", perfect(instances)))
        assert done.metric == f"dire-{kind}"
        assert set(done.scores.official.values()) == {100.0}
        assert (done.questions, list(done.scores.per_record[f"{HEADINGS[0]}: f1"])) == (1, ["q"])
        (hops,) = [dimension for dimension in done.breakdown if dimension.name == "hops"]
        assert (hops.basis, [group.value for group in hops.groups]) == ("supporting paragraphs", ["3"])


@pytest.mark.parametrize("kind", ["sufficiency", "probe-of-sufficiency"])
def test_numbered_predictions_may_come_in_any_order(kind: str, tmp_path: Path) -> None:
    for dataset, instances in sets(kind, "sentence", three_facts(tmp_path), tmp_path):
        done = kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", perfect(instances, order=-1)))
        assert set(done.scores.official.values()) == {100.0}


def test_sentence_numbers_are_those_that_are_shown(tmp_path: Path) -> None:
    (dataset, instances), _ = sets("probe", "sentence", three_facts(tmp_path), tmp_path)
    labels = [dire_label(instance) for instance in instances]
    # Where the mill's fact is cut out, its other sentence is number 0 still; the fact itself is number 1 wherever it is shown.
    assert {fact for label in labels for fact in label.instance.support} == {("Mill", 1), ("Harne", 1), ("Olm", 0)}
    assert any(label.cut.get("Olm") == [0] for label in labels)
    for label in labels:
        assert not any(number in label.cut.get(name, ()) for name, number in label.instance.support)
    said = perfect(instances)
    for line, instance in zip(said, instances, strict=True):
        olm = [paragraph for paragraph in instance.paragraphs if paragraph.title == "Olm"]
        if olm and olm[0].text == " It is steep.":
            line["supporting_sentences"].append(["Olm", 0])
    # The steep valley is the second sentence of its paragraph, and no fact.
    wrong = kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", said))
    assert wrong.scores.official[f"{HEADINGS[2]}: precision"] < 100.0
    assert wrong.scores.official[f"{HEADINGS[2]}: recall"] == 100.0


@pytest.mark.parametrize("level", LEVELS)
def test_who_cannot_tell_sufficiency_has_nothing(level: str, tmp_path: Path) -> None:
    for dataset, instances in sets("sufficiency", level, three_facts(tmp_path), tmp_path):
        said = [{**line, "sufficiency": 1} for line in perfect(instances)]
        assert set(kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", said)).scores.official.values()) == {0.0}


def test_the_cap_of_a_probe(tmp_path: Path) -> None:
    source = three_facts(tmp_path)
    (dataset, instances), _ = sets("probe", "paragraph", source, tmp_path)
    said = write(tmp_path / "p.jsonl", perfect(instances))
    whole = write(tmp_path / "o.jsonl", [dire_line("q", "the valley", ["Mill", 1])])
    done = kgqa.evaluate(dataset, said, original=whole)
    alone = kgqa.evaluate(source, whole, metric="dire")
    assert done.scores.official == alone.scores.official != kgqa.evaluate(dataset, said).scores.official


def test_sentences_of_one_of_two_paragraphs_with_the_same_title_move_nothing(tmp_path: Path) -> None:
    (_, instances), _ = sets("probe", "sentence", three_facts(tmp_path), tmp_path)
    first = next(instance for instance in instances if dire_label(instance).cut.get("Olm") == [0])
    twin = Paragraph(
        id="twin",
        title="Olm",
        text="Olm is a cheese. It is old.",
        supporting=False,
        mentions=None,
        sentences=(0, 17),
        supporting_sentences=(),
    )
    labels = [dire_label(replace(first, paragraphs=(*first.paragraphs, twin))), dire_label(first)]
    said = DiRePrediction(question_id="q", answer="x", paragraphs=frozenset({"Olm"}), sentences=frozenset({("Olm", 0)}))
    numbers = [next(iter(moved.sentences)) for moved in whole_numbers([said, said], labels)]
    # The first sentence that is shown of the only Olm is its second; of two Olms the number may mean the other one.
    assert numbers == [("Olm", 0), ("Olm", 1)]


RIVERS = {"Ann Radcliffe": "Tamar", "Mary Wroth": "Avon", "Aphra Behn": "Severn", "Fanny Burney": "Mersey"}


def novels(folder: Path) -> Path:
    """A HotpotQA set whose questions can have false paragraphs: a writer's page states the river, and there are others."""
    records = [
        {
            "_id": f"n{number}",
            "question": f"Which river did the writer of Novel {number} know?",
            "answer": river,
            "supporting_facts": [[f"Novel {number}", 0], [writer, 0]],
            "context": [
                [f"Novel {number}", [f"Novel {number} is a book by {writer}."]],
                [writer, [f"{writer} (1700 – 1750) was an English novelist who grew up on the {river}."]],
                *([f"Mill {place}", [f"Mill {place} is a mill."]] for place in range(4)),
            ],
        }
        for number, (writer, river) in enumerate(RIVERS.items())
    ]
    (folder / "novels_dev.json").write_text(json.dumps(records), "utf-8")
    return folder / "novels_dev.json"


def test_false_paragraphs_change_no_metric(tmp_path: Path) -> None:
    source = novels(tmp_path)
    contrast("adversarial", source, out=tmp_path / "ours")
    instances = list(native.read(tmp_path / "ours" / "dev.parquet"))
    assert any("#adversarial" in paragraph.id for instance in instances for paragraph in instance.paragraphs)
    facts = {f"n{number}": [[f"Novel {number}", 0], [writer, 0]] for number, writer in enumerate(RIVERS)}
    said = write(tmp_path / "p.json", {"answer": {"n0": "Tamar", "n1": "Tamar"}, "sp": facts})
    before, after = kgqa.evaluate(source, said), kgqa.evaluate(tmp_path / "ours", said)
    assert (after.metric, after.scores) == (before.metric, before.scores)
    assert (after.scores.official["em"], after.scores.official["sp_em"]) == (0.25, 1.0)
    # The file in DiRe's form says nothing of where the questions are from.
    (tmp_path / "file").mkdir()
    dire.write(instances, tmp_path / "file" / "x_dev.json")
    lines = write(tmp_path / "p.jsonl", [dire_line(key, "Tamar", *shown) for key, shown in facts.items()])
    done = kgqa.evaluate(tmp_path / "file" / "x_dev.json", lines)
    assert (done.metric, done.chosen_by) == ("dire", "the format of the set")
    assert done.scores == kgqa.evaluate(source, lines, metric="dire").scores


def test_the_trivial_transform_has_no_metric(tmp_path: Path) -> None:
    source = three_facts(tmp_path)
    contrast("trivial", source, out=tmp_path / "trivial", level="paragraph")
    said = write(tmp_path / "p.jsonl", [dire_line("q", "x")])
    dire.write(native.read(tmp_path / "trivial" / "dev.parquet"), tmp_path / "x_dev.json")
    for dataset in (tmp_path / "trivial", tmp_path / "x_dev.json"):
        with pytest.raises(kgqa.KgqaError, match="the metric is unknown"):
            kgqa.evaluate(dataset, said)


@pytest.mark.real_data
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", LABELLED)
def test_real_questions(kind: str, level: str, real_data: Path, tmp_path: Path) -> None:
    source = real_data / "hotpotqa" / "hotpot_dev_distractor_200.json"
    scores = []
    for dataset, instances in sets(kind, level, source, tmp_path):
        done = kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", perfect(instances)))
        assert set(done.scores.official.values()) == {100.0}
        half = [line | {"answer": line["answer"].split()[0]} for line in perfect(instances)]
        scores.append(kgqa.evaluate(dataset, write(tmp_path / "p.jsonl", half)).scores)
    assert scores[0] == scores[1]
    assert 0 < scores[0].official[f"{HEADINGS[0]}: em"] < scores[0].official[f"{HEADINGS[0]}: f1"] < 100
