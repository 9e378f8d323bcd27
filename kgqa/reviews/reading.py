"""A sample for annotation: its chains hop by hop, with names and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.formats import native
from kgqa.records import Candidate, Instance
from kgqa.reviews.draw import Drawn
from kgqa.runs.labels import Pair, labels, names_in, relations_among, workspace_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a chain, over a document that is to connect two entities."""

    before: str
    document: str
    entity: str
    forward: tuple[str, ...]
    """Labels of the facts with ``before`` as their subject and ``entity`` as their object."""
    backward: tuple[str, ...]
    """Relations in the inverse direction, without symmetric ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A sample as it is laid before a reader."""

    instance: Instance
    split: str
    names: Mapping[str, str]
    """Entity → what it is called; its id where nobody knows better."""
    chains: Mapping[str, tuple[tuple[Hop, ...], ...]]
    """Candidate, or answer → its chains."""
    knows_graph: bool
    """Whether facts were looked up; else the dataset lies outside of its workspace, and hops have none."""

    @property
    def grades(self) -> dict[str, str]:
        """The answer and the best other candidate → their grades in words; empty without grades."""
        answer, other = self.instance.answer_grade, self.instance.best_other
        shown = {} if answer is None else {"the answer": str(answer)}
        if other is not None:
            shown[f"the best other, {other[0].text}"] = str(other[1])
        return shown

    @property
    def answer_chains(self) -> tuple[tuple[Hop, ...], ...]:
        """The chains to the answer."""
        return self.chains.get(self.instance.answer_id or "", ())

    @property
    def others(self) -> tuple[Candidate, ...]:
        """The candidates that are not the answer."""
        return tuple(candidate for candidate in self.instance.candidates or () if candidate.id != self.instance.answer_id)

    @property
    def answer(self) -> str:
        """The answer, for people."""
        return self.instance.answers[0] if self.instance.answers else "no answer"


def readings(dataset: Path, drawn: Drawn) -> tuple[Reading, ...]:
    """The samples that were drawn, in their order; memory: these. Raises as reading the dataset does."""
    files = native.split_files(dataset)
    instances: dict[str, Instance] = {}
    for split in dict.fromkeys(drawn.splits.values()):
        wanted = {sample for sample, place in drawn.splits.items() if place == split}
        instances |= {instance.id: instance for instance in native.take(files[split], wanted)}
    chains = {sample: _by_end(instance) for sample, instance in instances.items()}
    entities = {entity for found in chains.values() for paths in found.values() for path in paths for entity in path[::2]}
    place = workspace_of(dataset)
    named = {} if place is None else labels(place, "entities", entities)
    facts = {} if place is None else relations_among(place, entities)
    return tuple(
        Reading(
            instance=instances[sample],
            split=split,
            names=_names(instances[sample], chains[sample], named),
            chains={end: tuple(_hops(path, facts) for path in paths) for end, paths in chains[sample].items()},
            knows_graph=place is not None,
        )
        for sample, split in drawn.splits.items()
    )


def _names(instance: Instance, chains: Mapping[str, list[tuple[str, ...]]], named: dict[str, str]) -> dict[str, str]:
    """Names of the entities of the chains: from the workspace, else from the sample, else their ids."""
    known = names_in(instance) | named
    return {entity: known.get(entity, entity) for paths in chains.values() for path in paths for entity in path[::2]}


def _by_end(instance: Instance) -> dict[str, list[tuple[str, ...]]]:
    """Candidate → its chains."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for chains in instance.chains or ():
        for chain in chains:
            if len(chain) > 2:
                found.setdefault(chain[-1], []).append(chain)
    return found


def _hops(chain: tuple[str, ...], facts: Mapping[Pair, tuple[str, ...]]) -> tuple[Hop, ...]:
    return tuple(
        Hop(
            before=before,
            document=document,
            entity=entity,
            forward=(forward := facts.get((before, entity), ())),
            backward=tuple(label for label in facts.get((entity, before), ()) if label not in forward),
        )
        for before, document, entity in zip(chain[::2], chain[1::2], chain[2::2], strict=False)
    )
