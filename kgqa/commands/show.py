"""``kgqa show``: one sample of a dataset, and its chains with names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from kgqa.errors import BrokenInput, EmptyResult, MissingInput, UnknownId
from kgqa.formats import native
from kgqa.formats.fetching import fetched
from kgqa.records import Instance
from kgqa.runs.labels import labels, names_in, relations_among, workspace_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A step of a chain: over a document to the next entity."""

    document: str
    title: str
    """Title of the document; empty if it has none."""
    relations: tuple[str, ...]
    """Labels of the relations between the previous entity and this one; empty without any, or without a graph."""
    forward: bool
    """Whether the previous entity is the head of the relations; otherwise it is their tail."""
    entity: str
    name: str
    """The entity's label; empty if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChain:
    """A chain from the subject to the answer, with names."""

    entity: str
    """Entity at the beginning of the chain."""
    name: str
    hops: tuple[Hop, ...]


def show(dataset: str | Path, id: str | None = None, *, masked: bool = False) -> Instance:  # noqa: A002 - what people call it
    """The sample with this ``id``, by default the first one; ``masked`` returns its twin. Raises UnknownId, InputError or EmptyResult."""
    folder = fetched(dataset)
    files = native.split_files(folder)
    if os.path.lexists(folder / "manifest.json") and not native.manifest_of(folder):
        raise BrokenInput(f"{folder / 'manifest.json'}: this manifest is empty; get or make the dataset again, or remove the file.")
    if masked:
        folder /= "masked"
        if not os.path.lexists(folder):
            raise MissingInput(f"{dataset}: this dataset has no masked twin; leave out --masked.")
        files = native.split_files(folder)
    example = ""
    for path in files.values():
        first = next(native.read(path, batch=1), None)
        instance = first if id is None else native.find(path, id)
        if instance:
            return instance
        example = example or (first.id if first else "")
    if id is None:
        raise EmptyResult(f"{folder}: the dataset has no samples; show another one.")
    raise UnknownId(f"{dataset}: there is no sample {id!r}" + (f"; an id looks like {example}." if example else "."))


def named_chains(dataset: str | Path, instance: Instance) -> tuple[NamedChain, ...]:
    """The chains of ``instance`` to its answer, with names.

    Names and relations come from the workspace of ``dataset``. Outside a workspace, names come from the instance, and relations are
    unknown.
    """
    chains = [chain for chains in instance.chains or () for chain in chains if chain and chain[-1] == instance.answer_id]
    titles = {paragraph.id: paragraph.title or "" for paragraph in instance.paragraphs}
    place = workspace_of(fetched(dataset))
    entities = {entity for chain in chains for entity in chain[::2]}
    names = names_in(instance) | ({} if place is None else labels(place, "entities", entities))
    relations = {} if place is None else relations_among(place, entities)

    def hop(before: str, document: str, entity: str) -> Hop:
        forward_relations = relations.get((before, entity), ())
        return Hop(
            document=document,
            title=titles.get(document, ""),
            relations=forward_relations or relations.get((entity, before), ()),
            forward=bool(forward_relations),
            entity=entity,
            name=names.get(entity, ""),
        )

    return tuple(
        NamedChain(entity=chain[0], name=names.get(chain[0], ""), hops=tuple(map(hop, chain[::2], chain[1::2], chain[2::2])))
        for chain in chains
    )
