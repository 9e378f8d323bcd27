"""``kgqa show``: one sample of a dataset, and its chains with the names of what they lead over."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.errors import EmptyResult, MissingInput, UnknownId
from kgqa.formats import native
from kgqa.records import Candidate, Grade, Instance
from kgqa.runs.workspace import Workspace

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a chain: over a document to the next entity."""

    document: str
    title: str
    """Empty where the document has none."""
    relations: tuple[str, ...]
    """What the graph says of the entity before and this one, as labels; empty: nothing, or nobody knows the graph."""
    forward: bool
    """Whether the entity before is the subject of the relations; false: their object."""
    entity: str
    name: str
    """Empty where nobody knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChain:
    """A chain from the subject to the answer, as people read it."""

    entity: str
    """Where it begins."""
    name: str
    hops: tuple[Hop, ...]


def show(dataset: str | Path, id: str | None = None, *, masked: bool = False) -> Instance:  # noqa: A002 - what people call it
    """The sample with this ``id``, or the first one; ``masked`` takes the twin. Raises UnknownId, MissingInput or EmptyResult."""
    folder = Path(dataset)
    files = native.split_files(folder)
    if masked:
        folder /= "masked"
        if not os.path.lexists(folder):
            raise MissingInput(f"{dataset}: this dataset has no masked twin; leave out --masked.")
        files = native.split_files(folder)
    example = ""
    for path in files.values():
        first = next(native.read(path, batch=1), None)
        found = first if id is None else native.find(path, id)
        if found:
            return found
        example = example or (first.id if first else "")
    if id is None:
        raise EmptyResult(f"{folder}: the dataset has no samples.")
    raise UnknownId(f"{dataset}: there is no sample {id!r}" + (f"; an id looks like {example}." if example else "."))


def named_chains(dataset: str | Path, instance: Instance) -> tuple[NamedChain, ...]:
    """The chains of ``instance`` to its answer, with names.

    Names and relations are those of the tables of the workspace in which ``dataset`` lies. Where it lies elsewhere, names are what the
    instance calls its entities, and no relations are known.
    """
    chains = [chain for chains in instance.chains or () for chain in chains if chain and chain[-1] == instance.answer_id]
    titles = {paragraph.id: paragraph.title or "" for paragraph in instance.paragraphs}
    place = _workspace(Path(dataset))
    entities = {entity for chain in chains for entity in chain[::2]}
    names = _names_in(instance) | ({} if place is None else _labels(place, "entities", entities))
    relations = {} if place is None else _relations(place, entities)

    def hop(before: str, document: str, entity: str) -> Hop:
        found = relations.get((before, entity), ())
        return Hop(
            document=document,
            title=titles.get(document, ""),
            relations=found or relations.get((entity, before), ()),
            forward=bool(found),
            entity=entity,
            name=names.get(entity, ""),
        )

    return tuple(
        NamedChain(entity=chain[0], name=names.get(chain[0], ""), hops=tuple(map(hop, chain[::2], chain[1::2], chain[2::2])))
        for chain in chains
    )


def answer_grade(instance: Instance) -> Grade | None:
    """The grade of the answer's best chain; None where nothing is known of it."""
    return next((grade for candidate, grade in _graded(instance) if candidate.id == instance.answer_id), None)


def best_other(instance: Instance) -> tuple[Candidate, Grade] | None:
    """The candidate with the best grade of those that are not the answer, the first of several; None where none has a grade."""
    others = [entry for entry in _graded(instance) if entry[0].id != instance.answer_id]
    return max(others, key=lambda entry: entry[1].confidence, default=None)


def _graded(instance: Instance) -> list[tuple[Candidate, Grade]]:
    pairs = zip(instance.candidates or (), instance.grades or (), strict=False)
    return [(candidate, grade) for candidate, grade in pairs if grade is not None]


def _names_in(instance: Instance) -> dict[str, str]:
    """Entity → what the instance itself calls it: a candidate's text, or how the documents write it most often."""
    written: dict[str, Counter[str]] = {}
    for paragraph in instance.paragraphs:
        for mention in paragraph.mentions or ():
            written.setdefault(mention.entity, Counter())[paragraph.text[mention.start : mention.end]] += 1
    # Of names that are written equally often, the longest says most.
    names = {entity: max(texts, key=lambda text: (texts[text], len(text), text)) for entity, texts in written.items()}
    names |= {candidate.id: candidate.text for candidate in instance.candidates or ()}
    return {entity: name for entity, name in names.items() if name != entity}


def _workspace(dataset: Path) -> Workspace | None:
    """The workspace in which ``dataset`` was made, if it still lies there and the tables are whole."""
    folder = Path(os.path.realpath(dataset))
    place = Workspace(folder.parent.parent)
    try:
        return place if folder.parent.name == "datasets" and place.finished("read_sources") is not None else None
    except OSError:
        return None


def _labels(place: Workspace, table: str, ids: Iterable[str]) -> dict[str, str]:
    """Id → label, of the rows of ``table`` with these ``ids``; an entity whose label is its id has no name."""
    found = pq.read_table(place.tables / f"{table}.parquet", columns=["id", "label"], filters=pc.field("id").isin(sorted(ids)))
    return {row["id"]: row["label"] for row in found.to_pylist() if row["label"] != row["id"]}


def _relations(place: Workspace, entities: set[str]) -> dict[Pair, tuple[str, ...]]:
    """Two entities → the labels of the facts that lead from the one to the other; symmetric ones both ways."""
    among = sorted(entities)
    inside = pc.field("head").isin(among) & pc.field("tail").isin(among)
    facts = pq.read_table(place.tables / "facts.parquet", columns=["head", "relation", "tail"], filters=inside).to_pylist()
    relations = {row["id"]: row for row in pq.read_table(place.tables / "relations.parquet").to_pylist()}
    found: dict[Pair, list[str]] = {}
    for fact in facts:
        relation = relations[fact["relation"]]
        for pair in [(fact["head"], fact["tail"]), *([(fact["tail"], fact["head"])] if relation["symmetric"] else [])]:
            found.setdefault(pair, []).append(relation["label"])
    return {pair: tuple(dict.fromkeys(labels)) for pair, labels in found.items()}
