"""The shortest paths between two entities, over facts or over documents, found step by step with the queries of ``paths.cypher``.

No single Cypher query finds them on both stores, because it would expand all neighbours of a hub. So a longer length is only searched if
the shorter ones give too few paths, and only between the neighbours of both ends. A path visits no entity twice. No inner entity of a path
can be left out: otherwise a shorter path would say the same. Over documents, each step is a document that mentions both its ends, and paths
that differ only in documents count as one.

The order is defined. Shorter paths come first. Paths of one length are ordered by how few documents mention their inner entities (the
product of 1 + documents of each), then by the rows of these entities. Paths of two documents come in the order of ``bridges_between``.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Literal, Protocol

import polars as pl
import pyarrow as pa

from kgqa.errors import QueryError
from kgqa.sources.tables import frame
from kgqa.store.limits import remaining
from kgqa.store.queries import Query, Value, arrow_schema, read_queries

Over = Literal["documents", "facts"]
LONGEST = {"documents": 3, "facts": 4}
"""Maximum length of a path, in steps."""
MOST = 200
"""Maximum number of paths."""
PAIR = ("one", "row_one", "documents_one", "two", "row_two", "documents_two")
"""Columns of two entities with their measures."""
MENTIONS = 10_000
"""Documents of the entities whose companions are queried at a time; the embedded engine has half a GiB for the entities that they mention.
"""
TAILS = 10
"""About how many facts begin at an entity; hundreds of thousands may end there."""

Ask = Callable[..., pa.Table]
"""The rows of the query that is named first, with its arguments."""
Path = tuple[str, ...]
"""Entities, both ends included."""


class Runs(Protocol):
    """A store that runs named queries."""

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float | None = None) -> pa.Table:
        """The rows of ``query``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From one entity of a path to the next."""

    before: str
    after: str
    facts: tuple[dict[str, Any], ...] = ()
    """``head``, ``tail``, ``relation``, ``label``: the facts between the two, in either direction."""
    document: dict[str, Any] | None = None
    """``document``, ``title``: the one that mentions both most often."""
    documents: int = 0
    """Number of documents that mention both."""

    @property
    def words(self) -> list[str]:
        """Its facts: ``capital →`` where one begins at the entity before, ``← country`` where it ends there; each once."""
        return list(dict.fromkeys(self._word(fact) for fact in self.facts))

    def _word(self, fact: dict[str, Any]) -> str:
        label = fact["label"] or fact["relation"]
        return f"{label} →" if fact["head"] == self.before else f"← {label}"


def answer(store: Runs, query: Query, arguments: Mapping[str, Value], *, seconds: float | None = None) -> pa.Table:
    """The rows of a ``query`` that is a search. Raises QueryError if the length or the number of paths is out of range."""
    over: Over = "facts" if query.search == "facts" else "documents"
    longest, limit = int(str(arguments["longest"])), int(str(arguments["limit"]))
    if not 1 <= longest <= LONGEST[over]:
        raise QueryError(f"query {query.name}: longest {longest} is not between 1 and {LONGEST[over]}; choose another length.")
    if not 1 <= limit <= MOST:
        raise QueryError(f"query {query.name}: limit {limit} is not between 1 and {MOST:,}; choose another number.")
    begin, queries = time.monotonic(), read_queries()

    def ask(name: str, **arguments: Value) -> pa.Table:
        return store.run(queries[name], arguments, seconds=None if seconds is None else remaining(seconds, begin))

    paths = find_paths(ask, over, str(arguments["entity"]), str(arguments["other"]), longest=longest, limit=limit)
    return _table(ask, query, over, paths, find_steps(ask, over, paths))


def find_paths(ask: Ask, over: Over, source: str, target: str, *, longest: int, limit: int, sufficient: int = MOST) -> list[Path]:
    """Up to ``limit`` paths of up to ``longest`` steps between two entities, in the order of this module.

    The search stops at the first length with which it has ``sufficient`` or ``limit`` paths.
    """
    paths: list[Path] = []
    lengths = (_over_facts if over == "facts" else _over_documents)(ask, source, target, limit)
    while source != target and longest and len(paths) < min(sufficient, limit):
        paths += [(source, *inner, target) for inner in islice(next(lengths), limit - len(paths))]
        longest -= 1
    return paths


def find_steps(ask: Ask, over: Over, paths: Sequence[Path]) -> dict[tuple[str, str], Step]:
    """All steps of ``paths``, by their ends."""
    pairs = dict.fromkeys(pair for path in paths for pair in pairwise(path))
    if not pairs:
        return {}
    return _by_facts(ask, pairs) if over == "facts" else _by_documents(ask, pairs, paths[0][-1])


def _table(ask: Ask, query: Query, over: Over, paths: list[Path], steps: Mapping[tuple[str, str], Step]) -> pa.Table:
    labels = _names(ask, "entities_with_id", {name for path in paths for name in path})
    rows: list[dict[str, Any]] = []
    for path in paths:
        path_steps = [steps[pair] for pair in pairwise(path)]
        row: dict[str, Any] = {over: len(path_steps)}
        if over == "facts":
            row |= {
                "path": list(path),
                "names": [labels[name] for name in path],
                "relations": [" · ".join(step.words) for step in path_steps],
            }
        else:
            documents = [step.document or {} for step in path_steps]
            row["path"] = [
                path[0],
                *(place for step, document in zip(path_steps, documents, strict=True) for place in (document["document"], step.after)),
            ]
            names = (
                (document["title"] or document["document"], labels[step.after])
                for step, document in zip(path_steps, documents, strict=True)
            )
            row["names"] = [labels[path[0]], *(name for two in names for name in two)]
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=arrow_schema(query))


def _names(ask: Ask, query: str, ids: set[str]) -> dict[str, str]:
    rows = ask(query, ids=sorted(ids)).to_pylist() if ids else []
    return {row["id"]: row["label"] or row["id"] for row in rows}


# Over facts: for each length, the inner entities of its paths.


def _over_facts(ask: Ask, source: str, target: str, limit: int) -> Iterator[Iterator[Path] | list[Path]]:
    near, far = _beside(ask, [source]), _beside(ask, [target])
    yield [()] if target in near["other"] else []
    inner = ~pl.col("other").is_in([source, target])
    near, far = near.filter(inner), far.filter(inner)
    yield _ranked(near.join(far.select("other"), on="other", how="semi").select(*_pair_columns("one")), ["one"])
    neighbours = pl.concat([near, far])["other"]
    # A common neighbour of both ends lies on a shorter path.
    near, far = (side.join(by.select("other"), on="other", how="anti") for side, by in ((near, far), (far, near)))
    edges = _edges(ask, near, far)
    yield _ranked(
        edges.join(near.select(*_pair_columns("one")), on="one").join(far.select(*_pair_columns("two")), on="two"), ["one", "two"]
    )
    # Expand the side with fewer facts.
    is_swapped = near["facts"].sum() > far["facts"].sum()
    near_side, far_side = (far, near) if is_swapped else (near, far)
    middle = _beside(ask, near_side["other"].to_list()).filter(inner & ~pl.col("other").is_in(neighbours.implode()))
    ways = middle.select(few="entity", two="other")
    onwards = _edges(ask, middle.unique("other", maintain_order=True), far_side).select(two="one", many="two")
    sides = (
        (onwards.rename({"many": "one"}), ways.rename({"few": "three"}))
        if is_swapped
        else (ways.rename({"few": "one"}), onwards.rename({"many": "three"}))
    )
    yield _of_four(sides, (near, middle, far), set(edges.rows()), limit)


def _beside(ask: Ask, ids: list[str]) -> pl.DataFrame:
    """``entity, other, row, documents, facts``: all neighbours of these entities over facts, in either direction."""
    tables = [frame(ask(query, ids=ids)) for query in ("path_tails", "path_heads")]
    return pl.concat(tables).unique(["entity", "other"], keep="first", maintain_order=True)


def _edges(ask: Ask, ones: pl.DataFrame, twos: pl.DataFrame) -> pl.DataFrame:
    """``one, two``: the neighbours in ``ones`` and in ``twos`` that facts connect, in either direction."""
    smaller_side, larger_side = sorted((ones, twos), key=lambda side: int(side["facts"].sum()))
    if not smaller_side.height:
        return pl.DataFrame(schema={"one": pl.String, "two": pl.String})
    if smaller_side["facts"].sum() <= TAILS * (smaller_side.height + larger_side.height):
        edges = _beside(ask, smaller_side["other"].to_list())
        edges = edges if smaller_side is ones else edges.select(entity="other", other="entity")
    else:  # heads would be many
        forward_edges, backward_edges = (
            frame(ask("path_tails", ids=side["other"].to_list())).select("entity", "other") for side in (ones, twos)
        )
        edges = pl.concat([forward_edges, backward_edges.select(entity="other", other="entity")])
    pairs = edges.select(one="entity", two="other").unique()
    return pairs.join(ones.select(one="other"), on="one", how="semi").join(twos.select(two="other"), on="two", how="semi")


def _of_four(
    sides: tuple[pl.DataFrame, pl.DataFrame], measures: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame], edges: set[tuple[str, str]],
    limit: int,
) -> Iterator[Path]:  # fmt: skip
    """Paths over ``one``, ``two`` and ``three``, lazily in their order: over a hub there may be more than memory holds.

    ``sides`` have ``one, two`` and ``two, three``. Facts connect the pairs of one and three in ``edges``, so these need no two.
    """
    ones, threes = (
        side.join(by.unique("other").select(*_pair_columns(name)), on=name)
        .sort(f"documents_{name}", f"row_{name}")
        .group_by("two", maintain_order=True)
        .agg(pl.struct(f"documents_{name}", f"row_{name}", name).alias(f"{name}s"))
        for side, by, name in zip(sides, (measures[0], measures[2]), ("one", "three"), strict=True)
    )
    twos = ones.join(threes, on="two").join(measures[1].unique("other").select(*_pair_columns("two")), on="two")
    lists = [
        (row["documents_two"], row["row_two"], row["two"], _places(row["ones"]), _places(row["threes"]))
        for row in twos.iter_rows(named=True)
    ]

    def entry(middle: int, i: int, j: int) -> tuple[float, int, int, int, int, int, int]:
        documents, row, _, left_places, right_places = lists[middle]
        product = (1.0 + left_places[i][0]) * (1.0 + documents) * (1.0 + right_places[j][0])
        return product, left_places[i][1], row, right_places[j][1], middle, i, j

    # Best-first search over the products: for each middle entity, a heap entry (i, j) pairs the i-th one with the j-th three. Successors
    # are (i, j + 1) and, from j = 0 only, (i + 1, 0), so that each pair enters the heap once.
    heap = [entry(middle, 0, 0) for middle in range(len(lists))]
    heapq.heapify(heap)
    count = 0
    while heap and count < limit:
        *_, middle, i, j = heapq.heappop(heap)
        _, _, two, left_places, right_places = lists[middle]
        if j + 1 < len(right_places):
            heapq.heappush(heap, entry(middle, i, j + 1))
        if j == 0 and i + 1 < len(left_places):
            heapq.heappush(heap, entry(middle, i + 1, 0))
        one, three = left_places[i][2], right_places[j][2]
        if (one, three) not in edges:
            count += 1
            yield one, two, three


def _places(entries: list[dict[str, Any]]) -> list[tuple[int, int, str]]:
    return [tuple(entry.values()) for entry in entries]


# Over documents: for each length, the inner entities of its paths.


def _over_documents(ask: Ask, source: str, target: str, limit: int) -> Iterator[list[Path]]:
    yield [()] if ask("connecting_documents", entity=source, other=target, limit=1).num_rows else []
    yield [(name,) for name in ask("bridges_between", entity=source, other=target, limit=limit)["bridge"].to_pylist()]
    inner = ~pl.col("other").is_in([source, target])
    near, far = (frame(ask("path_companions", ids=[name])).filter(inner) for name in (source, target))
    near, far = (side.join(by.select("other"), on="other", how="anti") for side, by in ((near, far), (far, near)))
    yield _ranked(_companions(ask, near, far, limit), ["one", "two"])


def _companions(ask: Ask, near: pl.DataFrame, far: pl.DataFrame, limit: int) -> pl.DataFrame:
    """Pairs across the two sides that share a document: at least the first ``limit`` in the order of paths.

    Each pair is found from its rarer entity, the one that fewer documents mention, and the rarest come first. After some batches all
    remaining pairs are known to come later, so the documents of hubs are rarely read.
    """
    found_pairs = pl.DataFrame(schema={name: pl.String if name in {"one", "two"} else pl.Int64 for name in PAIR})
    if near.is_empty() or far.is_empty():
        return found_pairs
    ones, twos = near.select(*_pair_columns("one")), far.select(*_pair_columns("two"))
    sides = pl.concat([near.with_columns(side=0), far.with_columns(side=1)]).sort("documents", "row").with_row_index()
    # Once one side is complete, all pairs are found.
    sides = sides.head(1 + min(int(side["index"].max()) for side in sides.partition_by("side")))  # type: ignore[arg-type]
    while sides.height:
        batch_size = max(1, int((sides["documents"].cum_sum() <= MENTIONS).sum()))
        batch, sides = sides.head(batch_size), sides.slice(batch_size)
        rows = frame(ask("path_companions", ids=batch["other"].to_list())).select("entity", "other")
        pairs = [rows.select(one="entity", two="other"), rows.select(one="other", two="entity")]
        new_pairs = pl.concat(pairs).unique().join(ones, on="one").join(twos, on="two").select(PAIR)
        found_pairs = pl.concat([found_pairs, new_pairs]).unique(["one", "two"], maintain_order=True)
        if found_pairs.height >= limit and sides.height:
            # Every later pair consists of two entities at least as common as the next one, so its product is no smaller than this bound.
            products = found_pairs.select(_product(["one", "two"])).to_series().sort()
            if products[limit - 1] < (1.0 + sides["documents"][0]) ** 2:
                break
    return found_pairs


# For both.


def _pair_columns(name: str) -> list[pl.Expr]:
    """An entity that is an ``other``, with its measures, under ``name``."""
    return [pl.col("other").alias(name), pl.col("row").alias(f"row_{name}"), pl.col("documents").alias(f"documents_{name}")]


def _product(names: Sequence[str]) -> pl.Expr:
    """How common the inner entities are; a number of this size has no exact place among the whole ones."""
    product = pl.lit(1.0)
    for name in names:
        product = product * (1.0 + pl.col(f"documents_{name}"))
    return product.alias("product")


def _ranked(paths: pl.DataFrame, names: Sequence[str]) -> list[Path]:
    return paths.with_columns(_product(names)).sort("product", *(f"row_{name}" for name in names)).select(*names).rows()


def _by_facts(ask: Ask, pairs: Mapping[tuple[str, str], None]) -> dict[tuple[str, str], Step]:
    by_pair: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for fact in ask("path_facts", ids=sorted({name for pair in pairs for name in pair})).to_pylist():
        by_pair.setdefault((fact["head"], fact["tail"]), []).append(fact)
    return {
        (before, after): Step(before=before, after=after, facts=(*by_pair.get((before, after), ()), *by_pair.get((after, before), ())))
        for before, after in pairs
    }


def _by_documents(ask: Ask, pairs: Mapping[tuple[str, str], None], target: str) -> dict[tuple[str, str], Step]:
    """One query for all steps that leave an entity; the ends are in many steps."""
    groups: dict[str, set[str]] = {}
    for before, after in pairs:
        center, neighbour = (after, before) if after == target else (before, after)
        groups.setdefault(center, set()).add(neighbour)
    rows: dict[frozenset[str], list[dict[str, Any]]] = {}
    for center, neighbours in groups.items():
        for row in ask("path_documents", entity=center, others=sorted(neighbours)).to_pylist():
            rows.setdefault(frozenset((center, row["other"])), []).append(row)
    steps = {}
    for before, after in pairs:
        document_rows = rows[frozenset((before, after))]
        steps[before, after] = Step(before=before, after=after, document=document_rows[0], documents=len(document_rows))
    return steps
