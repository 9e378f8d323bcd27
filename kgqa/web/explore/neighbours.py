"""The neighbourhood of an entity or a document, cut to a size that can be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgqa.errors import UnknownId
from kgqa.web.explore.picture import Edge, Group, Node, Picture, document_node, entity_key, entity_node, in_turn, split_key
from kgqa.web.explore.stores import Graph

POOL = 500
"""Facts to choose from: those whose other end is mentioned most."""
MOST = 200
"""Maximum number of neighbours of one kind in a picture; lists with pages show more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Number of neighbours to show, by kind."""

    facts_in: int = 8
    facts_out: int = 10
    documents: int = 7
    entities: int = 16

    def __post_init__(self) -> None:
        """Raise UnknownId for numbers out of range."""
        if not all(0 <= number <= MOST for number in (self.facts_in, self.facts_out, self.documents, self.entities)):
            raise UnknownId(f"a number of neighbours is not between 0 and {MOST}; ask for fewer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """An entity or a document, with the texts of its page."""

    node: Node
    id: str
    description: str
    relations_in: tuple[dict[str, Any], ...] = ()
    """``relation``, ``label``, ``facts``, most first; of an entity."""
    relations_out: tuple[dict[str, Any], ...] = ()
    mentioned_in: int = 0
    """Documents that mention the entity."""
    articles: tuple[dict[str, Any], ...] = ()
    """``document``, ``title``: the articles about the entity."""
    subjects: tuple[dict[str, Any], ...] = ()
    """``entity``, ``kind``, ``label``: the subjects of the document, if it is an article."""
    mentions: int = 0
    """Entities that the document mentions."""
    usable: bool = True
    """False where the settings leave the document out of the traversal."""

    @property
    def facts_in(self) -> int:
        """Facts that end at the entity."""
        return sum(row["facts"] for row in self.relations_in)

    @property
    def facts_out(self) -> int:
        """Facts that begin at the entity."""
        return sum(row["facts"] for row in self.relations_out)


def find_entity(graph: Graph, entity: str) -> Subject:
    """The entity with this id; raises UnknownId."""
    row = graph.entities([entity]).get(entity)
    if row is None:
        raise UnknownId(f"there is no entity {entity!r} in this graph; look for its name.")
    return Subject(
        node=entity_node(row),
        id=entity,
        description=row["description"] or "",
        relations_in=tuple(graph.rows("page_relations_to", entity=entity)),
        relations_out=tuple(graph.rows("page_relations_from", entity=entity)),
        mentioned_in=sum(row["documents"] for row in graph.rows("page_mentioned_in_count", entity=entity)),
        articles=tuple(graph.rows("page_articles", entity=entity)),
    )


def find_document(graph: Graph, document: str) -> Subject:
    """The document with this id; raises UnknownId."""
    row = graph.documents([document]).get(document)
    if row is None:
        raise UnknownId(f"there is no document {document!r} in this graph; look for its title.")
    return Subject(
        node=document_node(row),
        id=document,
        description="",
        subjects=tuple(graph.rows("page_subjects", document=document)),
        mentions=sum(row["entities"] for row in graph.rows("page_mentions_count", document=document)),
        usable=bool(row["usable"]),
    )


def entity_picture(graph: Graph, subject: Subject, *, sizes: Sizes, relation: str = "") -> Picture:
    """Facts to and from an entity, its article, and documents that mention it; ``relation`` (``in:P17``) keeps one relation's."""
    picture = Picture(root=subject.node.key)
    picture.add(subject.node)
    way, _, only = relation.partition(":")
    if relation and way not in {"in", "out"}:
        raise UnknownId(f"{relation!r} is not a relation; write in:RELATION or out:RELATION.")
    if not relation:
        for row in subject.articles:
            picture.connect(Edge(source=subject.node.key, target=picture.add(document_node(row)), kind="article", label="article"))
    for name, outwards, relations in (("facts_in", False, subject.relations_in), ("facts_out", True, subject.relations_out)):
        total = sum(row["facts"] for row in relations if not relation or row["relation"] == only)
        if total and (not relation or outwards == (way == "out")):
            _add_facts(picture, graph, subject, outwards=outwards, count=getattr(sizes, name), total=total, relation=only)
    if not relation and subject.mentioned_in:
        rows = graph.rows("page_mentioned_in", entity=subject.id, limit=sizes.documents) if sizes.documents else []
        keys = []
        for row in rows:
            keys.append(picture.add(document_node(row)))
            picture.connect(Edge(source=keys[-1], target=subject.node.key, kind="mention", label=_times(row["mentions"])))
        _add_group(picture, "documents", "documents", len(rows), subject.mentioned_in, keys)
    return picture


def document_picture(graph: Graph, subject: Subject, *, sizes: Sizes) -> Picture:
    """The subject of a document and the entities that it mentions."""
    picture = Picture(root=subject.node.key)
    picture.add(subject.node)
    for row in subject.subjects:
        picture.connect(Edge(source=picture.add(entity_node(row)), target=subject.node.key, kind="article", label="article"))
    if subject.mentions:
        rows = graph.rows("page_mentions", document=subject.id, limit=sizes.entities) if sizes.entities else []
        keys = []
        for row in rows:
            keys.append(picture.add(entity_node(row)))
            picture.connect(Edge(source=subject.node.key, target=keys[-1], kind="mention", label=_times(row["mentions"])))
        _add_group(picture, "entities", "entities", len(rows), subject.mentions, keys)
    return picture


def _add_facts(picture: Picture, graph: Graph, subject: Subject, *, outwards: bool, count: int, total: int, relation: str) -> None:
    name = "page_facts_from" if outwards else "page_facts_to"
    rows = graph.rows(name, entity=subject.id, relation=relation, limit=POOL) if count else []
    entities = list(dict.fromkeys(row["entity"] for row in in_turn(rows, lambda row: str(row["relation"]))))[:count]
    drawn_rows = [row for row in rows if row["entity"] in set(entities)]
    by_id = {row["entity"]: row for row in reversed(drawn_rows)}
    keys = [picture.add(entity_node(by_id[entity])) for entity in entities]
    for row in drawn_rows:
        ends = (subject.node.key, entity_key(row["entity"]))
        source, target = ends if outwards else ends[::-1]
        picture.connect(Edge(source=source, target=target, kind="fact", label=row["relation_label"] or row["relation"]))
    _add_group(picture, "facts_out" if outwards else "facts_in", "facts", len(drawn_rows), total, keys)


def _add_group(picture: Picture, name: str, noun: str, shown_count: int, total: int, keys: list[str]) -> None:
    picture.groups.append(Group(node=picture.root, name=name, noun=noun, shown=shown_count, total=total, keys=tuple(keys)))


def _times(count: int) -> str:
    return "mentions" if count == 1 else f"mentions {count}×"


def neighbourhood(graph: Graph, key: str, *, sizes: Sizes, relation: str = "") -> Picture:
    """The picture around the node ``key`` (``e:Q84``, ``d:simple:53``); raises UnknownId."""
    kind, name = split_key(key)
    if kind == "entity":
        return entity_picture(graph, find_entity(graph, name), sizes=sizes, relation=relation)
    return document_picture(graph, find_document(graph, name), sizes=sizes)
