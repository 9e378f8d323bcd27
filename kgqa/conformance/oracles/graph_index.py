"""A random graph as dictionaries for the oracles: slow, plain, and sharing no code with a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from kgqa.conformance.graphs import Document, Entity, Fact, Mention, RandomGraph

Steps = dict[str, list[str]]
"""Id → the ids one step away."""
Chain = tuple[str, ...]
"""Ids of an entity, a document, an entity, …"""


class GraphIndex:
    """A graph's rows by id."""

    def __init__(self, graph: RandomGraph) -> None:
        """Index ``graph``, which must not change."""
        self.graph = graph
        self.entities: dict[str, Entity] = {entity.id: entity for entity in graph.entity}
        self.documents: dict[str, Document] = {document.id: document for document in graph.document}
        self.facts_from: defaultdict[str, list[Fact]] = defaultdict(list)
        self.facts_to: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in graph.fact:
            self.facts_from[fact.head].append(fact)
            self.facts_to[fact.tail].append(fact)
        self.mentions_in: defaultdict[str, list[Mention]] = defaultdict(list)
        self.mentions_of: defaultdict[str, list[Mention]] = defaultdict(list)
        for mention in graph.mentions:
            self.mentions_in[mention.document].append(mention)
            self.mentions_of[mention.entity].append(mention)
        self.articles: defaultdict[str, list[str]] = defaultdict(list)
        for article in graph.about:
            self.articles[article.entity].append(article.document)
        self._chains: dict[tuple[int, str, int], list[Chain]] = {}

    def named(self, document: str) -> set[str]:
        """The entities that a document mentions."""
        return {mention.entity for mention in self.mentions_in[document]}

    def naming(self, entity: str) -> set[str]:
        """The documents that mention an entity."""
        return {mention.document for mention in self.mentions_of[entity]}

    def facts(self, head: str, tail: str, relation: str) -> list[Fact]:
        """The facts of this relation from ``head`` to ``tail``."""
        return [fact for fact in self.facts_from[head] if fact.tail == tail and fact.relation == relation]

    def targets_in(self, entity: str, document: str, *, relations: Iterable[str]) -> bool:
        """Whether the document mentions an object of one of the entity's facts of these relations."""
        return any(fact.relation in relations and fact.tail in self.named(document) for fact in self.facts_from[entity])

    @cached_property
    def wikihop(self) -> tuple[Steps, Steps]:
        """WikiHop's edges: from an entity to its usable article, from a document to what it mentions."""
        out = {entity: [d for d in self.articles[entity] if self.documents[d].usable] for entity in self.entities}
        return out, {document: sorted(self.named(document)) for document in self.documents}

    @cached_property
    def medhop(self) -> tuple[Steps, Steps]:
        """MedHop's edges: those of the paper, and from a protein to abstracts with a drug that targets it."""
        return self._medhop(back=("target", "protein_interaction"))

    @cached_property
    def medhop_paper(self) -> tuple[Steps, Steps]:
        """The paper's edges: to abstracts with a target or partner of the entity, and from them to proteins and to drugs with a target
        there."""
        return self._medhop(back=("protein_interaction",))

    def _medhop(self, back: tuple[str, ...]) -> tuple[Steps, Steps]:
        """MedHop's edges, where the tails of ``back`` lead on as the heads of all do."""
        out: Steps = {entity: [] for entity in self.entities}
        into: Steps = {document: [] for document in self.documents}
        for document in self.documents:
            for entity in self.named(document):
                leads_on = any(f.relation in back and f.head in self.named(document) for f in self.facts_to[entity])
                leads_on = leads_on or self.targets_in(entity, document, relations=("target", "protein_interaction"))
                if leads_on and self.documents[document].usable:
                    out[entity].append(document)
                if self.entities[entity].kind == "protein" or self.targets_in(entity, document, relations=("target",)):
                    into[document].append(entity)
        return out, into

    def over_proteins(self, chains: Iterable[Chain]) -> list[Chain]:
        """The chains whose inner entities are all proteins."""
        return [chain for chain in chains if all(self.entities[name].kind == "protein" for name in chain[2:-1:2])]

    def chains(self, edges: tuple[Steps, Steps], start: str, documents: int) -> list[Chain]:
        """All chains over this number of ``documents`` without a repeated entity or document."""
        key = (id(edges), start, documents)
        if key not in self._chains:
            extended: list[Chain] = []
            for chain in [(start,)] if documents == 1 else self.chains(edges, start, documents - 1):
                for document in edges[0].get(chain[-1], []):
                    if document not in chain[1::2]:
                        extended += [(*chain, document, entity) for entity in edges[1][document] if entity not in chain[::2]]
            self._chains[key] = extended
        return self._chains[key]

    def reached(self, edges: tuple[Steps, Steps], start: str, documents: int, over: str | None = None) -> set[str]:
        """Entities reached over this number of ``documents``, which may repeat; inner entities must have the kind ``over``, if given."""
        ends = {start} if start in self.entities else set()
        for number in range(documents):
            open_ends = {end for end in ends if not number or over in {None, self.entities[end].kind}}
            ends = {entity for end in open_ends for document in edges[0][end] for entity in edges[1][document]}
        return ends - {start}

    def rows(self, chain: Chain) -> tuple[int, ...]:
        """The rows of a chain's nodes, the sort key of chains."""
        return tuple((self.documents if at % 2 else self.entities)[name].row for at, name in enumerate(chain))

    def row(self, entity: str) -> int:
        """The row of an entity."""
        return self.entities[entity].row

    def facts_by_row(self) -> list[Fact]:
        """All facts in the order of their rows."""
        return sorted(self.graph.fact, key=lambda fact: fact.row)

    def by_row(self, entities: Iterable[str]) -> list[str]:
        """Entity ids in the order of their rows."""
        return sorted(entities, key=self.row)

    def documents_by_row(self, documents: Iterable[str]) -> list[str]:
        """Document ids in the order of their rows."""
        return sorted(documents, key=lambda name: self.documents[name].row)


Row = tuple[object, ...]
Rows = Sequence[Row]
Oracle = Callable[..., Rows]
"""Maps a graph and a query's named arguments to the right rows."""
