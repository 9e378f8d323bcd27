"""Steps S6 to S8 (Trivedi et al. 2022): composed chains become Instances, each with its decomposition and context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kgqa.formats.provenance import note
from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.composers.chain import Chain, referring
from kgqa.records import Instance, Paragraph, Step

NAME = "compose"
"""Key of the note in an Instance's provenance: the ``composer``, the ``shape``, the ``sources`` of the hops, and for a graph the
``entities`` of the answers (null where unknown) and the ``relations``. ``read`` marks the hops with a fact that a model read out of
an article."""


class InstanceMaker:
    """Makes the Instances of chains; equal paragraphs are one object."""

    def __init__(self, chains: Chains) -> None:
        """Start with an empty cache of paragraphs."""
        self._chains = chains
        self._ids, self._titles, self._texts = (chains.pool.paragraphs[name].to_pylist() for name in ("id", "title", "text"))
        self._paragraphs: dict[tuple[int, bool], Paragraph] = {}

    def make(self, rows: Sequence[int], questions: Sequence[str], contexts: Sequence[Sequence[int]], composer: str) -> Iterator[Instance]:
        """An Instance for each chain in ``rows``, with its composed question and the rows of its context."""
        for row, question, context in zip(rows, questions, contexts, strict=True):
            yield self._instance(row, question, context, composer)

    def _instance(self, row: int, question: str, context: Sequence[int], composer: str) -> Instance:
        chain, values = self._chains[row], self._chains.rows
        hops = [int(hop) for hop in self._chains.hops[row] if hop >= 0]
        supports = [int(str(values["paragraph"][hop])) for hop in hops]
        last_hop = chain.hops[-1]
        entity = values["answer_entity"][hops[-1]]
        record: dict[str, Any] = {"composer": composer, "shape": chain.shape, "sources": [str(values["source"][hop]) for hop in hops]}
        entities = [values["answer_entity"][hop] for hop in hops]
        if any(name is not None for name in entities):
            record["entities"] = entities
        if any(hop.relations for hop in chain.hops):
            record["relations"] = [list(hop.relations) for hop in chain.hops]
        if any(values["read"][hop] for hop in hops):
            record["read"] = [bool(values["read"][hop]) for hop in hops]
        return Instance(
            id=chain.id,
            question=question,
            paragraphs=tuple(self._paragraph(place, is_own=place in supports) for place in context),
            answers=tuple(dict.fromkeys((last_hop.answer, *last_hop.aliases))),
            answer_id=None if entity is None else str(entity),
            answer_type="span",
            decomposition=steps(chain, [self._ids[place] for place in supports]),
            answerable=True,
            group=chain.id,
            provenance=note(NAME, record),
        )

    def _paragraph(self, row: int, *, is_own: bool) -> Paragraph:
        paragraph = self._paragraphs.get((row, is_own))
        if paragraph is None:
            paragraph = Paragraph(id=self._ids[row], title=self._titles[row] or None, text=self._texts[row], supporting=is_own)
            self._paragraphs[row, is_own] = paragraph
        return paragraph


def steps(chain: Chain, paragraphs: Sequence[str]) -> tuple[Step, ...]:
    """The decomposition; ``#1`` in a question replaces the answer to the first hop."""
    return tuple(
        Step(
            id=hop.id, question=referring(hop), answer=hop.answer, paragraph_id=paragraph,
            depends_on=tuple(chain.hops[need.hop].id for need in sorted(hop.needs, key=lambda need: need.hop)),
        )
        for hop, paragraph in zip(chain.hops, paragraphs, strict=True)
    )  # fmt: skip
