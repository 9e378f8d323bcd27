"""Names of RDF's own vocabularies that have a meaning for a graph."""

from __future__ import annotations

NAMESPACES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "schema": "http://schema.org/",
    "schemas": "https://schema.org/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dcterms": "http://purl.org/dc/terms/",
}
"""Prefixes that options may use without declaring them."""
TYPE = NAMESPACES["rdf"] + "type"
PROPERTIES = frozenset(
    {NAMESPACES["rdf"] + "Property"}
    | {
        NAMESPACES["owl"] + name
        for name in (
            "ObjectProperty", "DatatypeProperty", "AnnotationProperty", "SymmetricProperty", "FunctionalProperty", "TransitiveProperty",
            "InverseFunctionalProperty", "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty",
        )
    }
)  # fmt: skip
"""Classes whose members are relations."""
SYMMETRIC = NAMESPACES["owl"] + "SymmetricProperty"
ANY = "*"
"""Any other class."""
