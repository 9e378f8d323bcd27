"""What a format or recipe notes about an Instance beyond the normal form: a JSON object, each under its own name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgqa.errors import BrokenInput
from kgqa.records import Instance

ORDER = "given_facts"
"""What several formats call the supporting facts in the order of the record."""
LISTS = ("absent_facts", "supporting_facts")
"""What several formats note under one name, and whoever counts it must find as a list."""
ENCODER = json.JSONEncoder(ensure_ascii=False)
"""Encoder of notes; it keeps characters beyond ASCII."""
_DECODER = json.JSONDecoder()


def noted(instance: Instance, name: str) -> dict[str, Any]:
    """What ``name`` noted about ``instance``; empty where it noted nothing. BrokenInput where the provenance is no object of objects."""
    value = _last(instance.provenance or "", name)
    if value is None:
        value = _parsed(instance).get(name, {})
    if not isinstance(value, dict):
        raise BrokenInput(f"instance {instance.id}, provenance, {name!r}: expected an object; make the dataset again.")
    return value


def _last(provenance: str, name: str) -> object:
    """What was noted last, if that was under ``name``; the rest, which may be far longer, is not parsed."""
    key = f'"{name}": '
    at = provenance.rfind(key)
    if at < 0:
        return None
    try:
        value, end = _DECODER.raw_decode(provenance, at + len(key))
    except (ValueError, RecursionError):
        return None
    # One brace is left where the name is that of a note, and more where it is that of a field of one.
    return value if provenance[end:] == "}" else None


def noted_sufficiency(instance: Instance) -> int | None:
    """DiRe's label (Trivedi et al. 2020, appendix A.4): 1 sufficient, 0 partly, -1 not at all; None where no transform noted one."""
    label = noted(instance, "dire").get("sufficiency")
    return int(label) if isinstance(label, int) else None


def everything(instance: Instance) -> dict[str, Any]:
    """The whole provenance; empty where there is none. BrokenInput as :func:`noted`, and where one of ``LISTS`` is none."""
    found = _parsed(instance)
    for name, values in found.items():
        for field in LISTS:
            if isinstance(values, dict) and not isinstance(values.get(field, []), list):
                raise BrokenInput(f"instance {instance.id}, provenance, '{name}.{field}': expected a list; make the dataset again.")
    return found


def _parsed(instance: Instance) -> dict[str, Any]:
    try:
        found = json.loads(instance.provenance or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BrokenInput(f"instance {instance.id}: its provenance is no JSON object; make the dataset again, or set it to null.")
    return found


def note(name: str, values: dict[str, Any], *, beside: str | None = None) -> str | None:
    """Provenance with ``values`` under ``name``, added to what ``beside`` holds already; without values, ``beside`` as it was.

    Raises BrokenInput for values that are nested as deeply as a reader can just bear.
    """
    if not values:
        return beside
    try:
        return ENCODER.encode({name: values} if beside is None else {**json.loads(beside), name: values})
    except RecursionError:
        raise BrokenInput(f"a field of {name} that is to be noted is nested too deeply; fix or drop the record.") from None


def without_order(notes: Mapping[str, Any]) -> dict[str, Any]:
    """A provenance without the order in which a record named its supporting facts, which is untrue of a part of its question."""
    if not any(isinstance(values, dict) and ORDER in values for values in notes.values()):
        return dict(notes)
    left = {
        name: {field: value for field, value in values.items() if field != ORDER} if isinstance(values, dict) else values
        for name, values in notes.items()
    }
    return {name: values for name, values in left.items() if values != {} or notes[name] == {}}


def unknown_fields(fields: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields that ``kind``, a TypedDict, does not know: what a format notes of a record."""
    known = kind.__annotations__
    # Nearly all records have none, which sets tell faster than a loop.
    return {} if fields.keys() <= known.keys() else {name: value for name, value in fields.items() if name not in known}
