"""Step S2 (Trivedi et al. 2022): for each answer the questions with it (heads) and the questions that name it (tails), with places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.kernel import kernel
from kgqa.arrays.letter_case import CAPITAL, FIGURE, case_table, cases_at
from kgqa.arrays.rows import Adjacency
from kgqa.arrays.search import meet
from kgqa.arrays.texts import text_buffers
from kgqa.recipes.musique.mentions import Mentions, find_names
from kgqa.recipes.musique.named_entities import Bools, entity_answers
from kgqa.recipes.musique.pool import tokens_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.settings.musique import PairSettings, ShapeSettings
from kgqa.sources.tables import frame


@dataclass(frozen=True, slots=True)
class Work:
    """The pool, and the answers that each question names."""

    single_hop: pa.Table
    mentions: Mentions
    group_of_question: npt.NDArray[np.int32]
    """For each question the group of its answer; -1 where it has no word."""
    groups: npt.NDArray[np.int32]
    """The groups of all names of the answers; ``owners`` are their questions."""
    owners: npt.NDArray[np.int32]

    @classmethod
    def of(cls, single_hop: pa.Table) -> Work:
        """Look for all answers in all questions. O(bytes)."""
        names, owners = answer_names(single_hop)
        mentions, groups = find_names(names, single_hop["question"].combine_chunks())
        return cls(single_hop, mentions, groups[: len(single_hop)], groups, owners)


def answer_names(single_hop: pa.Table) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """All names of the answers and the question of each: first every question's answer, then the aliases of a graph's entities.

    Further answers of a dataset's question are other spans and need not name the answer; they are left out.
    """
    answers = single_hop["answer"].combine_chunks()
    is_entity = pc.and_(pc.is_valid(single_hop["answer_entity"]), pc.not_equal(single_hop["kind"], ASKED))
    rows = np.flatnonzero(is_entity.to_numpy()).astype(np.int32)
    lists = single_hop["aliases"].combine_chunks().take(pa.array(rows))
    owners = rows[lists.value_parent_indices().to_numpy()] if len(rows) else np.zeros(0, np.int32)
    return pa.concat_arrays([answers, lists.flatten()]), np.concatenate([np.arange(len(answers), dtype=np.int32), owners])


def names_and_answers(single_hop: pa.Table, texts: pa.Array) -> tuple[Adjacency, Adjacency]:
    """Text → groups of the answers' names in it, and question → groups of its answer's names. O(bytes)."""
    names, owners = answer_names(single_hop)
    places, groups = find_names(names, texts)
    valid = groups >= 0
    return (
        Adjacency.from_pairs(places.text, places.name, len(texts)),
        Adjacency.from_pairs(owners[valid], groups[valid], len(single_hop)),
    )


@dataclass(frozen=True, slots=True)
class Within:
    """Containment of answers: "Richmond, Virginia" contains "Virginia"."""

    mentions: Adjacency
    """Question → groups of the names in its answer (or in another text, as in ``needless.py``)."""
    groups: Adjacency
    """Question → groups of its answer's names."""

    def joins(self, first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]) -> Bools:
        """For each pair of questions, whether the answer of ``first`` contains a name of the answer of ``second``."""
        firsts, seconds = first.astype(np.int64), second.astype(np.int64)
        return _meeting(firsts, seconds, self.mentions.offsets, self.mentions.targets, self.groups.offsets, self.groups.targets)


def answers_within(single_hop: pa.Table) -> Within:
    """Look for all names of answers in all answers. O(bytes)."""
    return Within(*names_and_answers(single_hop, single_hop["answer"].combine_chunks()))


@kernel
def _meeting(first, second, mention_offsets, mentions, group_offsets, groups):  # type: ignore[no-untyped-def]
    out = np.zeros(len(first), np.bool_)
    for i in range(len(first)):
        out[i] = meet(mention_offsets, mentions, first[i], group_offsets, groups, second[i])
    return out


@dataclass(frozen=True, slots=True)
class Sides:
    """The heads and tails of each answer, before they are joined to pairs.

    ``turn`` is the rank of a question among the heads, or tails, of its answer: first those that can be in a pair, in random order.
    """

    work: Work
    tokens: npt.NDArray[np.int32]
    """Words of each question."""
    is_entity: Bools
    """For each question whether its answer is a named entity."""
    heads: pl.DataFrame
    """``head``, ``group`` (the answer), ``short``, ``entity`` (and short), ``turn``."""
    tails: pl.DataFrame
    """``tail``, ``group``, ``start``, ``end``, ``alone`` (no part of a longer name), ``short``, ``whole`` (alone and short), ``turn``."""

    @classmethod
    def of(cls, single_hop: pa.Table, paragraphs: pa.Table, settings: PairSettings, lengths: ShapeSettings, *, seed: int) -> Sides:
        """Find the heads and tails of a pool."""
        work, tokens = Work.of(single_hop), tokens_of(single_hop)
        is_entity = entity_answers(single_hop, paragraphs, settings)
        is_short = pl.Series(tokens <= lengths.max_tokens)
        heads = pl.DataFrame({"head": work.owners, "group": work.groups}).filter(pl.col("group") >= 0).unique()
        heads = heads.with_columns(short=is_short.gather(heads["head"]))
        heads = heads.with_columns(entity=pl.col("short") & pl.Series(is_entity).gather(heads["head"]))
        mentions = work.mentions
        start, end = _characters(single_hop["question"], mentions)
        is_separate = ~mentions.inside & _stands_alone(mentions, single_hop["question"])
        tails = pl.DataFrame({"tail": mentions.text, "group": mentions.name, "start": start, "end": end, "alone": is_separate})
        tails = tails.sort("tail", "group", ~pl.col("alone"), "start").unique(["tail", "group"], keep="first", maintain_order=True)
        tails = tails.with_columns(short=is_short.gather(tails["tail"]))
        tails = tails.with_columns(whole=pl.col("short") & pl.col("alone"))
        heads, tails = _with_turns(heads, "head", "entity", single_hop, seed), _with_turns(tails, "tail", "whole", single_hop, seed)
        return cls(work=work, tokens=tokens, is_entity=is_entity, heads=heads, tails=tails)


def _with_turns(table: pl.DataFrame, column: str, first: str, single_hop: pa.Table, seed: int) -> pl.DataFrame:
    """Adds ``turn``, the rank in the group: rows for which ``first`` holds come first, in random order by the question's id.

    Relations take turns, so that a common answer does not leave all its places to one of them.
    """
    ids = text_hashes(single_hop["id"])[table[column].to_numpy()]
    draws = shuffling(ids, table["group"].to_numpy(), purpose=f"{column}s of a bridge", seed=seed)
    kinds = frame(single_hop.select(["kind", "relations"])).select(
        of=pl.concat_str("kind", pl.col("relations").list.join(" "), separator=" ")
    )
    ordered_rows = table.with_columns(drawn=pl.Series(draws), of=kinds["of"].gather(table[column])).sort(
        "group", ~pl.col(first), "drawn", column
    )
    ordered_rows = ordered_rows.with_columns(place=pl.int_range(pl.len()).over("group", first, "of")).sort(
        "group", ~pl.col(first), "place", "drawn", column
    )
    return ordered_rows.with_columns(turn=pl.int_range(pl.len()).over("group")).drop("drawn", "of", "place")


def _stands_alone(mentions: Mentions, questions: pa.ChunkedArray) -> Bools:
    """Whether no capital, figure or hyphen extends the name on either side; unknown in a question without capitals."""
    data, offsets = text_buffers(questions)
    begin, end = offsets[mentions.text], offsets[mentions.text + 1]
    start, stop = begin + mentions.start, begin + mentions.end
    joiners = np.frombuffer(b"-&/", np.uint8)
    next_byte = data[np.minimum(stop, len(data) - 1)]
    second_case = cases_at(data, stop + 1, case_table())
    previous_byte = data[np.maximum(start - 1, 0)]
    is_separate = ~((stop < end) & np.isin(next_byte, joiners)) & ~((start > begin) & np.isin(previous_byte, joiners))
    goes_on = (stop + 1 < end) & (next_byte == ord(" ")) & ((second_case == CAPITAL) | (second_case == FIGURE))
    word = _word_before(data, begin, start)
    return is_separate & ~goes_on & ~((word >= 0) & (cases_at(data, np.maximum(word, 0), case_table()) == CAPITAL))


@kernel
def _word_before(data, begin, start):  # type: ignore[no-untyped-def]
    """Start of the word before each place; -1 where there is none, or where it begins the question."""
    starts = np.full(len(start), -1, np.int64)
    for i in range(len(start)):
        at = start[i] - 2
        if at < begin[i] or data[start[i] - 1] != 32:
            continue
        while at > begin[i] and data[at - 1] != 32:
            at -= 1
        if at > begin[i]:
            starts[i] = at
    return starts


def _characters(texts: pa.ChunkedArray, places: Mentions) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Starts and ends of the places in characters instead of bytes."""
    data, offsets = text_buffers(texts)
    leads = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
    base = leads[offsets[places.text]]
    start, end = offsets[places.text] + places.start, offsets[places.text] + places.end
    return (leads[start] - base).astype(np.int32), (leads[end] - base).astype(np.int32)
