"""Options of RDF files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from kgqa.settings.base import Settings
from kgqa.sources.graphs.vocabulary import ANY, NAMESPACES


class RdfSettings(Settings):
    """Which statements become what. An option names a property or class by its IRI or with a prefix."""

    prefixes: Mapping[str, str] = Field(default={})
    """Prefix → beginning of IRIs, to shorten ids: ``dbr`` makes ``dbr:Ulm`` of one, the empty prefix ``Ulm``. The longest that fits."""
    languages: tuple[str, ...] = ("en",)
    """Languages of labels, aliases, descriptions and texts, the best first. Text without a language is taken like them."""
    fall_back: bool = True
    """Take a label or description in any other language where there is none in these."""
    labels: tuple[str, ...] = ("rdfs:label", "skos:prefLabel")
    """Properties of the label, the best first."""
    aliases: tuple[str, ...] = ("skos:altLabel",)
    """Properties of other names."""
    descriptions: tuple[str, ...] = ("schema:description", "schemas:description", "rdfs:comment")
    """Properties of the description, the best first."""
    kind: str = "rdf:type"
    """Property of the kind, where ``kinds`` is given."""
    kinds: tuple[str, ...] = ()
    """Classes that are kinds of entity, the best first; ``*``: any other. Without them every entity is one of the kind ``entity``, and the
    property of the kind is a relation like any other."""
    only: tuple[str, ...] = ()
    """Relations to keep; empty: all."""
    without: tuple[str, ...] = ()
    """Relations to leave out."""
    symmetric: tuple[str, ...] = ()
    """Relations where (a, r, b) says the same as (b, r, a), besides those that the file calls an owl:SymmetricProperty."""
    label_from_id: bool = True
    """Make the label of what has none from its IRI: the local part, with spaces for underscores."""

    @field_validator("labels", "aliases", "descriptions", "kind", "kinds", "only", "without", "symmetric")
    @classmethod
    def _are_iris(cls, given: Any, info: Any) -> Any:
        """Full IRIs in place of prefixed ones."""
        known = NAMESPACES | info.data.get("prefixes", {})
        return expanded(given, known) if isinstance(given, str) else tuple(expanded(name, known) for name in given)


def expanded(name: str, namespaces: Mapping[str, str]) -> str:
    """The IRI of a name with a prefix; an IRI as it is. Raises ValueError for an unknown prefix."""
    prefix, colon, rest = name.partition(":")
    if name == ANY or rest.startswith("//") or prefix == "urn":
        return name
    if colon and prefix in namespaces:
        return namespaces[prefix] + rest
    raise ValueError(f"{name!r} is neither an IRI nor begins with a known prefix ({', '.join(sorted(filter(None, namespaces)))})")
