"""A dataset's description in Croissant 1.1 (mlcommons.org/croissant): metadata, files, and the columns of each file as JSON-LD."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa

from kgqa.version import __version__

CROISSANT = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
SPDX = "https://spdx.org/licenses/"
SPELLINGS = {
    "apache-2.0": "Apache-2.0", "mit": "MIT", "cc0-1.0": "CC0-1.0", "odbl": "ODbL-1.0", "cc-by-3.0": "CC-BY-3.0", "cc-by-4.0": "CC-BY-4.0",
    "cc-by-sa-3.0": "CC-BY-SA-3.0", "cc-by-sa-4.0": "CC-BY-SA-4.0", "cc-by-nc-4.0": "CC-BY-NC-4.0", "cc-by-nc-sa-4.0": "CC-BY-NC-SA-4.0",
}  # fmt: skip
"""The hub's name of a licence → that of SPDX."""
_TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
    "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    **{term: f"cr:{term}" for term in _TERMS},
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
}
"""The names of Croissant, as its specification wants them in every description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What is said of a dataset as a whole."""

    name: str
    about: str
    licence: str
    """As on the card: a name that the hub knows, or any other text."""
    language: tuple[str, ...]
    """Codes of BCP 47."""
    keywords: tuple[str, ...]
    citation: str
    """BibTeX."""
    url: str
    """Page of the dataset; empty for a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A Parquet file of the dataset."""

    sha256: str
    size: int
    """Bytes."""
    schema: pa.Schema


def croissant(description: Description, files: Mapping[str, DataFile], meanings: Mapping[str, str]) -> dict[str, Any]:
    """The JSON-LD of a dataset: a record set for each of ``files`` (path → file), named after it without its ending.

    ``meanings`` are sentences about columns. The same arguments give the same description; it has no date.
    """
    data = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": description.name,
        "description": description.about,
        "license": licence_address(description.licence),
        "inLanguage": list(description.language),
        "keywords": list(description.keywords),
        "citeAs": description.citation,
        "url": description.url,
        # The version of what wrote the files: those of a dataset are told apart by their hashes.
        "version": __version__,
        "distribution": [_file(name, file) for name, file in files.items()],
        "recordSet": [_records(name, file.schema, meanings) for name, file in files.items()],
    }
    return {name: value for name, value in data.items() if value}


def licence_address(licence: str) -> str:
    """The page of a licence, or its name where no page is known.

    >>> licence_address("cc0-1.0"), licence_address("other")
    ('https://spdx.org/licenses/CC0-1.0.html', 'other')
    """
    return f"{SPDX}{SPELLINGS[licence.lower()]}.html" if licence.lower() in SPELLINGS else licence


def _file(name: str, file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{file.size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _records(name: str, schema: pa.Schema, meanings: Mapping[str, str]) -> dict[str, Any]:
    records = PurePosixPath(name).with_suffix("").as_posix()
    fields = [_field(name, [field.name], field.type, records, meanings.get(field.name, "")) for field in schema]
    return {"@type": "cr:RecordSet", "@id": records, "name": records, "description": f"the rows of {name}", "field": fields}


def _field(file: str, path: Sequence[str], kind: pa.DataType, parent: str, meaning: str = "") -> dict[str, Any]:
    """A column, or a part of one: ``path`` leads to it from the column on.

    A part that has parts itself, as the mentions of a paragraph, is left out: readers of Croissant reach one level into a column.
    """
    depth, inner = _unlisted(kind)
    name = f"{parent}/{path[-1]}"
    field: dict[str, Any] = {"@type": "cr:Field", "@id": name, "name": path[-1]}
    if meaning:
        field["description"] = meaning
    if depth:
        field |= {"isArray": True, "arrayShape": ",".join(["-1"] * depth)}
    if pa.types.is_struct(inner):
        parts = [part for part in inner if not pa.types.is_struct(_unlisted(part.type)[1])]
        return field | {"subField": [_field(file, [*path, part.name], part.type, name) for part in parts]}
    source: dict[str, Any] = {"fileObject": {"@id": file}, "extract": {"column": path[0]}}
    if len(path) > 1:
        source["transform"] = [{"jsonPath": part} for part in path[1:]]
    return field | {"dataType": _type(inner), "source": source}


def _unlisted(kind: pa.DataType) -> tuple[int, pa.DataType]:
    """How deep lists lie in each other, and the type of what is in the innermost."""
    depth = 0
    while pa.types.is_list(kind):
        depth, kind = depth + 1, kind.value_type
    return depth, kind


def _type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(kind) else "sc:Text"
