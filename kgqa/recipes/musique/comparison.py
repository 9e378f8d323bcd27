"""Step S3 (Trivedi et al. 2022): connected and unfiltered pairs as two-hop questions, to compare their shortcut baselines."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.parallel import Engine
from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.contexts import build_contexts, masked_texts
from kgqa.recipes.musique.instances import InstanceMaker
from kgqa.recipes.musique.leakage import shared_items
from kgqa.recipes.musique.shapes import CHAINS, hops_of
from kgqa.records import SPLITS, Instance
from kgqa.splits.cut import leak_free
from kgqa.splits.groups import assign_splits

SHARES = (0.5, 0.25, 0.25)
PARAGRAPHS = 20
MOST = 2000
"""Maximum number of pairs, before and after the filter, for the card's scores."""


def two_hops(
    pairs: pa.Table, single_hop: pa.Table, paragraphs: pa.Table, *, count: int, seed: int, engine: Engine, random: bool = False
) -> dict[str, list[Instance]]:
    """Split → two-hop questions of ``count`` sampled ``pairs``: the tail's question with the head's in brackets in place of the bridge.

    This is no English, but it has the content of a composed question, whatever the composer. Splits share no question, answer or paragraph,
    unless they are drawn at ``random``.
    """
    hashes = text_hashes(single_hop["id"])
    rows = _sample(pairs, hashes, count, seed)
    edges = np.full((len(rows), 3), -1, np.int32)
    edges[:, 0] = rows
    shape = np.zeros(len(rows), np.int8)
    hops = hops_of(shape, edges, pairs)
    ids = hashes[hops[:, 0]] ^ hashes[hops[:, 1]]
    if random:
        split = assign_splits(pa.array([str(chain_id) for chain_id in ids.tolist()]), SHARES, seed=seed)
    else:
        split = leak_free(shared_items(hops, single_hop), SHARES, seed=seed).split
    queries = masked_texts(single_hop, pairs, hops, edges)
    contexts = build_contexts(queries, hops, single_hop, paragraphs, count=PARAGRAPHS, seed=seed, ids=ids, engine=engine)
    chains = Chains(
        pa.table([pa.array(column) for column in (shape, *edges.T, ids)], schema=CHAINS), pairs, single_hop, paragraphs
    )  # fmt: skip
    maker = InstanceMaker(chains)
    instances: dict[str, list[Instance]] = {}
    for number, name in enumerate(SPLITS):
        members = np.flatnonzero((split == number) & (contexts >= 0).all(axis=1)).tolist()
        instances[name] = list(
            maker.make(members, [_question(chains, row) for row in members], [contexts[row].tolist() for row in members], "none")
        )
    return instances


def _sample(pairs: pa.Table, ids: npt.NDArray[np.uint64], count: int, seed: int) -> npt.NDArray[np.int32]:
    head, tail = pairs["head"].to_numpy(), pairs["tail"].to_numpy()
    draws = shuffling(ids[head], ids[tail].view(np.int64), purpose="pairs to compare", seed=seed)
    return np.sort(np.argsort(draws, kind="stable")[:count]).astype(np.int32)


def _question(chains: Chains, row: int) -> str:
    first, second = chains[row].hops
    [need] = second.needs
    return f"{second.question[: need.start]}({first.question}){second.question[need.end :]}"
