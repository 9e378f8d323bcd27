"""All chains in the six shapes are found, no others, and what is chosen of them keeps every limit."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings as hypothesis_settings, strategies as st

from kgqa.arrays.rows import Adjacency
from kgqa.recipes.musique.choice import choose_chains
from kgqa.recipes.musique.pool import SINGLE_HOP
from kgqa.recipes.musique.shapes import EDGES, HOPS, build_chains, hops_of
from kgqa.records import Step
from kgqa.scoring.breakdown import shape_of
from kgqa.settings.musique import SHAPES, ShapeSettings

COUNT = 7
PAIRS = st.lists(
    st.tuples(st.integers(0, COUNT - 1), st.integers(0, COUNT - 1), st.integers(0, 1)).filter(lambda pair: pair[0] != pair[1]),
    max_size=14,
    unique_by=lambda pair: pair[:2],
)


def pool(paragraphs: list[int], lengths: list[int]) -> pa.Table:
    rows: list[dict[str, object]] = [
        {"id": f"q{row}", "source": "", "question": " ".join(["w"] * lengths[row]), "answer": f"a{row}", "aliases": [],
         "paragraph": paragraphs[row], "start": 0, "answer_entity": None, "kind": "asked", "relations": [], "entities": [], "names": []}
        for row in range(len(paragraphs))
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, SINGLE_HOP)


def table_of(pairs: list[tuple[int, int, int]]) -> pa.Table:
    rows = sorted(pairs, key=lambda pair: (pair[1], pair[2], pair[0]))
    columns = {
        "head": [head for head, *_ in rows], "tail": [tail for _, tail, _ in rows], "bridge": [head for head, *_ in rows],
        "start": [start for *_, start in rows], "end": [start + 1 for *_, start in rows], "slot": [-1] * len(rows),
    }  # fmt: skip
    return pa.table({name: pa.array(values, pa.int32()) for name, values in columns.items()})


def nothing(rows: int) -> Adjacency:
    return Adjacency.from_pairs(np.zeros(0, np.int64), np.zeros(0, np.int64), rows)


def own(rows: int) -> Adjacency:
    return Adjacency.from_pairs(np.arange(rows), np.arange(rows), rows)


def naive(
    pairs: list[tuple[int, int, int]], paragraphs: list[int], lengths: list[int], settings: ShapeSettings
) -> set[tuple[str, frozenset[tuple[int, int]]]]:
    """Shape and edges of every chain, by trying all questions in all places of each shape."""
    place = {(head, tail): start for head, tail, start in pairs}
    result = set()
    for shape, edges in EDGES.items():
        most = settings.max_tokens_short if HOPS[shape] < 4 else settings.max_tokens_long
        for hops in permutations(range(len(paragraphs)), HOPS[shape]):
            members = [(hops[a], hops[b]) for a, b in edges]
            if not all(edge in place for edge in members) or sum(lengths[hop] for hop in hops) > most:
                continue
            starts = Counter((tail, place[head, tail]) for head, tail in members)
            if max(starts.values()) > 1 or any(lengths[hop] > settings.max_tokens for hop in hops):
                continue
            joined = {frozenset(edge) for edge in members}
            if any(paragraphs[a] == paragraphs[b] for a, b in combinations(hops, 2) if frozenset((a, b)) not in joined):
                continue
            result.add((shape, frozenset(members)))
    return result


@given(
    PAIRS,
    st.lists(st.integers(0, 9), min_size=COUNT, max_size=COUNT),
    st.lists(st.integers(1, 6), min_size=COUNT, max_size=COUNT),
    st.sampled_from([(5, 9, 12), (6, 18, 24), (10, 100, 100)]),
)
def test_chains_are_those_of_a_naive_search(
    pairs: list[tuple[int, int, int]], paragraphs: list[int], lengths: list[int], limits: tuple[int, int, int]
) -> None:
    settings = ShapeSettings(max_tokens=limits[0], max_tokens_short=limits[1], max_tokens_long=limits[2], fan_in=100)
    table = table_of(pairs)
    chains = build_chains(pool(paragraphs, lengths), table, np.ones(len(table), np.bool_), nothing(COUNT), own(COUNT), settings, seed=0)
    edges = np.stack([chains[f"edge_{number}"].to_numpy() for number in (1, 2, 3)], axis=1)
    ends = list(zip(table["head"].to_pylist(), table["tail"].to_pylist(), strict=True))
    result = [
        (SHAPES[shape], frozenset(ends[edge] for edge in some if edge >= 0))
        for shape, some in zip(chains["shape"].to_pylist(), edges.tolist(), strict=True)
    ]
    assert len(result) == len(set(result))
    assert set(result) == naive(pairs, paragraphs, lengths, settings)


def test_every_shape_is_what_the_scorer_calls_it() -> None:
    for name, edges in EDGES.items():
        needs = {hop: tuple(f"h{source}" for source, target in edges if target == hop) for hop in range(HOPS[name])}
        steps = [Step(id=f"h{hop}", question="", answer=None, paragraph_id=None, depends_on=needs[hop]) for hop in range(HOPS[name])]
        assert shape_of(steps) == name


def test_no_question_names_the_answer_of_another_but_by_an_edge() -> None:
    table = table_of([(0, 1, 0), (1, 2, 0)])
    questions = pool([0, 1, 2], [2, 2, 2])
    message = Adjacency.from_pairs(np.array([2]), np.array([0]), 3)
    assert build_chains(questions, table, np.ones(2, np.bool_), nothing(3), own(3), ShapeSettings(), seed=0)["shape"].to_pylist() == [
        0,
        0,
        1,
    ]
    assert build_chains(questions, table, np.ones(2, np.bool_), message, own(3), ShapeSettings(), seed=0)["shape"].to_pylist() == [0, 0]


def test_of_the_heads_of_one_place_some_are_drawn() -> None:
    table = table_of([(head, 9, 0) for head in range(9)])
    chains = build_chains(
        pool(list(range(10)), [2] * 10), table, np.ones(9, np.bool_), nothing(10), own(10), ShapeSettings(fan_in=4), seed=3
    )
    assert len(chains) == 4


@hypothesis_settings(deadline=None)
@given(PAIRS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 8))
def test_what_is_chosen_keeps_all_limits(pairs: list[tuple[int, int, int]], bridge: int, reuse: int, size: int) -> None:
    settings = ShapeSettings(
        max_tokens=9, max_tokens_short=99, max_tokens_long=99, fan_in=100, max_per_bridge=bridge, max_per_question=reuse, size=size,
        shares=dict.fromkeys(SHAPES, 1 / 6),
    )  # fmt: skip
    table = table_of(pairs)
    chains = build_chains(
        pool(list(range(COUNT)), [1] * COUNT), table, np.ones(len(table), np.bool_), nothing(COUNT), own(COUNT), settings, seed=1
    )
    remaining, reasons = choose_chains(chains, table, np.zeros(len(chains), np.int64), settings)
    assert len(remaining) + sum(reasons.values()) == len(chains)
    edges = np.stack([chains[f"edge_{number}"].to_numpy() for number in (1, 2, 3)], axis=1)
    hops = hops_of(chains["shape"].to_numpy(), edges, table)
    questions = [frozenset(hop for hop in hops[row].tolist() if hop >= 0) for row in remaining.tolist()]
    assert not any(first < second for first in questions for second in questions)
    assert max(Counter(hop for some in questions for hop in some).values(), default=0) <= reuse
    over = Counter(table["bridge"][edge].as_py() for row in remaining.tolist() for edge in edges[row].tolist() if edge >= 0)
    assert max(over.values(), default=0) <= bridge
    assert max(Counter(chains["shape"].to_numpy()[remaining].tolist()).values(), default=0) <= round(size * 0.5)
