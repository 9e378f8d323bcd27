"""A sample as JSON for a page: its documents, its chains with the facts of each hop, and the other candidates with theirs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from kgqa.collection.reading import Hop, Reading
from kgqa.records import Instance, Paragraph

CHAINS = 3
"""Chains of one candidate that are shown; more are counted."""


def question_view(instance: Instance, split: str) -> dict[str, Any]:
    """``sample, split, question, candidates, documents``: what a person sees who answers the question."""
    candidates = [{"id": candidate.id, "text": candidate.text} for candidate in instance.candidates or ()]
    ends = {candidate["id"] for candidate in candidates}
    return {
        "sample": instance.id,
        "split": split,
        "question": instance.question,
        "candidates": candidates,
        "documents": [_document(paragraph, ends) for paragraph in instance.paragraphs],
    }


def sample_view(reading: Reading) -> dict[str, Any]:
    """:func:`question_view` with the answer and all that leads to it.

    ``answer`` and each of ``others`` have ``id, text, chains`` and the number of ``more`` chains; a chain is a list of hops. ``names`` are
    those of the entities on chains, ``steps`` the decomposition. Mentions of other entities are left out.
    """
    instance = reading.instance
    answer = _candidate(reading, instance.answer_id or "", reading.answer)
    others = [_candidate(reading, candidate.id, candidate.text) for candidate in reading.others]
    entities_on_chains = {
        entity
        for candidate_view in (answer, *others)
        for chain in candidate_view["chains"]
        for hop in chain
        for entity in (hop["before"], hop["entity"])
    }
    entities = entities_on_chains | {answer["id"], *(other["id"] for other in others)}
    supporting = {paragraph.id for paragraph in instance.paragraphs if paragraph.supporting}
    return question_view(instance, reading.split) | {
        "answer": answer,
        "others": others,
        "names": {entity: name for entity, name in reading.names.items() if entity in entities_on_chains},
        "knows_graph": reading.knows_graph,
        "grades": reading.grades,
        "steps": [
            {"question": step.question, "answer": step.answer, "document": step.paragraph_id} for step in instance.decomposition or ()
        ],
        "documents": [_document(paragraph, entities) | {"supporting": paragraph.id in supporting} for paragraph in instance.paragraphs],
    }


def _candidate(reading: Reading, id: str, text: str) -> dict[str, Any]:  # noqa: A002 - what it is
    chains = reading.chains.get(id, ())
    return {
        "id": id,
        "text": text,
        "chains": [[_hop(hop) for hop in chain] for chain in chains[:CHAINS]],
        "more": max(0, len(chains) - CHAINS),
    }


def _hop(hop: Hop) -> dict[str, Any]:
    return {
        "before": hop.before,
        "document": hop.document,
        "entity": hop.entity,
        "forward": list(hop.forward),
        "backward": list(hop.backward),
    }


def _document(paragraph: Paragraph, entities: Collection[str]) -> dict[str, Any]:
    """A paragraph with the mentions of ``entities``: ``[start, end, entity]``, by place, the longer one first."""
    mentions = [
        [mention.start, mention.end, mention.entity]
        for mention in paragraph.mentions or ()
        if mention.entity in entities and 0 <= mention.start < mention.end <= len(paragraph.text)
    ]
    return {
        "id": paragraph.id,
        "title": paragraph.title or "",
        "text": paragraph.text,
        "mentions": sorted(mentions, key=lambda mention: (mention[0], -mention[1])),
    }
