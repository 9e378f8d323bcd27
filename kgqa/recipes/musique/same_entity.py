"""Whether an answer and the name in a later question are one entity: by the graph, by types, by a search (part of step S2)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, paired
from kgqa.recipes.musique.mentions import find_names
from kgqa.recipes.musique.named_entities import Bools, shown
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import answer_kinds, split_title, title_kinds
from kgqa.retrieval.bm25 import Bm25
from kgqa.sources.tables import frame

ARTICLE = len("the ")


def linked(pairs: pl.DataFrame, single_hop: pa.Table) -> tuple[pl.DataFrame, Bools]:
    """Adds ``slot``; a pair stays if one of the tail's entities is the head's answer, or where nobody knows one of them.

    Where they are known, the place becomes that of the whole name, its article included.
    """
    pool = (
        frame(single_hop.select(["question", "answer_entity", "entities", "names"]))
        .with_row_index("row")
        .with_columns(pl.col("row").cast(pl.Int32))
    )
    asked = pool.filter(pl.col("entities").list.len() > 0)
    slots = asked.select("question", "entities", "names", tail="row").explode("entities", "names")
    slots = slots.with_columns(slot=pl.int_range(pl.len(), dtype=pl.Int32).over("tail")).rename({"entities": "entity", "names": "name"})
    rows = pairs.with_row_index("pair").join(pool.select(head="row", entity="answer_entity"), on="head", maintain_order="left")
    known = rows["entity"].is_not_null() & rows["tail"].is_in(asked["row"].implode())
    found = rows.filter(known).join(slots, on=["tail", "entity"]).unique("pair", keep="first", maintain_order=True)
    told = found.select("question", "name", "start").unique(maintain_order=True)
    begins = [question.find(name, max(0, start - ARTICLE)) for question, name, start in told.iter_rows()]
    told = told.with_columns(begin=pl.Series(begins, dtype=pl.Int32), length=pl.col("name").str.len_chars().cast(pl.Int32))
    found = found.join(told, on=["question", "name", "start"]).select("pair", "slot", "begin", "length")
    both = rows.join(found, on="pair", how="left", maintain_order="left")
    kept: Bools = (~known | both["slot"].is_not_null()).to_numpy()
    placed = both.with_columns(
        slot=pl.col("slot").fill_null(-1),
        start=pl.coalesce("begin", "start"),
        end=pl.coalesce(pl.col("begin") + pl.col("length"), "end"),
    )
    return placed.select("head", "tail", "start", "end", "bridge", "slot"), kept


def two_subjects(pairs: pl.DataFrame, single_hop: pa.Table) -> Bools:
    """Whether no entity of the graph is asked about in both questions."""
    entities = frame(single_hop.select(["entities"])).with_row_index("row").explode("entities").drop_nulls()
    entities = entities.with_columns(pl.col("row").cast(pl.Int32))
    rows = pairs.select("head", "tail").with_row_index("pair")
    ones = rows.join(entities.rename({"row": "head"}), on="head")
    both = ones.join(entities.rename({"row": "tail"}), on=["tail", "entities"], how="semi")["pair"].unique()
    kept = np.ones(pairs.height, np.bool_)
    kept[both.to_numpy()] = False
    return kept


def same_type(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """Whether nothing says that answer and name are of different types: what the head asks for, and what texts called so are about."""
    numbers: dict[str, int] = {}
    about: dict[str, int] = {}
    for title, text in zip(paragraphs["title"].to_pylist(), paragraphs["text"].to_pylist(), strict=True):
        known = title_kinds(title or "", text)
        if known and known[0][0]:
            name = split_title(title)[0].lower()
            about[name] = about.get(name, 0) | 1 << numbers.setdefault(known[0][0], len(numbers))
    asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    of_head, of_name = np.zeros(len(asked), np.int64), np.zeros(len(asked), np.int64)
    some = pairs["head"].unique().filter(pl.Series(asked).gather(pairs["head"].unique()))
    for row, values in zip(
        some.to_list(), single_hop.select(["question", "answer", "paragraph"]).take(some.to_arrow()).to_pylist(), strict=True
    ):
        of_name[row] = about.get(values["answer"].lower(), 0)
        own = {name: paragraphs[name][values["paragraph"]].as_py() for name in ("title", "text")} if of_name[row] else None
        told = answer_kinds(values["question"], values["answer"], [shown(own["title"], own["text"])]) if own else []
        of_head[row] = next((1 << numbers[kind[0]] for kind in told if len(kind) > 1 and kind[0] in numbers), 0)
    heads = pairs["head"].to_numpy()
    kept: Bools = (of_head[heads] == 0) | (of_name[heads] == 0) | ((of_head[heads] & of_name[heads]) != 0)
    return kept


def same_search_result(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """Whether answer and name, each searched with its own question among the texts that have the name in their title, find the same one.

    What no title or only one has can find nothing else, and entities of a graph are compared by their ids.
    """
    asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    kept = np.ones(len(head), np.bool_)
    answers, titles = single_hop["answer"].combine_chunks(), paragraphs["title"].combine_chunks()
    found, group = find_names(answers, titles)
    titled = Adjacency.from_pairs(found.name, found.text, int(group.max(initial=-1)) + 1)
    own = group[head]
    several = (own >= 0) & (titled.counts()[np.maximum(own, 0)] > 1) if len(titled.offsets) > 1 else np.zeros(len(head), np.bool_)
    look = np.flatnonzero((asked[head] | asked[tail]) & several)
    if not len(look):
        return kept
    index = Bm25(pc.binary_join_element_wise(titles, paragraphs["text"].combine_chunks().cast(pa.string()), "\n"))
    queries = index.queries(single_hop["question"])
    names = frame(paragraphs)["title"].rank("dense").to_numpy()
    # A question is searched once for each name, however many pairs it is in.
    sides = [paired(rows[look], own[look]) for rows in (head, tail)]
    once, where = np.unique(np.concatenate(sides), return_inverse=True)
    candidates = titled.take(once & 0xFFFFFFFF)
    first = names[index.best_of(queries.take(once >> 32), candidates)]
    kept[look] = first[where[: len(look)]] == first[where[len(look) :]]
    return kept
