"""Words for an id that has no label: ``http://dbpedia.org/resource/Albert_Einstein`` → ``Albert Einstein``.

The rules are conventions of those who make ids, not of any one graph: the local part of an IRI names the thing, an underscore replaces a
space, and a property is written in camel case (W3C, "Cool URIs"; DBpedia, "Naming conventions") or in capitals (Neo4j's style guide).
"""

from __future__ import annotations

import re
from unicodedata import normalize
from urllib.parse import unquote

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")


def local_part(id_: str) -> str:
    """What follows the last ``#`` or ``/`` of an IRI or of a path such as Freebase's; any other id as it is."""
    if "://" not in id_ and not id_.startswith("/"):
        return id_.rpartition(":")[2] if id_.startswith("urn:") else id_
    after_hash = id_.rpartition("#")
    if after_hash[0] and after_hash[2]:
        return after_hash[2]
    return id_.rstrip("/#").rpartition("/")[2] or id_


def entity_words(id_: str) -> str:
    """The local part with its percent signs decoded and with spaces for underscores; the id where nothing is left."""
    part = local_part(id_)
    if "%" in part:
        part = unquote(part, errors="replace")
    return " ".join(part.replace("_", " ").split()) or id_


def relation_words(id_: str) -> str:
    """The same for a relation: ``birthPlace`` → ``birth place``, ``ACTED_IN`` → ``acted in``."""
    words = entity_words(id_)
    if words.isupper() and words.replace(" ", "").isalpha():
        return words.lower()
    if words[:1].islower() and (parts := _CAMEL.split(words)) != [words]:
        return " ".join([parts[0], *(part[0].lower() + part[1:] for part in parts[1:])])
    return words


def nfc(text: str) -> str:
    """NFC, without white space around, as :func:`kgqa.sources.tables.normalised` does for a column."""
    return normalize("NFC", text).strip()
