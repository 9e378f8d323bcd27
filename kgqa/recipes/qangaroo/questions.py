"""Turns facts into questions and assigns them to splits, before any filter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.rows import paired
from kgqa.errors import EmptyResult, SettingsError
from kgqa.recipes.qangaroo.corpus import Facts, asked_facts
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.settings.qangaroo import QangarooSettings, SplitSettings
from kgqa.splits.groups import assign_splits

ARROW = " → "
"""Joins the labels of the relations of a path."""


def ask(tables: Mapping[str, pa.Table], settings: QangarooSettings, *, seed: int) -> Questions:
    """One question for each fact that the settings select; raises EmptyResult if there is none.

    No subject (``splits.by = "head"`` or ``"bridge"``), or no unordered pair of subject and answer (``"pair"``), is in two splits.
    """
    facts = asked_facts(tables, settings)
    if not len(facts.head):
        raise EmptyResult("no fact has one of the relations in qangaroo.relations; change that setting, or add facts.")
    entities = tables["entities"]["id"].combine_chunks()
    head, tail = entities.take(pa.array(facts.head)), entities.take(pa.array(facts.tail))
    relation = tables["relations"]["id"].combine_chunks().take(pa.array(facts.relation))
    if settings.splits.by != "pair" and settings.both_directions and facts.turned:
        raise SettingsError(
            "qangaroo.splits.by must be 'pair' if symmetric facts become questions in both directions: the two must be in the same split."
        )
    rank = _rank_among_objects(facts, text_hashes(joined(head, relation, tail)))
    split = splits_of(head, tail, settings.splits, seed=seed)
    return Questions(
        id=text_hashes(joined(head, relation, pa.array(rank).cast(pa.string()))),
        split=split,
        head=facts.head,
        relation=facts.relation,
        answer=facts.tail,
    )


def splits_of(head: pa.Array, tail: pa.Array, settings: SplitSettings, *, seed: int) -> npt.NDArray[np.int8]:
    """The split of each question from ``head`` to ``tail`` (ids): by its head, or by the unordered pair."""
    group = head
    if settings.by == "pair":
        is_inverse = pc.greater(head, tail)
        group = joined(pc.if_else(is_inverse, tail, head), pc.if_else(is_inverse, head, tail))
    return assign_splits(group, (settings.train, settings.dev, settings.test), seed=seed)


def _rank_among_objects(facts: Facts, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """The rank of each fact, by hash, among those with the same head and relation.

    Ids of questions contain this rank and not the object. Otherwise anyone could hash the candidates and find the answer.
    """
    order = np.lexsort((hashes, facts.relation, facts.head))
    pairs = paired(facts.head, facts.relation)[order]
    place = np.arange(len(order))
    group_starts = np.maximum.accumulate(np.where(np.concatenate([[True], pairs[1:] != pairs[:-1]]), place, 0))
    rank = np.empty(len(order), np.int64)
    rank[order] = place - group_starts
    return rank


def joined(*parts: pa.Array) -> pa.Array:
    r"""The texts of all ``parts``, row by row, separated by tabs.

    >>> joined(pa.array(["a"]), pa.array(["b"])).to_pylist()
    ['a\tb']
    """
    return pc.binary_join_element_wise(*parts, "\t")


def first_try(questions: Questions, limit: int, *, seed: int) -> npt.NDArray[np.bool_]:
    """A reproducible random choice of ``limit`` questions (bool); a larger ``limit`` adds questions to a smaller one."""
    order = np.argsort(shuffling(questions.id, np.zeros(len(questions), np.int64), purpose="first try", seed=seed), kind="stable")
    mask = np.zeros(len(questions), np.bool_)
    mask[order[:limit]] = True
    return mask
