"""The provenance of an Instance: a JSON object with a note from each format or recipe under its own name.

A note holds fields that the normal form lacks, so that a format can write back what it read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.records import Instance

ORDER = "given_facts"
"""The field of several formats' notes with the supporting facts in the order of the record."""
LISTS = ("absent_facts", "supporting_facts")
"""Fields of several formats' notes that must be lists."""
ENCODER = json.JSONEncoder(ensure_ascii=False)
"""The encoder of notes, which keeps characters beyond ASCII."""
_DECODER = json.JSONDecoder()


def noted(instance: Instance, name: str) -> dict[str, Any]:
    """The note under ``name``; empty if there is no such note. Raises BrokenInput unless the provenance is an object of objects."""
    value = _last_note(instance.provenance or "", name)
    if value is None:
        value = _parse(instance).get(name, {})
    if not isinstance(value, dict):
        raise BrokenInput(f"instance {instance.id}, provenance, {name!r}: expected an object; generate the dataset again.")
    return value


def _last_note(provenance: str, name: str) -> object:
    """The last note, if it is the one under ``name``. Earlier notes may be far longer, and parsing them would take most of the time."""
    key = f'"{name}": '
    at = provenance.rfind(key)
    if at < 0:
        return None
    try:
        value, end = _DECODER.raw_decode(provenance, at + len(key))
    except (ValueError, RecursionError):
        return None
    # After a note exactly one brace is left; after a field of a note with the same name, more than one.
    return value if provenance[end:] == "}" else None


def noted_sufficiency(instance: Instance) -> int | None:
    """DiRe's label (Trivedi et al. 2020, appendix A.4): 1 sufficient, 0 partly, -1 not at all; None without such a label."""
    label = noted(instance, "dire").get("sufficiency")
    return int(label) if isinstance(label, int) else None


def everything(instance: Instance) -> dict[str, Any]:
    """All notes by name; empty without provenance. Raises BrokenInput as :func:`noted` does, and if one of ``LISTS`` is not a list."""
    notes = _parse(instance)
    for name, values in notes.items():
        for field in LISTS:
            if isinstance(values, dict) and not isinstance(values.get(field, []), list):
                raise BrokenInput(f"instance {instance.id}, provenance, '{name}.{field}': expected a list; generate the dataset again.")
    return notes


def _parse(instance: Instance) -> dict[str, Any]:
    try:
        notes = json.loads(instance.provenance or "{}")
    except (ValueError, RecursionError):
        notes = None
    if not isinstance(notes, dict):
        raise BrokenInput(f"instance {instance.id}: its provenance is no JSON object; generate the dataset again, or set it to null.")
    return notes


def note(name: str, values: dict[str, Any], *, beside: str | None = None) -> str | None:
    """The provenance ``beside`` with the note ``values`` added under ``name``; ``beside`` itself without values.

    Raises BrokenInput for values that are nested too deeply to encode.
    """
    if not values:
        return beside
    try:
        return ENCODER.encode({name: values} if beside is None else {**json.loads(beside), name: values})
    except RecursionError:
        raise BrokenInput(f"a field of {name} that is to be noted is nested too deeply; fix or drop the record.") from None


def without_order(notes: Mapping[str, Any]) -> dict[str, Any]:
    """``notes`` without the order of a record's supporting facts, which does not apply to a part of its question."""
    if not any(isinstance(values, dict) and ORDER in values for values in notes.values()):
        return dict(notes)
    parts = {
        name: {field: value for field, value in values.items() if field != ORDER} if isinstance(values, dict) else values
        for name, values in notes.items()
    }
    return {name: values for name, values in parts.items() if values != {} or notes[name] == {}}


def unknown_fields(fields: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields of a record that ``kind``, a TypedDict, lacks; a format notes them."""
    annotations = kind.__annotations__
    # Nearly all records have no unknown fields, and comparing sets is faster than a loop.
    return {} if fields.keys() <= annotations.keys() else {name: value for name, value in fields.items() if name not in annotations}
