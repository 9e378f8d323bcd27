"""Step S4 (Trivedi et al. 2022): find hops that a question does not need, because an earlier subject or paragraph gives the answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import Adjacency, find
from kgqa.recipes.musique.contexts import shown_texts
from kgqa.recipes.musique.heads_and_tails import Within, names_and_answers
from kgqa.recipes.musique.named_entities import Bools
from kgqa.recipes.musique.shapes import Rows4
from kgqa.sources.tables import frame

REASONS = {
    "joined": "a fact joins what an earlier hop is about and a later answer, so that the hops between are not needed",
    "implied": "hops of these two kinds mostly have such a fact, so that the second follows from what the first is about",
    "early": "the paragraph of an earlier hop states a later answer",
}
"""Reason why a hop is not needed → the sentence in reports."""
LEAST = 4
"""Pairs of two kinds of hops that are needed before their share of such facts counts."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Links between the questions of a pool other than their bridges."""

    subjects: Adjacency
    """Question → numbers of the entities that it is about."""
    answer: npt.NDArray[np.int64]
    """Question → the number of its answer's entity, or -1."""
    joined: npt.NDArray[np.int64]
    """Pairs of entities that a fact joins, each as one number, in both directions; ascending."""
    count: int
    """The number of entities."""
    paragraph: Within
    """Containment of answers in the questions' paragraphs."""

    @classmethod
    def of(cls, single_hop: pa.Table, paragraphs: pa.Table, facts: pa.Table | None) -> Shortcuts:
        """Look for all answers in all paragraphs, once. O(bytes and facts). ``facts``: of a graph, ``head`` and ``tail``."""
        pool = frame(single_hop.select(["answer_entity", "entities"])).with_row_index("row")
        about = pool.select("row", entity="entities").explode("entity").drop_nulls()
        entities = pl.concat([about["entity"], pool["answer_entity"].drop_nulls()]).unique().sort()
        number = pl.DataFrame({"entity": entities}).with_row_index("number")
        rows = about.join(number, on="entity", maintain_order="left")
        answer = pool.join(number, left_on="answer_entity", right_on="entity", how="left", maintain_order="left")["number"]
        edges = np.zeros(0, np.int64)
        if facts is not None:
            ends = frame(facts.select(["head", "tail"])).join(number.rename({"entity": "head", "number": "first"}), on="head")
            ends = ends.join(number.rename({"entity": "tail", "number": "second"}), on="tail")
            firsts, seconds = (ends[name].to_numpy().astype(np.int64) for name in ("first", "second"))
            edges = np.unique(np.concatenate([firsts * len(entities) + seconds, seconds * len(entities) + firsts]))
        return cls(
            Adjacency.from_pairs(rows["row"].to_numpy(), rows["number"].to_numpy(), len(single_hop)),
            answer.cast(pl.Int64).fill_null(-1).to_numpy(), edges, len(entities), _stated_in(single_hop, paragraphs),
        )  # fmt: skip

    def joins(self, first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Bools:
        """For each pair of questions, whether a fact joins a subject of ``first`` and the answer of ``second``."""
        about = self.subjects.take(first)
        answer = self.answer[second][about.sources()]
        keys = about.targets.astype(np.int64) * self.count + answer
        flags = np.zeros(len(first), np.bool_)
        flags[about.sources()[(answer >= 0) & (find(self.joined, keys) >= 0)]] = True
        return flags


def _stated_in(single_hop: pa.Table, paragraphs: pa.Table) -> Within:
    names, groups = names_and_answers(single_hop, pa.array(shown_texts(paragraphs), pa.large_string()))
    return Within(names.take(single_hop["paragraph"].to_numpy()), groups)


def needless_pairs(pairs: pa.Table, single_hop: pa.Table, shortcuts: Shortcuts, implied: float) -> dict[str, Bools]:
    """Key of ``REASONS`` → mask of ``pairs`` whose first hop is not needed for that reason."""
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    is_joined = shortcuts.joins(head, tail)
    kinds = frame(single_hop.select(["kind", "relations"])).select(
        kind=pl.concat_str("kind", pl.col("relations").list.join("+"), separator=" ")
    )["kind"]
    table = pl.DataFrame({"first": kinds.gather(head), "second": kinds.gather(tail), "slot": pairs["slot"].to_numpy(), "joined": is_joined})
    of = ["first", "second", "slot"]
    # Questions from datasets have no kinds, and no facts join them.
    share = table.select(mean=pl.col("joined").mean().over(of), count=pl.len().over(of))
    often = ((share["mean"] >= implied) & (share["count"] >= LEAST)).to_numpy()
    return {"joined": is_joined, "implied": often, "early": shortcuts.paragraph.joins(head, tail)}


def needless_chains(hops: Rows4, shortcuts: Shortcuts) -> dict[str, Bools]:
    """The same for chains (rows of questions, padded with -1): any earlier hop against the last answer."""
    last_hops = (hops >= 0).sum(axis=1) - 1
    answers = np.take_along_axis(hops, last_hops[:, None], axis=1)[:, 0]
    flags = {"joined": np.zeros(len(hops), np.bool_), "early": np.zeros(len(hops), np.bool_)}
    for place in range(3):
        rows = np.flatnonzero(place < last_hops)
        flags["joined"][rows] |= shortcuts.joins(hops[rows, place], answers[rows])
        flags["early"][rows] |= shortcuts.paragraph.joins(hops[rows, place], answers[rows])
    return flags
