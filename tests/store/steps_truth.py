"""Composed questions of all shapes over the entities of a workspace, and what the queries about their steps must answer, by brute force."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kgqa.formats.provenance import note
from kgqa.records import Instance, Paragraph, Step
from kgqa.runs.workspace import Workspace
from tests.small_questions import write_set
from tests.store.samples_truth import MANY, Question, Rows

SHAPES: dict[str, list[tuple[int, ...]]] = {
    "2hop": [(), (1,)],
    "3hop1": [(), (1,), (2,)],
    "3hop2": [(), (), (1, 2)],
    "4hop2": [(), (), (1, 2), (3,)],
    "4hop3": [(), (1,), (), (2, 3)],
}
"""Shape → for each step the numbers of the steps that it asks about (Trivedi et al. 2022, table 1)."""
QUERIES = {"sample_steps", "bridges_of_steps", "steps_over", "steps_in"}


def composed_set(folder: Path, workspace: Workspace) -> Path:
    """A dataset with three questions of each shape; some share entities and paragraphs, and some steps share a paragraph."""
    draw = random.Random(7)
    entities = workspace.read_table("entities").select(["id", "label"]).to_pylist()[:40]
    documents = workspace.read_table("documents").select(["id", "title", "text"]).to_pylist()[:30]
    instances = [_composed(f"{shape}__{number}", shape, entities, documents, draw) for number in range(3) for shape in SHAPES]
    return write_set(folder, train=instances[:9], dev=instances[9:])


def _composed(name: str, shape: str, entities: list[dict[str, Any]], documents: list[dict[str, Any]], draw: random.Random) -> Instance:
    needs, answers = SHAPES[shape], draw.sample(entities, len(SHAPES[shape]))
    papers = draw.sample(documents, 6)
    own = [draw.choice(papers[: len(needs)]) for _ in needs]
    steps = tuple(
        Step(
            id=f"h{number}", question=f"Which one belongs to {' and '.join(f'#{need}' for need in needed) or 'Porto'}?",
            answer=answers[number]["label"], paragraph_id=own[number]["id"], depends_on=tuple(f"h{need - 1}" for need in needed),
        )
        for number, needed in enumerate(needs)
    )  # fmt: skip
    record = {"shape": shape, "entities": [answer["id"] for answer in answers], "relations": [["capital"] for _ in needs]}
    paragraphs = tuple(Paragraph(id=paper["id"], title=paper["title"], text=paper["text"], supporting=paper in own) for paper in papers)
    return Instance(
        id=name, question=f"Which one is asked for by {name}?", paragraphs=paragraphs, answers=(answers[-1]["label"],),
        answer_id=answers[-1]["id"], answer_type="span", decomposition=steps, answerable=True, group=name,
        provenance=note("compose", record),
    )  # fmt: skip


class StepsTruth:
    """All steps of a dataset that is called ``d``, as its files hold them."""

    def __init__(self, folder: Path, workspace: Workspace) -> None:
        self.labels = dict(zip(*(workspace.read_table("entities")[name].to_pylist() for name in ("id", "label")), strict=True))
        self.titles = dict(zip(*(workspace.read_table("documents")[name].to_pylist() for name in ("id", "title")), strict=True))
        self.questions: list[dict[str, Any]] = []
        for split in ("train", "dev"):
            for row in pq.read_table(folder / f"{split}.parquet").to_pylist():
                told = json.loads(row["provenance"])["compose"]
                steps = [{**step, "entity": entity} for step, entity in zip(row["decomposition"], told["entities"], strict=True)]
                numbers = {step["id"]: number for number, step in enumerate(steps, start=1)}
                for number, step in enumerate(steps, start=1):
                    step |= {"number": number, "needs": [numbers[need] for need in step["depends_on"]]}
                self.questions.append({"id": row["id"], "split": split, "question": row["question"], "steps": steps})

    def asked(self) -> Iterator[Question]:
        """Every query about every question, entity and document of the set."""
        for question in self.questions:
            sample, steps = {"sample": question["id"]}, question["steps"]
            yield "sample_steps", sample, [self._step(step) for step in steps]
            yield "bridges_of_steps", sample, self._bridges(steps)
            for step in steps:
                for other in steps:
                    bridges = [row for row in self._bridges(steps) if row[1:3] == (step["number"], other["number"])]
                    yield "bridges_of_steps", {**sample, "step": str(step["number"]), "later": str(other["number"])}, bridges
        every = [(question, step) for question in self.questions for step in question["steps"]]
        for entity in sorted({step["entity"] for _, step in every}):
            over = [self._over(question, step) for question, step in every if step["entity"] == entity]
            yield "steps_over", {"entity": entity, "limit": MANY}, over
            yield "steps_over", {"entity": entity, "limit": "1"}, over[:1]
        for document in sorted({step["paragraph_id"] for _, step in every}):
            rows: Rows = [
                (question["id"], "d", question["split"], step["number"], step["question"], step["answer"], question["question"])
                for question, step in every
                if step["paragraph_id"] == document
            ]
            yield "steps_in", {"document": document, "limit": MANY}, rows
        yield "steps_over", {"entity": every[0][1]["entity"], "dataset": "another"}, []
        yield "sample_steps", {"sample": "nothing"}, []

    def _step(self, step: dict[str, Any]) -> tuple[object, ...]:
        document = step["paragraph_id"]
        return ("d", step["number"], step["question"], step["answer"], step["entity"], document, self.titles[document])

    def _bridges(self, steps: list[dict[str, Any]]) -> Rows:
        rows: Rows = []
        for later in steps:
            for step in (steps[need - 1] for need in sorted(later["needs"])):
                ends = (step["paragraph_id"], later["paragraph_id"])
                rows.append(("d", step["number"], later["number"], step["entity"], self.labels[step["entity"]], *ends))
        return rows

    @staticmethod
    def _over(question: dict[str, Any], step: dict[str, Any]) -> tuple[object, ...]:
        role = "bridge" if any(step["number"] in other["needs"] for other in question["steps"]) else "answer"
        return (question["id"], "d", question["split"], step["number"], role, step["question"], question["question"])
