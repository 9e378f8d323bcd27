"""What the projections and the traversals in Cypher must answer, from the papers' rules (Welbl et al. 2018, sections 3 and 4)."""

from __future__ import annotations

from functools import partial

from kgqa.conformance.oracles.known import Known, Oracle, Rows


def article_mentions(known: Known) -> Rows:
    """From usable documents to what they mention."""
    return [(m.document, m.entity) for m in known.graph.mentions if known.documents[m.document].usable]


def article_of(known: Known) -> Rows:
    """From entities to their usable article."""
    return [(a.entity, a.document) for a in known.graph.about if known.documents[a.document].usable]


def abstract_mentions_protein(known: Known) -> Rows:
    """From usable documents to their proteins."""
    return [(d, e) for d, e in article_mentions(known) if known.entities[str(e)].kind == "protein"]


def _pairs(known: Known, relation: str) -> list[tuple[str, str, str]]:
    """Usable document, head and tail of every fact of the relation of which the document mentions both."""
    facts = [f for f in known.graph.fact if f.relation == relation]
    return [(d.id, f.head, f.tail) for d in known.graph.document if d.usable for f in facts if {f.head, f.tail} <= known.named(d.id)]


def abstract_mentions_targeted_drug(known: Known) -> Rows:
    """From usable documents to what they mention beside a target of it."""
    return [*{(document, head) for document, head, _ in _pairs(known, "target")}]


def drug_in_abstract_with_target(known: Known) -> Rows:
    """The same in the other direction."""
    return [*{(head, document) for document, head, _ in _pairs(known, "target")}]


def protein_in_abstract_with_partner(known: Known) -> Rows:
    """From heads of interactions to the documents that mention both ends."""
    return [*{(head, document) for document, head, _ in _pairs(known, "protein_interaction")}]


def partner_in_abstract_with_protein(known: Known) -> Rows:
    """From tails of interactions to the documents that mention both ends."""
    return [*{(tail, document) for document, _, tail in _pairs(known, "protein_interaction")}]


def protein_in_abstract_with_drug(known: Known) -> Rows:
    """From targets to the documents that mention both the target and a drug that acts on it."""
    return [*{(target, document) for document, _, target in _pairs(known, "target")}]


OVER = {"medhop": "protein"}
"""The kind of the entities on the way, where a recipe's chains lead over one kind alone."""


def _candidates(recipe: str, documents: int, known: Known, entity: str) -> Rows:
    return [(name,) for name in known.by_row(known.reached(getattr(known, recipe), entity, documents, over=OVER.get(recipe)))]


def _chains(recipe: str, documents: int, known: Known, entity: str, candidates: list[str]) -> Rows:
    if entity not in known.entities:
        return []
    found = known.chains(getattr(known, recipe), entity, documents)
    found = [c for c in (known.over_proteins(found) if recipe in OVER else found) if c[-1] in candidates]
    ordered = sorted(found, key=lambda chain: (known.entities[chain[-1]].row, known.rows(chain)))
    return [(chain[-1], *chain[1:-1]) for chain in ordered]


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
