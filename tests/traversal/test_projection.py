"""The edges that the projection queries find in the real store are those of the papers' rules, written out here in plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kgqa.domains import load_domain
from kgqa.errors import EmptyResult, StoreError
from kgqa.store import embedded
from kgqa.store.graph import graph_rows
from kgqa.store.queries import read_queries
from kgqa.traversal.projection import graph_from_edges, project_edges

Edges = set[tuple[str, str]]
"""Document and entity."""


class Corpus:
    """A tiny domain, drawn at random, with both domains' kinds of entity and fact."""

    def __init__(self, rng: random.Random) -> None:
        self.kind = {f"e{i}": rng.choice(["drug", "protein", "protein"]) for i in range(8)}
        self.usable = {f"d{i}": rng.random() < 0.8 for i in range(7)}
        self.about = {document: rng.choice([None, *self.kind]) for document in self.usable}
        taken = list(self.about.values())
        self.about = {d: e if taken.count(e) == 1 else None for d, e in self.about.items()}
        self.mentions = {d: set(rng.sample(sorted(self.kind), rng.randint(0, 4))) for d in self.usable}
        drugs, proteins = ([e for e, k in self.kind.items() if k == kind] for kind in ("drug", "protein"))
        self.targets = {(g, p) for g in drugs for p in proteins if rng.random() < 0.4}
        self.partners = {(p, q) for p in proteins for q in proteins if p < q and rng.random() < 0.3}
        self.interactions = {(g, h) for g in drugs for h in drugs if g < h and rng.random() < 0.7}

    def tables(self) -> dict[str, pa.Table]:
        facts = sorted(
            [("target", *pair) for pair in self.targets]
            + [("protein_interaction", *pair) for pair in self.partners]
            + [("interacts_with", *pair) for pair in self.interactions]
        )
        links = sorted((d, e) for d, mentioned in self.mentions.items() for e in mentioned)
        relations = {"interacts_with": True, "protein_interaction": True, "target": False}
        text = pa.string()
        return {
            "entities": pa.table(
                {"id": list(self.kind), "kind": list(self.kind.values()), "label": list(self.kind), "description": [""] * len(self.kind)}
            ),
            "documents": pa.table(
                {
                    "id": list(self.usable),
                    "title": list(self.usable),
                    "about": pa.array(self.about.values(), text),
                    "text": list(self.usable),
                }
            ),
            "names": pa.table({"entity": list(self.kind), "name": list(self.kind)}),
            "mentions": pa.table(
                {
                    "document": pa.array([], text),
                    "entity": pa.array([], text),
                    "start": pa.array([], pa.int32()),
                    "end": pa.array([], pa.int32()),
                }
            ),
            "unused": pa.table({"document": pa.array([d for d, usable in self.usable.items() if not usable], text)}),
            "relations": pa.table({"id": list(relations), "label": list(relations), "symmetric": list(relations.values())}),
            "facts": pa.table(
                {
                    "head": pa.array([h for _, h, _ in facts], text),
                    "relation": pa.array([r for r, _, _ in facts], text),
                    "tail": pa.array([t for _, _, t in facts], text),
                }
            ),
            "links": pa.table(
                {
                    "document": pa.array([d for d, _ in links], text),
                    "entity": pa.array([e for _, e in links], text),
                    "count": pa.array([1] * len(links), pa.int64()),
                }
            ),
        }

    def beside(self, document: str, entity: str, pairs: Edges) -> bool:
        """Whether a usable document mentions ``entity`` and the second of one of its ``pairs``."""
        mentioned = self.mentions[document]
        return self.usable[document] and entity in mentioned and any((entity, other) in pairs for other in mentioned)

    def edges(self, test: Callable[[str, str], bool]) -> Edges:
        return {(d, e) for d in self.usable for e in self.kind if test(d, e)}


RULES: dict[str, Callable[[Corpus, str, str], bool]] = {
    # WikiHop: document → every entity that it mentions; entity → the article about it (section 3).
    "article_mentions": lambda c, d, e: c.usable[d] and e in c.mentions[d],
    "article_of": lambda c, d, e: c.usable[d] and c.about[d] == e,
    # MedHop, edge 1: document → protein for every mention (section 4).
    "abstract_mentions_protein": lambda c, d, e: c.usable[d] and e in c.mentions[d] and c.kind[e] == "protein",
    # Edge 2: document ↔ drug if the document mentions the drug and one of its targets.
    "abstract_mentions_targeted_drug": lambda c, d, e: c.beside(d, e, c.targets),
    "drug_in_abstract_with_target": lambda c, d, e: c.beside(d, e, c.targets),
    # Edge 3: protein → document if the document mentions it and a protein that interacts with it; a fact is kept once, for both ends.
    "protein_in_abstract_with_partner": lambda c, d, e: c.beside(d, e, c.partners),
    "partner_in_abstract_with_protein": lambda c, d, e: c.beside(d, e, {(q, p) for p, q in c.partners}),
    # Beyond the paper: protein → document if the document mentions it and a drug that targets it.
    "protein_in_abstract_with_drug": lambda c, d, e: c.beside(d, e, {(p, g) for g, p in c.targets}),
}


@pytest.mark.parametrize("seed", range(5))
def test_every_projection_query_finds_the_edges_of_its_rule(tmp_path: Path, seed: int) -> None:
    corpus = Corpus(random.Random(seed))
    embedded.build(tmp_path / "graph", graph_rows(corpus.tables()))
    queries = read_queries()
    with embedded.EmbeddedStore(tmp_path / "graph") as store:
        for name, rule in RULES.items():
            table = store.run(queries[name])
            documents, entities = (pc.list_flatten(table[column]).to_pylist() for column in ("documents", "entities"))
            found = list(zip(documents, entities, strict=True))
            assert len(found) == len(set(found)), name
            assert set(found) == corpus.edges(lambda d, e, rule=rule: rule(corpus, d, e)), name  # type: ignore[misc]


@pytest.mark.parametrize("domain", ["wikidata", "medline"])
def test_every_query_that_a_domain_projects_with_has_a_rule_here(domain: str) -> None:
    settings = load_domain(domain).settings.projection
    assert {*settings.document_to_entity, *settings.entity_to_document} <= set(RULES)


@pytest.mark.parametrize("domain", ["wikidata", "medline"])
def test_the_graph_has_the_edges_of_all_rules_of_its_domain(tmp_path: Path, domain: str) -> None:
    corpus = Corpus(random.Random(17))
    tables, settings = corpus.tables(), load_domain(domain).settings.projection
    embedded.build(tmp_path / "graph", graph_rows(tables))
    with embedded.EmbeddedStore(tmp_path / "graph") as store:
        edges = project_edges(store, read_queries(), settings)
    assert edges.to_pylist() == sorted(edges.to_pylist(), key=lambda edge: tuple(edge.values()))
    graph = graph_from_edges(edges, tables["entities"], tables["documents"])
    documents, entities = list(corpus.usable), list(corpus.kind)
    forth = corpus.edges(lambda d, e: any(RULES[name](corpus, d, e) for name in settings.document_to_entity))
    back = corpus.edges(lambda d, e: any(RULES[name](corpus, d, e) for name in settings.entity_to_document))
    assert forth
    assert back
    sources, targets = graph.entities_of.sources().tolist(), graph.entities_of.targets.tolist()
    assert {(documents[d], entities[e]) for d, e in zip(sources, targets, strict=True)} == forth
    sources, targets = graph.documents_of.sources().tolist(), graph.documents_of.targets.tolist()
    assert {(documents[d], entities[e]) for e, d in zip(sources, targets, strict=True)} == back


def test_a_domain_without_edges_in_one_direction_is_refused_with_the_names_of_its_queries(tmp_path: Path) -> None:
    corpus = Corpus(random.Random(1))
    corpus.about = dict.fromkeys(corpus.usable)
    embedded.build(tmp_path / "graph", graph_rows(corpus.tables()))
    with embedded.EmbeddedStore(tmp_path / "graph") as store, pytest.raises(EmptyResult, match="article_of"):
        project_edges(store, read_queries(), load_domain("wikidata").settings.projection)


def test_an_edge_of_an_unknown_id_is_refused_by_name() -> None:
    edges = pa.table({"direction": ["document_to_entity"], "document": ["d0"], "entity": ["stranger"]})
    tables = Corpus(random.Random(1)).tables()
    with pytest.raises(StoreError, match="stranger"):
        graph_from_edges(edges, tables["entities"], tables["documents"])
