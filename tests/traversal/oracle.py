"""What the traversal must find, by brute force in plain Python; the kernels are compared with it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

Adjacency = Sequence[Sequence[int]]
Chain = tuple[int, ...]
"""Rows of an entity, a document, an entity, …"""


def simple_chains(
    documents_of: Adjacency, entities_of: Adjacency, head: int, max_documents: int, *, closed: Collection[int] = ()
) -> list[Chain]:
    """All chains from ``head`` over at most ``max_documents`` documents that repeat no entity and no document.

    None leads on from an entity that is ``closed``, unless that is the head.
    """
    found: list[Chain] = [(head,)]
    for chain in found:
        if len(chain) <= 2 * max_documents and (chain[-1] == head or chain[-1] not in closed):
            ahead = [(document, entity) for document in documents_of[chain[-1]] for entity in entities_of[document]]
            found += [(*chain, d, e) for d, e in ahead if d not in chain[1::2] and e not in chain[::2]]
    return found[1:]


def candidates(chains: Collection[Chain], answer: int, end_points: Collection[int], other_answers: Collection[int]) -> list[int]:
    """What the chains end at, if that is the answer or an end point that is no other answer; nothing where the answer is not reached."""
    ends = {chain[-1] for chain in chains}
    return sorted(e for e in ends if e == answer or (e in end_points and e not in other_answers)) if answer in ends else []


def tree_chain(chains: Collection[Chain], candidate: int) -> Chain:
    """The lexicographically smallest of the shortest chains."""
    return min((chain for chain in chains if chain[-1] == candidate), key=lambda chain: (len(chain), chain))


def ordered_chains(chains: Collection[Chain], candidate: int, *, longer: bool, limit: int) -> list[Chain]:
    """All shortest (or, if ``longer``, all) chains: shorter first, then by the nodes read from the candidate back to the head."""
    mine = sorted((chain for chain in chains if chain[-1] == candidate), key=lambda chain: (len(chain), chain[::-1]))
    return [chain for chain in mine if longer or len(chain) == len(mine[0])][:limit]
