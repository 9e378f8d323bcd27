"""A sample: its chains as a picture, and its documents with marked mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgqa.errors import BrokenInput
from kgqa.formats.provenance import noted
from kgqa.records import Grade, Instance, Step
from kgqa.web.explore.datasets import head_of
from kgqa.web.explore.picture import Edge, Node, Picture, document_key, entity_key, in_turn
from kgqa.web.explore.stores import Graph
from kgqa.web.marks import Piece, pieces

DRAWN = 6
"""Maximum number of chains in one picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleDocument:
    """A document of a sample."""

    id: str
    title: str
    number: int
    """Position in the sample, from 1."""
    step: int | None
    """Position in the chain, from 1; None if it is not on the chain that is shown first."""
    supporting: bool
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePage:
    """A sample as the page shows it."""

    instance: Instance
    head: str
    """The subject's id; empty if the record lacks it."""
    names: dict[str, str]
    """Entity → its label."""
    chain: tuple[str, ...]
    """The answer's first chain: alternating entities and documents."""
    answer_chains: int
    grade: Grade | None
    """Grade of the answer's best chain."""
    documents: tuple[SampleDocument, ...]
    """Documents, those of the chain first and in its order."""
    picture: Picture


def open_sample(graph: Graph, instance: Instance, *, every: bool = False) -> SamplePage:
    """Collect the data of a sample's page. ``every`` draws the chains of all candidates, otherwise only those of the answer."""
    chains = _chains(instance)
    of_answer = chains.get(instance.answer_id or "", [])
    chain = of_answer[0] if of_answer else ()
    candidates = {candidate.id: candidate.text for candidate in instance.candidates or ()}
    head = head_of(instance)
    candidate_paths = [
        (candidate, path) for candidate, paths in chains.items() for path in paths if every or candidate == instance.answer_id
    ]
    candidate_paths.sort(key=lambda entry: entry[0] != instance.answer_id)
    # The first chain of every candidate comes before any second chain.
    picture_paths = in_turn(candidate_paths, lambda entry: entry[0])[:DRAWN]
    ids = [*candidates, head, *(node for _, path in picture_paths for node in path[::2])]
    entities = graph.entities([entity for entity in ids if entity])
    names = {entity: row["label"] or entity for entity, row in entities.items()} | candidates
    roles = dict.fromkeys(candidates, "candidate") | dict.fromkeys(chain[2:-1:2], "bridge")
    roles |= {head: "start"} | ({instance.answer_id: "answer"} if instance.answer_id else {})
    steps = {entity: number for number, entity in enumerate(chain[::2], start=1)}
    if instance.decomposition and not chains:
        picture, places = steps_picture(instance), _step_places(instance.decomposition)
    else:
        places = {document: number for number, document in enumerate(chain[1::2], start=1)}
        picture = _picture(
            instance,
            picture_paths,
            names=names,
            roles=roles,
            chain=chain,
            articles=_articles(graph, picture_paths),
            hidden=len(candidate_paths) - len(picture_paths),
        )
    return SamplePage(
        instance=instance,
        head=head,
        names=names,
        chain=chain,
        answer_chains=len(of_answer),
        grade=instance.answer_grade,
        documents=_documents(instance, places, roles, steps),
        picture=picture,
    )


def steps_picture(instance: Instance) -> Picture:
    """The steps of a composed question: from a sub-question over its paragraph to its answer, and on to the sub-questions that need it."""
    steps = instance.decomposition or ()
    entities = _step_entities(instance)
    picture = Picture(layout="flow")
    titles = {paragraph.id: paragraph.title or paragraph.id for paragraph in instance.paragraphs}
    numbers = {step.id: number for number, step in enumerate(steps, start=1)}
    needed = {need for step in steps for need in step.depends_on}
    answers: dict[str, str] = {}
    depths: dict[str, int] = {}
    for number, step in enumerate(steps, start=1):
        needs = [need for need in step.depends_on if need in answers]
        depth = depths[step.id] = 1 + max((depths[need] for need in needs), default=-1)
        question = picture.add(Node(key=f"u:{number}", label=f"#{number} {step.question}", note="sub-question", layer=3 * depth))
        before = question
        if step.paragraph_id is not None:
            title = titles.get(step.paragraph_id, step.paragraph_id)
            paper = Node(key=document_key(step.paragraph_id), label=title, note="document", layer=3 * depth + 1, step=number, role="chain")
            before = picture.add(paper)
            picture.connect(Edge(source=question, target=before, kind="row", label="stated in", chain=True))
        entity = entities[number - 1]
        key = f"a:{number}" if entity is None else entity_key(entity)
        role = "bridge" if step.id in needed else "answer"
        answer = Node(key=key, label=step.answer or "?", note="answer", layer=3 * depth + 2, role=role)
        answers[step.id] = picture.add(answer)
        picture.connect(Edge(source=before, target=key, kind="row", label="answer", chain=True))
        for need in needs:
            picture.connect(Edge(source=answers[need], target=question, kind="row", label=f"#{numbers[need]}", chain=True))
    picture.root = next(iter(picture.nodes), "")
    return picture


def _step_entities(instance: Instance) -> list[str | None]:
    """The entity of the answer to each step, where the record names it."""
    count = len(instance.decomposition or ())
    try:
        entities = noted(instance, "compose").get("entities")
    except BrokenInput:
        entities = None
    if not isinstance(entities, list) or len(entities) != count:
        return [None] * count
    return [entity if isinstance(entity, str) else None for entity in entities]


def _step_places(steps: Sequence[Step]) -> dict[str, int]:
    """Paragraph → the number of the first step whose answer it has."""
    places: dict[str, int] = {}
    for number, step in enumerate(steps, start=1):
        if step.paragraph_id is not None:
            places.setdefault(step.paragraph_id, number)
    return places


def _chains(instance: Instance) -> dict[str, list[tuple[str, ...]]]:
    """Candidate → its chains; a masked twin holds only the answer's, and its candidates' order is not that of the chains."""
    by_end: dict[str, list[tuple[str, ...]]] = {}
    for chains in instance.chains or ():
        for chain in chains:
            if chain:
                by_end.setdefault(chain[-1], []).append(chain)
    return by_end


def _documents(instance: Instance, place: dict[str, int], roles: dict[str, str], steps: dict[str, int]) -> tuple[SampleDocument, ...]:
    documents = [
        SampleDocument(
            id=paragraph.id,
            title=paragraph.title or paragraph.id,
            number=number,
            step=place.get(paragraph.id),
            supporting=bool(paragraph.supporting),
            pieces=tuple(pieces(paragraph.text, paragraph.mentions or (), roles=roles, steps=steps)),
        )
        for number, paragraph in enumerate(instance.paragraphs, start=1)
    ]
    last = len(documents) + 1
    return tuple(sorted(documents, key=lambda entry: (entry.step or last, not entry.supporting, entry.number)))


def _picture(
    instance: Instance,
    picture_paths: list[tuple[str, tuple[str, ...]]],
    *,
    names: dict[str, str],
    roles: dict[str, str],
    chain: tuple[str, ...],
    articles: set[tuple[str, str]],
    hidden: int,
) -> Picture:
    picture = Picture(root=entity_key(chain[0]) if chain else "", layout="flow")
    titles = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    place = {document: number for number, document in enumerate(chain[1::2], start=1)}
    for candidate, path in picture_paths:
        for layer, name in enumerate(path):
            if layer % 2:
                title = titles[name].title if name in titles else None
                role = "chain" if name in place and candidate == instance.answer_id else ""
                picture.add(
                    Node(key=document_key(name), label=title or name, note="document", layer=layer, step=place.get(name), role=role)
                )
            else:
                picture.add(Node(key=entity_key(name), label=names.get(name, name), layer=layer, role=roles.get(name, "")))
        for layer, (first, second) in enumerate(pairwise(path)):
            picture.connect(_edge(layer, first, second, articles=articles, chain=path == chain))
    if hidden:
        picture.hidden = f"{hidden:,} more chains are not drawn." if hidden > 1 else "1 more chain is not drawn."
    return picture


def _articles(graph: Graph, picture_paths: list[tuple[str, tuple[str, ...]]]) -> set[tuple[str, str]]:
    """(entity, its article) for all entities from which the paths lead on to a document."""
    ids = list(dict.fromkeys(entity for _, path in picture_paths for entity in path[:-1:2]))
    return {(entity, row["document"]) for entity in ids for row in graph.rows("page_articles", entity=entity)}


def _edge(layer: int, first: str, second: str, *, articles: set[tuple[str, str]], chain: bool) -> Edge:
    """One hop. An entity is linked with its article or a document that mentions it, a document with an entity in it."""
    if layer % 2:
        return Edge(source=document_key(first), target=entity_key(second), kind="mention", label="mentions", chain=chain)
    kind, label = ("article", "article") if (first, second) in articles else ("mention", "mentioned in")
    return Edge(source=entity_key(first), target=document_key(second), kind=kind, label=label, chain=chain)
