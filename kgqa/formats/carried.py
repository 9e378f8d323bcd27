"""What travels in a format that lets other data pass: the fields of an Instance that the format's own fields do not say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from kgqa.errors import BrokenInput
from kgqa.formats.instance_json import to_row
from kgqa.formats.json.validate import Open
from kgqa.formats.provenance import everything
from kgqa.records import Instance

OURS = "kgqa"
"""The key under which it stands."""


class CarriedParagraph(Open):
    """Fields of a paragraph."""

    id: NotRequired[str]


class Carried(Open):
    """Fields of an Instance, and of its paragraphs by the name that the format knows them by."""

    paragraphs: NotRequired[dict[str, CarriedParagraph]]
    provenance: NotRequired[str | None]


def provenance_of(beyond: Mapping[str, Any], where: str) -> str | None:
    """The provenance that was carried; BrokenInput where it is no JSON object."""
    text: str | None = beyond.get("provenance")
    try:
        sound = text is None or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        sound = False
    if not sound:
        raise BrokenInput(f"{where}, field {f'{OURS}.provenance'!r}: expected a JSON object, as text; fix it, or set it to null.")
    return text


def carried(instance: Instance, plain: Instance, names: Sequence[str], format: str) -> dict[str, Any]:  # noqa: A002
    """What ``instance`` says and ``plain`` does not, which is what would be read without it; ``names``: of its paragraphs, in their order.

    Of the provenance, the note of the ``format`` itself is left out: it is made of the format's own fields whenever they are read.
    """
    row, other = to_row(instance), to_row(plain)
    found = {field: row[field] for field in row if row[field] != other[field] and field not in {"paragraphs", "provenance"}}
    paragraphs = {
        name: {field: ours[field] for field in ours if ours[field] != theirs[field]}
        for name, ours, theirs in zip(names, row["paragraphs"], other["paragraphs"], strict=True)
        if ours != theirs
    }
    if paragraphs:
        found["paragraphs"] = paragraphs
    notes = everything(instance)
    beside = {name: value for name, value in notes.items() if name != format}
    if beside:
        found["provenance"] = instance.provenance if beside == notes else json.dumps(beside, ensure_ascii=False)
    return found
