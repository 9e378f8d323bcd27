"""Relations that hold in two directions, say the same as another, or have too many answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.checks.domain.problem import WARNING, Problem, named, some
from kgqa.recipes.qangaroo.relations import RelationMeasures
from kgqa.rules.roles import SYMMETRIC
from kgqa.rules.synonyms import SAME
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame

LEAST = 5
"""Facts below which the shares of a relation say nothing."""


def doubtful_relations(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> Iterator[Problem]:
    """Relations in two directions, relations that say the same, and those that cannot be asked. Memory: a few times the facts."""
    relations = frame(tables["relations"])
    facts = _coded(tables)
    total = facts.group_by("relation").agg(
        pl.len().alias("facts"), pl.col("head").n_unique().alias("subjects"), pl.col("tail").n_unique().alias("objects")
    )
    ids = relations["id"].to_list()
    labels = [named(id_, label) for id_, label in relations.select("id", "label").iter_rows()]
    symmetric = relations["symmetric"].to_list()
    sizes = dict(total.select("relation", "facts").iter_rows())
    turned = facts.select("relation", head="tail", tail="head")
    both_ways = _shared_facts(facts, turned)
    for first, second, shared in both_ways:
        share = shared / sizes[first]
        if first == second and share >= SYMMETRIC and sizes[first] >= LEAST and not symmetric[first]:
            yield Problem(
                check="two-directions", severity=WARNING, where=f"relation {labels[first]}", count=shared,
                what=f"{share:.0%} of its {sizes[first]:,} facts hold in both directions, but it is not marked as symmetric",
                advice=f"mark it in the relation table, or with --option symmetric={ids[first]} of the import",
            )  # fmt: skip
    yield from _pairs(both_ways, sizes, labels, inverse=True)
    yield from _pairs(_shared_facts(facts, facts), sizes, labels, inverse=False)
    yield from _unasked(total, relations, settings)


def _coded(tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """The facts as numbers: rows of relations, codes of entities."""
    entities, relations = (frame(tables[name]).select("id").with_row_index("row") for name in ("entities", "relations"))
    facts = frame(tables["facts"])
    for column, rows in (("head", entities), ("relation", relations), ("tail", entities)):
        facts = facts.join(rows.rename({"id": column, "row": f"{column}_row"}), on=column, how="left", maintain_order="left")
    return facts.select(head="head_row", relation="relation_row", tail="tail_row")


def _shared_facts(facts: pl.DataFrame, other_facts: pl.DataFrame) -> list[tuple[int, int, int]]:
    """Pairs of relations, and the number of facts that both have, in this order of subject and object."""
    pairs = facts.join(other_facts, on=["head", "tail"], suffix="_2").group_by("relation", "relation_2").len()
    return [(first, second, count) for first, second, count in pairs.sort("relation", "relation_2").iter_rows()]


def _pairs(pairs: list[tuple[int, int, int]], sizes: Mapping[int, int], labels: list[str], *, inverse: bool) -> Iterator[Problem]:
    for first, second, share in pairs:
        least = min(sizes[first], sizes[second])
        if first < second and least >= LEAST and share >= SAME * max(sizes[first], sizes[second]):
            yield Problem(
                check="inverse-relations" if inverse else "same-relations", severity=WARNING, count=share,
                where=f"relations {labels[first]} and {labels[second]}",
                what=f"they say the same{' in opposite directions' if inverse else ''} of {share:,} pairs"
                f" (they have {sizes[first]:,} and {sizes[second]:,} facts)",
                advice="leave one of them out of the tables, so that no fact gives away the answer of the other",
            )  # fmt: skip


def _unasked(total: pl.DataFrame, relations: pl.DataFrame, settings: QangarooSettings) -> Iterator[Problem]:
    """Relations that the recipe never asks about, as no object of a subject is the only one, nor the other way round."""
    if settings.queries == "pairs" or (settings.queries == "relations" and not settings.evidence.use):
        return
    candidates = relations.with_row_index("relation").join(total, on="relation", how="inner").sort("relation")
    if settings.relations:
        candidates = candidates.filter(pl.col("id").is_in(settings.relations))
    if not len(candidates):
        return
    zeros = np.zeros(len(candidates), np.int64)
    measures = RelationMeasures(
        facts=candidates["facts"].to_numpy(), subjects=candidates["subjects"].to_numpy(), objects=candidates["objects"].to_numpy(),
        named_together=zeros, stated=zeros, turned=zeros,
    )  # fmt: skip
    if settings.queries == "relations":
        limit, where = settings.evidence.max_objects, "qangaroo.evidence.max_objects"
        too_many = np.array([bool(verdict) for verdict in measures.verdicts(settings.evidence)])
    else:
        limit, where = 1 / settings.paths.functional, "qangaroo.paths.functional"
        too_many = measures.fewest > limit
    if too_many.any():
        rows = candidates.filter(pl.Series(too_many)).with_columns(fewest=pl.Series(measures.fewest[too_many])).sort("fewest", "id")
        texts = [f"{named(id_, label)}: {fewest:.1f}" for id_, label, fewest in rows.select("id", "label", "fewest").iter_rows()]
        yield Problem(
            check="many-answers", severity=WARNING, where=where, count=len(rows),
            what=f"{len(rows):,} of {len(candidates):,} relations have more than {limit:.3g} objects per subject and subjects per object, "
            f"so no fact has one answer: {some(texts)}",
            advice="nothing, if these should not be asked about; otherwise change the setting",
        )  # fmt: skip
