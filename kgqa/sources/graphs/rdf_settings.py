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
    """Prefix → beginning of IRIs, to shorten ids: ``dbr`` gives ``dbr:Ulm``, the empty prefix ``Ulm``. The longest matching one is used."""
    languages: tuple[str, ...] = ("en",)
    """Languages of labels, aliases, descriptions and texts, best first. Text without a language tag is treated in the same way."""
    fall_back: bool = True
    """If there is no label or description in these languages, use one in any other language."""
    labels: tuple[str, ...] = ("rdfs:label", "skos:prefLabel")
    """Properties of the label, best first."""
    aliases: tuple[str, ...] = ("skos:altLabel",)
    """Properties of additional names."""
    descriptions: tuple[str, ...] = ("schema:description", "schemas:description", "rdfs:comment")
    """Properties of the description, best first."""
    kind: str = "rdf:type"
    """Property of the kind; used if ``kinds`` is given."""
    kinds: tuple[str, ...] = ()
    """Classes that become kinds of entity, best first; ``*``: any other class. Empty: every entity has the kind ``entity``, and the
    property of the kind is a relation like any other."""
    only: tuple[str, ...] = ()
    """Relations to keep; empty: all."""
    without: tuple[str, ...] = ()
    """Relations that are skipped."""
    symmetric: tuple[str, ...] = ()
    """Relations in which (a, r, b) means the same as (b, r, a), besides those that the file declares as owl:SymmetricProperty."""
    label_from_id: bool = True
    """Derive missing labels from the IRI: its local part, with spaces for underscores."""

    @field_validator("labels", "aliases", "descriptions", "kind", "kinds", "only", "without", "symmetric")
    @classmethod
    def _are_iris(cls, value: Any, info: Any) -> Any:
        """Full IRIs in place of prefixed ones."""
        prefixes = NAMESPACES | info.data.get("prefixes", {})
        return expanded(value, prefixes) if isinstance(value, str) else tuple(expanded(name, prefixes) for name in value)


def expanded(name: str, namespaces: Mapping[str, str]) -> str:
    """The IRI of a name with a prefix; an IRI as it is. Raises ValueError for an unknown prefix."""
    prefix, colon, rest = name.partition(":")
    if name == ANY or rest.startswith("//") or prefix == "urn":
        return name
    if colon and prefix in namespaces:
        return namespaces[prefix] + rest
    raise ValueError(f"{name!r} is neither an IRI nor does it begin with a known prefix ({', '.join(sorted(filter(None, namespaces)))})")
