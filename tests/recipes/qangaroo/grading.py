"""What grades of chains must be, from the definitions in plain Python, and random evidence to compare by."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from kgqa.arrays.rows import row_bounds
from kgqa.arrays.wilson import wilson_low
from kgqa.recipes.qangaroo.evidence import SURE, Evidence
from kgqa.recipes.qangaroo.hops import TextHops
from kgqa.rules.paths import PathRules
from tests.recipes.drawing import DOCUMENTS, Chain, Record
from tests.rules.drawing import Knowledge, implied_relations, knowledge

Counts = tuple[int, int]
"""Support and typed."""
Path = tuple[int, ...]


def sure(counts: Counts) -> float:
    """The confidence of so many of so many."""
    return float(wilson_low(np.array([counts[0]]), np.array([counts[1]]))[0])


@dataclass(frozen=True, kw_only=True)
class Known:
    """Facts, rules and texts."""

    facts: Knowledge
    """Without texts."""
    rules: Mapping[tuple[int, int, int], Counts]
    """First role, second role, relation."""
    alone: Mapping[tuple[int, int], Counts] = field(default_factory=dict)
    """Role, relation."""
    texts: Mapping[tuple[int, int, int], int] = field(default_factory=dict)
    """Document, entity before, entity after → text grade."""

    def evidence(self) -> Evidence:
        """The same as columns."""
        keys = sorted(self.rules)
        first, second, relation = np.array(keys, np.int32).reshape(-1, 3).T.copy()
        support, typed = np.array([self.rules[key] for key in keys], np.int64).reshape(-1, 2).T.copy()
        rules = PathRules(first=first, second=second, relation=relation, support=support, body=typed, typed=typed, head_facts=typed)
        document, before, after = np.array(sorted(self.texts), np.int32).reshape(-1, 3).T.copy()
        grades = np.array([self.texts[key] for key in sorted(self.texts)], np.int32)
        hops = TextHops(offsets=row_bounds(document, DOCUMENTS), before=before, after=after, grades=grades)
        return Evidence(self.facts.graph(), hops, rules, implied_relations(self.alone, self.facts.roles))

    def best(self, chain: Chain, relation: int, *, facts: int = 0) -> tuple[float, int, set[tuple[Path, int]]]:
        """How surely the chain implies its end, its worst text grade, and the paths that do so with the relation implied on the way.

        A path with so many ``facts`` goes before a surer one with fewer.
        """
        entities, documents = chain[::2], chain[1::2]
        if len(documents) > 3:
            return 0.0, 0, {((-1, -1, -1), -1)}
        edges = self.facts.edges()
        grades = [self.texts.get((d, x, z), 0) for d, x, z in zip(documents, entities, entities[1:], strict=False)]
        roles = [
            [r for r in range(self.facts.roles) if (x, r, z) in edges] + [2 * self.facts.relations + grade]
            for x, z, grade in zip(entities, entities[1:], grades, strict=False)
        ]
        found: dict[tuple[Path, int], float] = {}
        if len(documents) == 1:
            found = {((a, -1, -1), -1): sure(self.alone.get((a, relation), (0, 0))) for a in roles[0]}
        elif len(documents) == 2:
            found = {((a, b, -1), -1): self._rule(a, b, relation) for a in roles[0] for b in roles[1]}
        else:
            for a in roles[0]:
                for b in roles[1]:
                    for c in roles[2]:
                        for s in range(self.facts.relations):
                            left = self._implies(a, b, s, entities[0], entities[2]) * self._rule(2 * s, c, relation)
                            right = self._implies(b, c, s, entities[1], entities[3]) * self._rule(a, 2 * s, relation)
                            found[(a, b, c), s] = max(left, right)
        many = {key: value for key, value in found.items() if value and sum(0 <= r < 2 * self.facts.relations for r in key[0]) >= facts}
        found = many or found
        best = max(found.values(), default=0.0)
        paths = {path for path, value in found.items() if value > best - 1e-6}
        return best, min(grades), paths if best else {((-1, -1, -1), -1)}

    def _rule(self, first: int, second: int, relation: int) -> float:
        return sure(self.rules.get((first, second, relation), (0, 0)))

    def _implies(self, first: int, second: int, relation: int, x: int, y: int) -> float:
        """What two hops imply takes part where it is sure enough, and where the graph has it, or says nothing of x and knows y's kind."""
        value, edges = self._rule(first, second, relation), self.facts.edges()
        if value < SURE:
            return 0.0
        if (x, 2 * relation, y) in edges:
            return 1.0
        others = any(source == x and role == 2 * relation for source, role, _ in edges)
        kind = any(target == y and role == 2 * relation for _, role, target in edges)
        return value if kind and not others else 0.0


@st.composite
def known_things(draw: st.DrawFn) -> Known:
    """Facts over five or six entities, with as many rules and texts as it takes for most chains to have a grade."""
    facts = replace(draw(knowledge(least=5, most=6)), texts=[])
    rng = random.Random(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from([0.1, 0.5, 0.9]))

    def counts() -> Counts:
        typed = rng.choice([5, 20, 200])
        return rng.randint(1, typed), typed

    roles, relations, entities = range(facts.roles), range(facts.relations), range(facts.entities)
    rules = {(a, b, r): counts() for a in roles for b in roles for r in relations if rng.random() < share}
    alone = {(a, r): counts() for a in roles for r in relations if rng.random() < share}
    texts = {(d, x, z): rng.randint(0, 2) for d in range(DOCUMENTS) for x in entities for z in entities if x != z and rng.random() < share}
    return Known(facts=facts, rules=rules, alone=alone, texts=texts)


@st.composite
def graded_records(draw: st.DrawFn, known: Known) -> list[Record]:
    """Samples whose chains, of one to four documents, repeat no entity."""
    made, entities = [], st.permutations(range(known.facts.entities))
    for number in range(draw(st.integers(1, 4))):
        order = draw(entities)
        head, candidates = order[0], order[1 : draw(st.integers(2, 4))]
        lists: dict[int, Any] = {}
        for candidate in sorted(candidates):
            lists[candidate] = []
            for _ in range(draw(st.integers(1, 3))):
                between = [e for e in draw(entities) if e not in (head, candidate)][: draw(st.sampled_from([0, 1, 1, 2, 2, 2, 3]))]
                documents = draw(st.permutations(range(DOCUMENTS)))
                steps = zip(documents, [*between, candidate], strict=False)
                lists[candidate].append((head, *(node for step in steps for node in step)))
        relation = draw(st.integers(0, known.facts.relations - 1))
        made.append(Record(id=number, split=0, head=head, relation=relation, answer=candidates[0], chains=lists))
    return made
