"""The two entities to connect, given by id or name. An ambiguous name gets a list of entities to choose from."""

from __future__ import annotations

from dataclasses import dataclass

from kgqa.errors import UnknownId
from kgqa.store.names import Names, find_names
from kgqa.web.explore.neighbours import Subject, find_entity
from kgqa.web.explore.stores import Graph

LISTED = 30
"""Maximum number of entities to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a path, resolved or not."""

    text: str
    """The id or name that the user typed."""
    subject: Subject | None = None
    names: Names | None = None
    """The entities to choose from, if the text is not the name of exactly one."""

    @property
    def shown(self) -> str:
        """The text in its field."""
        return self.subject.node.label if self.subject else self.text

    @property
    def id(self) -> str:
        """The entity's id; empty if it is unknown."""
        return self.subject.id if self.subject else ""


def find_end(graph: Graph, text: str, was: str = "") -> End:
    """The entity with this id or name. If the field's text is still the label of entity ``was``, the field means that entity.

    Raises QueryError for text that is none.
    """
    text = text.strip()
    if not text:
        return End(text="")
    if was and was != text:
        entity = graph.entities([was]).get(was)
        if entity and entity["label"] == text:
            return End(text=text, subject=find_entity(graph, was))
    try:
        return End(text=text, subject=find_entity(graph, text))
    except UnknownId:
        names = find_names(graph.stores, text, "entity", LISTED, seconds=graph.seconds)
    if names.total == 1:
        return End(text=text, subject=find_entity(graph, names.exact[0].id))
    return End(text=text, names=names)


def two_ends(graph: Graph, begin: tuple[str, str], end: tuple[str, str]) -> tuple[End, End]:
    """Both ends, each from a text and the id that its field had before. Raises UnknownId if they are the same entity."""
    first, second = find_end(graph, *begin), find_end(graph, *end)
    if first.subject and second.subject and first.id == second.id:
        raise UnknownId("both ends are the same entity; choose another one.")
    return first, second
