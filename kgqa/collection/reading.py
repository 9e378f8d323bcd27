"""A sample for annotation: its chains hop by hop, with names and facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kgqa.collection.draw import DrawnSamples
from kgqa.formats import native
from kgqa.records import Candidate, Instance
from kgqa.runs.labels import Pair, labels, names_in, relations_among, workspace_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a chain: a document that connects two entities."""

    before: str
    document: str
    entity: str
    forward: tuple[str, ...]
    """Labels of the facts with ``before`` as their subject and ``entity`` as their object."""
    backward: tuple[str, ...]
    """Relations in the inverse direction, without symmetric ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A sample as shown to an annotator."""

    instance: Instance
    split: str
    names: Mapping[str, str]
    """Entity → its name; its id if no name is known."""
    chains: Mapping[str, tuple[tuple[Hop, ...], ...]]
    """Candidate or answer → its chains."""
    knows_graph: bool
    """Whether facts were looked up; False if the dataset is outside its workspace, and hops have no facts."""

    @property
    def grades(self) -> dict[str, str]:
        """The answer and the best other candidate → their grades in words; empty without grades."""
        answer, best_other = self.instance.answer_grade, self.instance.best_other
        grade_of = {} if answer is None else {"the answer": str(answer)}
        if best_other is not None:
            grade_of[f"the best other, {best_other[0].text}"] = str(best_other[1])
        return grade_of

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


def readings(dataset: Path, drawn: DrawnSamples) -> tuple[Reading, ...]:
    """The drawn samples, in their order, all in memory. Raises the errors of reading the dataset."""
    files = native.split_files(dataset)
    instances: dict[str, Instance] = {}
    for split in dict.fromkeys(drawn.splits.values()):
        ids = {sample for sample, workspace in drawn.splits.items() if workspace == split}
        instances |= {instance.id: instance for instance in native.take(files[split], ids)}
    chains = {sample: _chains_by_end(instance) for sample, instance in instances.items()}
    entities = {entity for chains_by_end in chains.values() for paths in chains_by_end.values() for path in paths for entity in path[::2]}
    workspace = workspace_of(dataset)
    entity_labels = {} if workspace is None else labels(workspace, "entities", entities)
    facts = {} if workspace is None else relations_among(workspace, entities)
    return tuple(
        Reading(
            instance=instances[sample],
            split=split,
            names=_names(instances[sample], chains[sample], entity_labels),
            chains={end: tuple(_hops(path, facts) for path in paths) for end, paths in chains[sample].items()},
            knows_graph=workspace is not None,
        )
        for sample, split in drawn.splits.items()
    )


def _names(instance: Instance, chains: Mapping[str, list[tuple[str, ...]]], entity_labels: dict[str, str]) -> dict[str, str]:
    """Names of the entities of the chains: from the workspace, else from the sample, else their ids."""
    names = names_in(instance) | entity_labels
    return {entity: names.get(entity, entity) for paths in chains.values() for path in paths for entity in path[::2]}


def _chains_by_end(instance: Instance) -> dict[str, list[tuple[str, ...]]]:
    """Candidate → its chains."""
    chains_by_end: dict[str, list[tuple[str, ...]]] = {}
    for chains in instance.chains or ():
        for chain in chains:
            if len(chain) > 2:
                chains_by_end.setdefault(chain[-1], []).append(chain)
    return chains_by_end


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
