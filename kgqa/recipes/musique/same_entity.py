"""Step S2 (Trivedi et al. 2022): check that an answer and the name in a later question are one entity: by graph, types or search."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, paired
from kgqa.recipes.musique.mentions import find_names
from kgqa.recipes.musique.named_entities import Bools, paragraph_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import CLASSES, answer_kinds, title_kinds
from kgqa.retrieval.bm25 import Bm25
from kgqa.sources.tables import frame

ARTICLE = len("the ")


def linked(pairs: pl.DataFrame, single_hop: pa.Table) -> tuple[pl.DataFrame, Bools]:
    """Adds ``slot``; drops pairs whose head's answer is known not to be one of the tail's entities.

    Where the entities are known, the place becomes that of the whole name with its article.
    """
    pool = (
        frame(single_hop.select(["question", "answer_entity", "entities", "names"]))
        .with_row_index("row")
        .with_columns(pl.col("row").cast(pl.Int32))
    )
    with_entities = pool.filter(pl.col("entities").list.len() > 0)
    slots = with_entities.select("question", "entities", "names", tail="row").explode("entities", "names")
    slots = slots.with_columns(slot=pl.int_range(pl.len(), dtype=pl.Int32).over("tail")).rename({"entities": "entity", "names": "name"})
    rows = pairs.with_row_index("pair").join(pool.select(head="row", entity="answer_entity"), on="head", maintain_order="left")
    has_entity = rows["entity"].is_not_null() & rows["tail"].is_in(with_entities["row"].implode())
    matches = rows.filter(has_entity).join(slots, on=["tail", "entity"]).unique("pair", keep="first", maintain_order=True)
    places = matches.select("question", "name", "start").unique(maintain_order=True)
    begins = [question.find(name, max(0, start - ARTICLE)) for question, name, start in places.iter_rows()]
    places = places.with_columns(begin=pl.Series(begins, dtype=pl.Int32), length=pl.col("name").str.len_chars().cast(pl.Int32))
    matches = matches.join(places, on=["question", "name", "start"]).select("pair", "slot", "begin", "length")
    rows_with_match = rows.join(matches, on="pair", how="left", maintain_order="left")
    stays: Bools = (~has_entity | rows_with_match["slot"].is_not_null()).to_numpy()
    rows_with_place = rows_with_match.with_columns(
        slot=pl.col("slot").fill_null(-1),
        start=pl.coalesce("begin", "start"),
        end=pl.coalesce(pl.col("begin") + pl.col("length"), "end"),
    )
    return rows_with_place.select("head", "tail", "start", "end", "bridge", "slot"), stays


def two_subjects(pairs: pl.DataFrame, single_hop: pa.Table) -> Bools:
    """For each pair, whether the two questions have no entity in common."""
    entities = frame(single_hop.select(["entities"])).with_row_index("row").explode("entities").drop_nulls()
    entities = entities.with_columns(pl.col("row").cast(pl.Int32))
    rows = pairs.select("head", "tail").with_row_index("pair")
    head_rows = rows.join(entities.rename({"row": "head"}), on="head")
    same_entity = head_rows.join(entities.rename({"row": "tail"}), on=["tail", "entities"], how="semi")["pair"].unique()
    stays = np.ones(pairs.height, np.bool_)
    stays[same_entity.to_numpy()] = False
    return stays


def same_type(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """For each pair, whether answer and name may be of one type: the head's noun agrees with the articles of that name."""
    heads = frame(single_hop.select(["kind", "question", "answer", "paragraph"])).with_row_index("head")
    heads = heads.filter(pl.col("kind") == ASKED).join(pairs.select(pl.col("head").cast(pl.UInt32)), on="head", how="semi")
    heads = heads.with_columns(name=pl.col("answer").str.to_lowercase())
    about = _about(heads["name"], paragraphs)
    # Only answers that some title names have a known type, so only these are looked at.
    readable = heads.filter(pl.col("name").is_in(list(about)))
    own_paragraphs = paragraphs.select(["title", "text"]).take(readable["paragraph"].to_arrow()).to_pylist()
    of_other_type = []
    for (head, question, answer, name), text in zip(
        readable.select("head", "question", "answer", "name").iter_rows(), own_paragraphs, strict=True
    ):
        kinds = answer_kinds(question, answer, [paragraph_of(text["title"], text["text"])])
        asked_for = next((kind[0] for kind in kinds if len(kind) > 1 and kind[0] in CLASSES), None)
        if asked_for is not None and asked_for not in about[name]:
            of_other_type.append(head)
    return ~pairs["head"].is_in(of_other_type).to_numpy()


def _about(names: pl.Series, paragraphs: pa.Table) -> dict[str, set[str]]:
    """Name in lower case → the types of the paragraphs with this title, where known."""
    title = pl.col("title")
    has_note = title.str.contains(" (", literal=True) & title.str.ends_with(")") & ~title.str.starts_with(" (")  # as in split_title
    base = pl.when(has_note).then(title.str.splitn(" (", 2).struct.field("field_0")).otherwise(title)
    titles = frame(paragraphs.select(["title", "text"])).with_columns(name=base.str.to_lowercase())
    kinds_by_name: dict[str, set[str]] = {}
    for name, full_title, text in titles.filter(pl.col("name").is_in(names.unique().implode())).select("name", "title", "text").iter_rows():
        kinds = title_kinds(full_title, text)
        if kinds and kinds[0][0]:
            kinds_by_name.setdefault(name, set()).add(kinds[0][0])
    return kinds_by_name


def same_search_result(pairs: pl.DataFrame, single_hop: pa.Table, paragraphs: pa.Table) -> Bools:
    """Whether a search for the answer and one for the name, each with its own question, find the same title first.

    Only paragraphs with the name in their title are searched. A name in one title or none passes, and so do entities of a graph, which are
    compared by id.
    """
    is_asked = pc.equal(single_hop["kind"], ASKED).to_numpy()
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    stays = np.ones(len(head), np.bool_)
    answers, titles = single_hop["answer"].combine_chunks(), paragraphs["title"].combine_chunks()
    mentions, group = find_names(answers, titles)
    title_texts = Adjacency.from_pairs(mentions.name, mentions.text, int(group.max(initial=-1)) + 1)
    head_group = group[head]
    several = (
        (head_group >= 0) & (title_texts.counts()[np.maximum(head_group, 0)] > 1)
        if len(title_texts.offsets) > 1
        else np.zeros(len(head), np.bool_)
    )
    look = np.flatnonzero((is_asked[head] | is_asked[tail]) & several)
    if not len(look):
        return stays
    index = Bm25(pc.binary_join_element_wise(titles, paragraphs["text"].combine_chunks().cast(pa.string()), "\n"))
    queries = index.queries(single_hop["question"])
    names = frame(paragraphs)["title"].rank("dense").to_numpy()
    # Each question is searched once per name, however many pairs share it.
    sides = [paired(rows[look], head_group[look]) for rows in (head, tail)]
    once, inverse = np.unique(np.concatenate(sides), return_inverse=True)
    candidates = title_texts.take(once & 0xFFFFFFFF)
    best_titles = names[index.best_of(queries.take(once >> 32), candidates)]
    stays[look] = best_titles[inverse[: len(look)]] == best_titles[inverse[len(look) :]]
    return stays
