"""Balances candidates as MedHop does: each gets the same number of chains, within the document limit (Welbl et al. 2018, section 4)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from kgqa.arrays.column_draws import shuffling, tie_breaker
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Rows
from kgqa.recipes.qangaroo.samples import CHAINS, Samples


def balance(samples: Samples, *, candidates: int, max_documents: int, seed: int) -> Samples:
    """Keep the answer and at most ``candidates - 1`` alternatives, each with the same number of chains.

    Alternatives with at least as many chains as the answer are preferred; ties are broken by hash. Chains are added in rounds, one per
    candidate and the answer's first, as long as a whole round fits into ``max_documents``. If not even the first round fits, only the
    alternatives that fit are kept. A sample keeps no candidate if its answer alone needs too many documents.

    The chains of a candidate are used from short to long, with ties broken by hash. If ``max_chains`` truncated them, only the first ones
    in document order are available. Graded chains are used best first instead.
    """
    kept_candidates, kept_chains = _choose(
        samples.candidates.offsets, samples.candidates.targets, samples.questions.answer, samples.questions.id,
        samples.chains.offsets, _chain_order(samples, seed), samples.nodes.offsets, samples.nodes.targets,
        candidates, max_documents, int(samples.nodes.targets.max(initial=0)) + 1, np.uint64(seed),
    )  # fmt: skip
    chains = Rows.numbering(samples.chains.keep(kept_chains).counts(), *CHAINS)
    nodes = samples.nodes.take(np.flatnonzero(kept_chains))
    return replace(samples, chains=chains, nodes=nodes).without_candidates(~kept_candidates).with_documents()


def draw_alternatives(samples: Samples, *, candidates: int, seed: int) -> Samples:
    """Keep the answer and ``candidates - 1`` alternatives, drawn by hash, so that only their chains are searched and not hundreds more."""
    question = samples.question_of_candidate()
    draws = shuffling(samples.questions.id[question], samples.candidates.targets, purpose="alternatives", seed=seed)
    order = np.lexsort((draws, ~samples.is_answer(), question))
    is_dropped = np.zeros(len(order), np.bool_)
    # The order keeps the questions together, so places within a question count the answer first, then the draws.
    is_dropped[order] = samples.candidates.places() >= candidates
    return samples.without_candidates(is_dropped)


def _chain_order(samples: Samples, seed: int) -> npt.NDArray[np.int64]:
    """The chains of each candidate in the order of the rounds: graded chains best first, others short ones first and then by hash."""
    candidate = samples.chains.sources()
    if samples.grades is not None:
        return np.arange(len(candidate))
    question = samples.question_of_candidate()[candidate]
    draws = shuffling(samples.questions.id[question], samples.chains.places(), purpose="chains", seed=seed)
    return np.lexsort((draws, samples.nodes.counts(), candidate))


@kernel
def _add(chain, node_offsets, nodes, stamp, mark, documents, limit):  # type: ignore[no-untyped-def]
    """Mark the documents of ``chain``; return the new number of documents, or -1, with nothing marked, if it would exceed ``limit``."""
    new_count = 0
    for at in range(node_offsets[chain] + 1, node_offsets[chain + 1], 2):
        if stamp[nodes[at]] != mark:
            new_count += 1
    if documents + new_count > limit:
        return -1
    for at in range(node_offsets[chain] + 1, node_offsets[chain + 1], 2):
        stamp[nodes[at]] = mark
    return documents + new_count


@kernel
def _choose(  # type: ignore[no-untyped-def]
    candidate_offsets, candidates, answers, ids, chain_offsets, chains, node_offsets, nodes, most_candidates, limit, largest, seed
):
    """The kernel of :func:`balance`: for each candidate and for each chain whether it is kept (two bool arrays)."""
    kept_candidates = np.zeros(len(candidates), np.bool_)
    kept_chains = np.zeros(len(node_offsets) - 1, np.bool_)
    stamp = np.full(largest, -1, np.int64)
    mark = 0
    for question in range(len(answers)):
        begin, end = candidate_offsets[question], candidate_offsets[question + 1]
        size = end - begin
        if size == 0:
            continue
        counts = chain_offsets[begin + 1 : end + 1] - chain_offsets[begin:end]
        answer = 0
        for i in range(size):
            if candidates[begin + i] == answers[question]:
                answer = i
        # The answer first, then candidates with as many chains as the answer, where more do not count; the hash is below 1 and breaks ties.
        keys = np.empty(size, np.float64)
        for i in range(size):
            keys[i] = -float(min(counts[i], counts[answer])) + tie_breaker(ids[question], candidates[begin + i], seed)
        keys[answer] = -np.inf
        order = np.argsort(keys)[:most_candidates]
        mark += 1
        documents = 0
        # The first round: a candidate whose chain does not fit is dropped; without the answer, so is the whole sample.
        members = np.empty(len(order), np.int64)
        count = 0
        for i in order:
            if counts[i] == 0:
                continue
            new_total = _add(chains[chain_offsets[begin + i]], node_offsets, nodes, stamp, mark, documents, limit)
            if new_total >= 0:
                documents = new_total
                members[count] = i
                count += 1
            elif i == answer:
                break
        rounds = 1
        answer_count = counts[answer]
        for k in range(count):
            answer_count = min(answer_count, counts[members[k]])
        while count > 0 and rounds < answer_count:
            # Keep a round only if it fits as a whole. The documents that a failed round marked do no harm, because it is the last one.
            round_total = documents
            for k in range(count):
                round_total = _add(chains[chain_offsets[begin + members[k]] + rounds], node_offsets, nodes, stamp, mark, round_total, limit)
                if round_total < 0:
                    break
            if round_total < 0:
                break
            documents = round_total
            rounds += 1
        for k in range(count):
            kept_candidates[begin + members[k]] = True
            for chain in range(chain_offsets[begin + members[k]], chain_offsets[begin + members[k]] + rounds):
                kept_chains[chains[chain]] = True
    return kept_candidates, kept_chains
