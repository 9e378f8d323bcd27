"""Facts become questions, each in a split, before anything is filtered."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import EmptyResult
from kgqa.linking.tokens import shuffling, text_hashes
from kgqa.recipes.qangaroo.corpus import asked_facts
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.settings import QangarooSettings
from kgqa.splits.groups import assign_splits


def ask(tables: Mapping[str, pa.Table], settings: QangarooSettings, *, seed: int) -> Questions:
    """One question for each fact that the settings ask about; raises EmptyResult if there is none.

    No subject entity (``splits.by = "head"``), or no unordered pair of subject and answer (``"pair"``), is in two splits.
    """
    facts = asked_facts(tables, settings)
    if not len(facts.head):
        raise EmptyResult("no fact has one of the relations that are asked about; change qangaroo.relations, or add facts.")
    entities = tables["entities"]["id"].combine_chunks()
    head, tail = entities.take(pa.array(facts.head)), entities.take(pa.array(facts.tail))
    relation = tables["relations"]["id"].combine_chunks().take(pa.array(facts.relation))
    group = head
    if settings.splits.by == "pair":
        turned = pc.greater(head, tail)
        group = joined(pc.if_else(turned, tail, head), pc.if_else(turned, head, tail))
    return Questions(
        id=text_hashes(joined(head, relation, tail)),
        split=assign_splits(group, (settings.splits.train, settings.splits.dev, settings.splits.test), seed=seed),
        head=facts.head,
        relation=facts.relation,
        answer=facts.tail,
    )


def joined(*parts: pa.Array) -> pa.Array:
    """The texts of all ``parts``, row by row, with a tab between them."""
    return pc.binary_join_element_wise(*parts, "\t")


def first_try(questions: Questions, limit: int, *, seed: int) -> npt.NDArray[np.bool_]:
    """Which ``limit`` questions a first try asks: a random choice that grows with ``limit`` and never changes."""
    order = np.argsort(shuffling(questions.id, np.zeros(len(questions), np.int64), purpose="first try", seed=seed), kind="stable")
    chosen = np.zeros(len(questions), np.bool_)
    chosen[order[:limit]] = True
    return chosen
