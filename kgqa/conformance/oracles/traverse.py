"""Oracles of the projections and traversals in Cypher, from the papers' rules (Welbl et al. 2018, sections 3 and 4)."""

from __future__ import annotations

from functools import partial

from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Rows


def article_mentions(index: GraphIndex) -> Rows:
    """From usable documents to what they mention."""
    return [(m.document, m.entity) for m in index.graph.mentions if index.documents[m.document].usable]


def article_of(index: GraphIndex) -> Rows:
    """From entities to their usable article."""
    return [(a.entity, a.document) for a in index.graph.about if index.documents[a.document].usable]


def abstract_mentions_protein(index: GraphIndex) -> Rows:
    """From usable documents to their proteins."""
    return [(d, e) for d, e in article_mentions(index) if index.entities[str(e)].kind == "protein"]


def _pairs(index: GraphIndex, relation: str) -> list[tuple[str, str, str]]:
    """Usable document, head and tail of every fact of the relation whose ends the document mentions."""
    facts = [f for f in index.graph.fact if f.relation == relation]
    return [(d.id, f.head, f.tail) for d in index.graph.document if d.usable for f in facts if {f.head, f.tail} <= index.named(d.id)]


def abstract_mentions_targeted_drug(index: GraphIndex) -> Rows:
    """Usable document and drug, for each drug mentioned together with one of its targets."""
    return [*{(document, head) for document, head, _ in _pairs(index, "target")}]


def drug_in_abstract_with_target(index: GraphIndex) -> Rows:
    """Drug and usable document, for each drug mentioned together with one of its targets."""
    return [*{(head, document) for document, head, _ in _pairs(index, "target")}]


def protein_in_abstract_with_partner(index: GraphIndex) -> Rows:
    """From heads of interactions to the documents that mention both ends."""
    return [*{(head, document) for document, head, _ in _pairs(index, "protein_interaction")}]


def partner_in_abstract_with_protein(index: GraphIndex) -> Rows:
    """From tails of interactions to the documents that mention both ends."""
    return [*{(tail, document) for document, _, tail in _pairs(index, "protein_interaction")}]


def protein_in_abstract_with_drug(index: GraphIndex) -> Rows:
    """From targets to the documents that mention both the target and a drug that acts on it."""
    return [*{(target, document) for document, _, target in _pairs(index, "target")}]


OVER = {"medhop": "protein"}
"""The kind of the entities on the way, where a recipe's chains lead over one kind alone."""


def _candidates(recipe: str, documents: int, index: GraphIndex, entity: str) -> Rows:
    return [(name,) for name in index.by_row(index.reached(getattr(index, recipe), entity, documents, over=OVER.get(recipe)))]


def _chains(recipe: str, documents: int, index: GraphIndex, entity: str, candidates: list[str]) -> Rows:
    if entity not in index.entities:
        return []
    chains = index.chains(getattr(index, recipe), entity, documents)
    chains = [c for c in (index.over_proteins(chains) if recipe in OVER else chains) if c[-1] in candidates]
    ranking = sorted(chains, key=lambda chain: (index.entities[chain[-1]].row, index.rows(chain)))
    return [(chain[-1], *chain[1:-1]) for chain in ranking]


ORACLES: dict[str, Oracle] = {
    oracle.__name__: oracle
    for oracle in (
        article_mentions, article_of, abstract_mentions_protein, abstract_mentions_targeted_drug, drug_in_abstract_with_target,
        protein_in_abstract_with_partner, partner_in_abstract_with_protein, protein_in_abstract_with_drug,
    )
}  # fmt: skip
"""By the name of the query."""
for _recipe in ("wikihop", "medhop", "medhop_paper"):
    for _documents in (1, 2, 3):
        ORACLES[f"{_recipe}_candidates_{_documents}"] = partial(_candidates, _recipe, _documents)
        ORACLES[f"{_recipe}_chains_{_documents}"] = partial(_chains, _recipe, _documents)
