"""In which order a question's hops need its paragraphs."""

from __future__ import annotations

from kgqa.records import Instance


def paragraphs_in_hop_order(instance: Instance) -> list[str]:
    """Ids of the paragraphs that the steps, or else the answer's first chain, need, in order, each once; empty where nobody says it."""
    shown = {paragraph.id for paragraph in instance.paragraphs}
    needed: list[str] = [step.paragraph_id for step in instance.decomposition or () if step.paragraph_id]
    if not needed and instance.candidates and instance.chains:
        for candidate, chains in zip(instance.candidates, instance.chains, strict=False):
            if candidate.id == instance.answer_id and chains:
                needed = list(chains[0][1::2])
    return [name for name in dict.fromkeys(needed) if name in shown]
