"""A sample, cut up for the template: texts with the two entities of a hop marked, and the relations between them."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.collection.reading import Hop, Reading
from kgqa.records import Paragraph
from kgqa.web.marks import Piece, pieces

CHAINS = 3
"""Chains of one candidate that are shown; more are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownHop:
    """A hop with its document's text."""

    hop: Hop
    title: str
    role: str
    """Role of the entity that the hop leads to: ``answer`` at the end of the chain, otherwise ``bridge``."""
    pieces: tuple[Piece, ...]
    unmarked: tuple[str, ...]
    """Those of the two entities that the graph links with the document but the text does not mention, as the subject of an article."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChain:
    """A chain as a sequence of hops."""

    hops: tuple[ShownHop, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCandidate:
    """A candidate with its chains."""

    id: str
    text: str
    chains: tuple[ShownChain, ...]
    more: int
    """Chains that are not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """A document that is on no chain to the answer that is shown."""

    id: str
    title: str
    supporting: bool
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSample:
    """A sample as the page shows it."""

    answer: ShownCandidate
    others: tuple[ShownCandidate, ...]
    documents: tuple[ShownDocument, ...]


def sample_view(reading: Reading) -> ShownSample:
    """Put a sample together: the chains to the answer, those to the other candidates, and the documents that are not on the former."""
    instance = reading.instance
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    answer = _candidate(reading, paragraphs, instance.answer_id or "", reading.answer)
    documents = {step.hop.document for chain in answer.chains for step in chain.hops}
    roles = dict.fromkeys((candidate.id for candidate in reading.others), "candidate")
    roles |= {instance.answer_id: "answer"} if instance.answer_id else {}
    return ShownSample(
        answer=answer,
        others=tuple(_candidate(reading, paragraphs, candidate.id, candidate.text) for candidate in reading.others),
        documents=tuple(
            ShownDocument(
                id=other.id,
                title=other.title or other.id,
                supporting=bool(other.supporting),
                pieces=_pieces(other, roles),
            )
            for other in instance.paragraphs
            if other.id not in documents
        ),
    )


def _candidate(reading: Reading, paragraphs: dict[str, Paragraph], id: str, text: str) -> ShownCandidate:  # noqa: A002 - what it is
    chains = reading.chains.get(id, ())
    shown_chains = tuple(ShownChain(hops=tuple(_hop(hop, paragraphs, last=hop.entity == id) for hop in chain)) for chain in chains[:CHAINS])
    return ShownCandidate(id=id, text=text, chains=shown_chains, more=len(chains) - len(shown_chains))


def _hop(hop: Hop, paragraphs: dict[str, Paragraph], *, last: bool) -> ShownHop:
    paragraph, role = paragraphs.get(hop.document), "answer" if last else "bridge"
    if paragraph is None:
        return ShownHop(hop=hop, title="this document is not in the record", role=role, pieces=(), unmarked=())
    mentioned = {mention.entity for mention in paragraph.mentions or ()}
    return ShownHop(
        hop=hop,
        title=paragraph.title or hop.document,
        role=role,
        pieces=_pieces(paragraph, {hop.before: "start", hop.entity: role}),
        unmarked=tuple(entity for entity in (hop.before, hop.entity) if entity not in mentioned),
    )


def _pieces(paragraph: Paragraph, roles: dict[str, str]) -> tuple[Piece, ...]:
    """Only mentions of entities with a role are marked."""
    mentions = [mention for mention in paragraph.mentions or () if mention.entity in roles]
    return tuple(pieces(paragraph.text, mentions, roles=roles, steps={}))
