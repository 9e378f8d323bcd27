"""The queries of ``cypher/compose.cypher`` find what the kernels find, on every store: pairs, their faults, chains in every shape."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pytest

from kgqa.recipes.musique.heads_and_tails import Sides, names_and_answers
from kgqa.recipes.musique.in_cypher import chains_in, pairs_in, rows_hash
from kgqa.recipes.musique.pairs import CONDITIONS, KNOWN, PAIRS, composable_pairs
from kgqa.recipes.musique.pool import PARAGRAPHS, SINGLE_HOP
from kgqa.recipes.musique.question_graph import composed_rows, question_rows
from kgqa.recipes.musique.shapes import build_chains
from kgqa.recipes.musique.wording import ASKED, FORWARD
from kgqa.settings.musique import SHAPES, PairSettings, ShapeSettings
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore
from kgqa.store.embedded import EmbeddedStore, build
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.questions import put_questions
from kgqa.store.questions import QUESTION_TABLES

NAMES = ("Ada", "Bo Ek", "Bo", "Łódź", "New York", "York", "O'Neil", "Riga", "the Ha'arets")
ANSWERS = (*NAMES, "1990", "bread", "?", "'\"\\ 🌍 Ada")
Rows = dict[str, pa.Table]
Holding = Callable[[Rows], AbstractContextManager[GraphStore]]


def random_pool(rng: random.Random) -> tuple[pa.Table, pa.Table]:
    """Questions over few names, so that they name each other, and few paragraphs."""
    count = rng.randint(2, 24)
    pool: list[dict[str, object]] = []
    for row in range(count):
        names = rng.sample(NAMES, rng.choice((0, 1, 1, 2)))
        words = [*names, *rng.choices(("who", "in", "Q", "was"), k=rng.randint(1, 4))]
        output = rng.random() < 0.5
        answer = rng.choice(ANSWERS)
        about = [f"e{NAMES.index(name)}" if rng.random() < 0.8 else "e0" for name in names]
        if about and rng.random() < 0.5:
            names, about = [*names, names[0]], [*about, "of many"]
        pool.append(
            {"id": f"q{row:02}", "source": "", "question": " ".join(rng.sample(words, len(words))) + "?", "answer": answer,
             "aliases": rng.sample(ANSWERS, rng.choice((0, 0, 1))), "paragraph": rng.randrange(max(1, count // 2)), "start": 0,
             "answer_entity": f"e{ANSWERS.index(answer)}" if output or rng.random() < 0.1 else None, "kind": FORWARD if output else ASKED,
             "relations": [], "entities": about if output else [], "names": names if output else [], "noun": None}
        )  # fmt: skip
    texts = [{"id": f"p{row}", "title": rng.choice(NAMES), "text": f"{' met '.join(NAMES)} {row}."} for row in range(count)]
    return pa.Table.from_pylist(pool, SINGLE_HOP), pa.Table.from_pylist(texts, PARAGRAPHS)


def random_settings(rng: random.Random) -> tuple[PairSettings, ShapeSettings]:
    """Sometimes so narrow that not all pass."""
    pairs = PairSettings(max_heads=rng.choice((1, 2, 50)), max_tails=rng.choice((1, 2, 50)), capital_share=rng.choice((0.0, 0.8)))
    short = rng.choice((8, 99))
    return pairs, ShapeSettings(
        max_tokens=rng.choice((4, 9)), max_tokens_short=short, max_tokens_long=2 * short, fan_in=rng.choice((2, 99))
    )


def more_pairs(pairs: pa.Table, questions: int, rng: random.Random) -> pa.Table:
    """Some pairs beside those that were found, as many chains need more than a small pool has."""
    data = {(row["head"], row["tail"]): row["start"] for row in pairs.to_pylist()}
    for _ in range(rng.choice((0, 3, 4)) * questions):
        head, tail = rng.randrange(questions), rng.randrange(questions)
        if head != tail:
            data.setdefault((head, tail), rng.randrange(5))
    rows = sorted((tail, start, head) for (head, tail), start in data.items())
    table = [{"head": head, "tail": tail, "bridge": head, "start": start, "end": start + 1, "slot": -1} for tail, start, head in rows]
    return pa.Table.from_pylist(table, PAIRS)


@pytest.fixture
def pools(pytestconfig: pytest.Config) -> int:
    """How many of them a test looks at."""
    return 60 if pytestconfig.getoption("--thorough") else 10


class SearchContract:
    """The same for every store; ``holding`` puts rows into it."""

    def test_pairs_and_what_speaks_against_others_are_the_kernels(self, holding: Holding, pools: int) -> None:
        faults: set[str] = set()
        for seed in range(pools):
            rng = random.Random(seed)
            (single_hop, paragraphs), (settings, lengths) = random_pool(rng), random_settings(rng)

            def ask(sides: Sides, settings: PairSettings = settings, lengths: ShapeSettings = lengths) -> pl.DataFrame:
                with holding(question_rows(sides)) as store:
                    result = pairs_in(store, settings, lengths)
                faults.update(result["fault"].to_list())
                return result

            kernel = composable_pairs(single_hop, paragraphs, settings, lengths, seed=seed)
            assert composable_pairs(single_hop, paragraphs, settings, lengths, seed=seed, ask=ask) == kernel, seed
        assert faults == {"", *KNOWN}
        assert set(KNOWN) < set(CONDITIONS)

    def test_chains_are_the_kernels(self, holding: Holding, pools: int) -> None:
        shapes: set[int] = set()
        for seed in range(pools):
            rng = random.Random(seed)
            (single_hop, paragraphs), (settings, lengths) = random_pool(rng), random_settings(rng)
            pairs = more_pairs(composable_pairs(single_hop, paragraphs, settings, lengths, seed=seed)[0], len(single_hop), rng)
            rows = question_rows(Sides.of(single_hop, paragraphs, settings, lengths, seed=seed))
            # Of long chains there would be few.
            long = rng.choice((10, 18, 99))
            lengths = lengths.model_copy(update={"max_tokens": 9, "max_tokens_long": long, "fan_in": rng.choice((2, 99, 99))})

            def ask(
                edges: npt.NDArray[np.int32], pairs: pa.Table = pairs, rows: Rows = rows, lengths: ShapeSettings = lengths
            ) -> npt.NDArray[np.int32]:
                with holding({**rows, "composes": composed_rows(pairs, edges)}) as store:
                    return chains_in(store, lengths)

            usable = np.array([rng.random() < 0.9 for _ in range(len(pairs))], np.bool_)
            data = (single_hop, pairs, usable, *names_and_answers(single_hop, single_hop["question"].combine_chunks()), lengths)
            kernel = build_chains(*data, seed=seed)
            assert build_chains(*data, seed=seed, ask=ask).equals(kernel), seed
            shapes.update(kernel["shape"].to_pylist())
        assert shapes == set(range(len(SHAPES)))


@pytest.mark.slow
class TestSearchEmbedded(SearchContract):
    @pytest.fixture
    def holding(self, tmp_path: Path) -> Holding:
        @contextmanager
        def hold(rows: Rows) -> Iterator[GraphStore]:
            path = tmp_path / rows_hash(rows)
            build(path, rows, tables=QUESTION_TABLES)
            with EmbeddedStore(path) as store:
                yield store
            path.unlink()

        return hold


@pytest.mark.slow
class TestSearchNeo4j(SearchContract):
    @pytest.fixture
    def holding(self, neo4j_database: Neo4jSettings) -> Iterator[Holding]:
        with Neo4jStore(neo4j_database) as server:

            @contextmanager
            def hold(rows: Rows) -> Iterator[GraphStore]:
                put_questions(server, rows_hash(rows), rows)
                yield server

            yield hold


def test_rows_have_no_nulls_and_one_type_of_number() -> None:
    rng = random.Random(3)
    single_hop, paragraphs = random_pool(rng)
    rows = question_rows(Sides.of(single_hop, paragraphs, *random_settings(rng), seed=1))
    assert list(rows) == list(QUESTION_TABLES)
    for name, table in rows.items():
        assert not any(column.null_count for column in table.columns), name
        assert {field.type for field in table.schema if pa.types.is_integer(field.type)} <= {pa.int64()}, name
    assert rows["question"]["row"].to_pylist() == list(range(len(single_hop)))
    assert rows_hash(rows) == rows_hash(dict(reversed(rows.items())))
    assert rows_hash(rows) != rows_hash({**rows, "names": rows["names"].slice(1)})
