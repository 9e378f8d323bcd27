"""A workspace with a small graph and its texts, as far as the stage that mines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from kgqa.arrays.parallel import Threads
from kgqa.domains import load_domain
from kgqa.progress import Silent
from kgqa.recipes.qangaroo.hops import TextHops
from kgqa.recipes.qangaroo.mining import Mined, Triples, mine_rules
from kgqa.recipes.qangaroo.relations import RelationMeasures, relation_measures
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.rules.implied import mine_implied
from kgqa.rules.paths import mine_paths
from kgqa.runs.stage import Run, StageOutput
from kgqa.runs.workspace import Workspace
from tests.rules.drawing import Fact, Knowledge, knowledge

SENTENCE = 2
Hop = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class World:
    """Facts, of some relations of which questions are made, and one sentence for each hop of the texts."""

    known: Knowledge
    """``texts`` are pairs that stand in one sentence."""
    asked: dict[Fact, int]
    """Fact → split; those of a relation are all asked or none is."""

    def training(self) -> list[Fact]:
        """What may be learned from; of relations that are not asked about, symmetric facts in both directions."""
        relations = {relation for _, relation, _ in self.asked}
        train = {fact for fact in self.known.facts if self.asked.get(fact, 0) == 0 and (fact in self.asked or fact[1] not in relations)}
        turned = {(tail, r, head) for head, r, tail in train if self.known.symmetric[r] and r not in relations}
        return sorted(train | turned)

    def learned(self) -> Knowledge:
        """The training facts and the texts."""
        return replace(self.known, facts=self.training(), noise=[])

    def questions(self) -> Questions:
        facts = sorted(self.asked)
        head, relation, answer = np.array(facts, np.int32).reshape(-1, 3).T.copy()
        split = np.array([self.asked[fact] for fact in facts], np.int8)
        return Questions(id=np.arange(len(facts), dtype=np.uint64), split=split, head=head, relation=relation, answer=answer)

    def tables(self) -> dict[str, pa.Table]:
        """What the stages before write."""
        known, questions = self.known, self.questions()
        ids = [f"Q{i:03}" for i in range(known.entities)]
        relations = [f"P{i}" for i in range(known.relations)]
        hops = sorted({(first, second) for first, second, _ in known.texts})
        documents = [f"d{i:03}" for i in range(len(hops))]
        names = [[ids[entity] for entity in hop] for hop in hops]
        directions = [(direction, side) for direction, side in (("document_to_entity", 1), ("entity_to_document", 0))]
        edges = [(direction, d, name[side]) for direction, side in directions for d, name in zip(documents, names, strict=True)]
        mentions = [
            (d, name, 5 * place, 5 * place + 4) for d, pair in zip(documents, names, strict=True) for place, name in enumerate(pair)
        ]
        text = pa.string()
        return {
            "entities": pa.table({"id": pa.array(ids, text), "label": pa.array([f"entity {i}" for i in ids], text)}),
            "relations": pa.table(
                {"id": relations, "label": [f"relation {r}" for r in relations], "symmetric": pa.array(known.symmetric, pa.bool_())}
            ),
            "facts": pa.table(
                {
                    "head": pa.array([ids[h] for h, _, _ in known.facts], text),
                    "relation": pa.array([relations[r] for _, r, _ in known.facts], text),
                    "tail": pa.array([ids[t] for _, _, t in known.facts], text),
                }
            ),
            "documents": pa.table(
                {
                    "id": pa.array(documents, text),
                    "text": pa.array([f"{pair[0]} {pair[1]} in one sentence." for pair in names], text),
                    "about": pa.array([None] * len(documents), text),
                }
            ),
            "mentions": pa.table(
                {
                    "document": pa.array([row[0] for row in mentions], text),
                    "entity": pa.array([row[1] for row in mentions], text),
                    "start": pa.array([row[2] for row in mentions], pa.int32()),
                    "end": pa.array([row[3] for row in mentions], pa.int32()),
                }
            ),
            "edges": pa.table({name: pa.array(list(column), text) for name, column in _edge_columns(edges)}),
            "questions": questions.to_table(),
        }


def _edge_columns(edges: list[tuple[str, str, str]]) -> list[tuple[str, list[str]]]:
    return [(name, [edge[place] for edge in edges]) for place, name in enumerate(("direction", "document", "entity"))]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Facts of which some relations are asked about, in all three splits."""
    known = draw(knowledge(most=9))
    texts = sorted({(first, second, SENTENCE) for first, second, _ in known.texts if first != second})
    relations = draw(st.sets(st.integers(0, known.relations - 1)))
    asked = {fact: draw(st.sampled_from([0, 0, 0, 1, 2])) for fact in known.facts if fact[1] in relations}
    return World(known=replace(known, noise=[], texts=texts), asked=asked)


@contextmanager
def mined(world: World, *, workers: int = 1, **evidence: object) -> Iterator[tuple[Run, StageOutput]]:
    """The run, with what the stage wrote, and what it handed back; ``evidence`` are settings."""
    domain = load_domain("wikidata", source=Path("."), recipe="entailed")
    section = domain.settings.qangaroo
    options = section.model_copy(update={"evidence": section.evidence.model_copy(update=evidence)})
    domain = replace(domain, settings=domain.settings.model_copy(update={"qangaroo": options}))
    with TemporaryDirectory() as folder, Workspace(Path(folder)) as place:
        for name, table in world.tables().items():
            place.write_table(name, table)
        run = Run(domain=domain, workspace=place, seed=0, engine=Threads(workers), limit=None, progress=Silent())
        output = mine_rules(run)
        for name, table in output.tables.items():
            place.write_table(name, table)
        yield run, output


def measured(known: Knowledge, facts: list[Fact]) -> RelationMeasures:
    """The measures of ``facts`` beside the texts of ``known``."""
    learned = replace(known, facts=facts, noise=[])
    head, relation, tail = learned.columns()
    none = np.zeros(0, np.int32)
    rules = mine_paths(learned.graph(), head, relation, tail, min_support=1, min_confidence=0.0, engine=Threads(1))
    hops = TextHops(offsets=np.zeros(1, np.int64), before=none, after=none, grades=none)
    forwards, backwards = learned.graph().functionality()
    implied = mine_implied(learned.graph(), head, relation, tail)
    found = Mined(hops=hops, rules=rules, implied=implied, forwards=forwards, backwards=backwards)
    tables = World(known=known, asked={}).tables()
    return relation_measures(Triples(head=head, relation=relation, tail=tail), found, known.relations, tables)
