"""Questions whose answer can be had along several chains, as in MedHop: one chain is kept, what the others need in addition goes.

A supporting fact is one without which the context does not suffice. Where several chains lead to the answer, no single paragraph of theirs
is such a fact, and removing one would make an instance that is labelled insufficient and is not.
"""

from __future__ import annotations

from kgqa.records import Instance, Paragraph


def without_alternatives(instance: Instance) -> tuple[tuple[Paragraph, ...], frozenset[str]] | None:
    """The paragraphs, with one chain to the answer marked as supporting, and the ids of those that were left out; None where it has none.

    The chain with the fewest documents is kept, the first of several. None too where the marked paragraphs are not those of the chains.
    """
    chains = _documents_of_answer_chains(instance)
    marked = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    if not chains or set().union(*chains) != marked:
        return None
    kept = min(chains, key=len)
    if kept == marked:
        return instance.paragraphs, frozenset()
    dropped = frozenset(marked - kept)
    return tuple(paragraph for paragraph in instance.paragraphs if paragraph.id not in dropped), dropped


def _documents_of_answer_chains(instance: Instance) -> list[set[str]]:
    return [
        set(chain[1::2])
        for candidate, chains in zip(instance.candidates or (), instance.chains or (), strict=False)
        if candidate.id == instance.answer_id
        for chain in chains
    ]
