"""Checking that a decoded value is a record of some type, and that no id is repeated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from kgqa.errors import BrokenInput, DuplicateId, MissingInput
from kgqa.formats.json.types import mend
from kgqa.records import Instance

Record = TypeVar("Record")
EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "none_required": "null",
    "extra_forbidden": "no such field",
}
MAX_MENDS = 1000
"""How many fields of a wrong type are converted in one record, which may be a whole article with its questions."""
TYPE_NAMES = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}


class Open(TypedDict):
    """A record that may have further fields; values are not converted to other types."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]


class Closed(TypedDict):
    """A record without further fields; values are not converted to other types."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]


class RepeatedId(DuplicateId):
    """Two records of a file have the same id."""


class Ids:
    """The ids of a file so far, to refuse a repeated one."""

    def __init__(self) -> None:
        """Ids are added with :meth:`add`."""
        self._places: dict[str, str] = {}

    def add(self, name: str, location: str, *, may_be_empty: bool = False) -> None:
        """Add the id ``name`` of the record at ``location``. Raises RepeatedId, and BrokenInput for an empty id.

        A question must have an id; the name of a paragraph ``may_be_empty``.
        """
        if not (name or may_be_empty):
            raise BrokenInput(f"{location}: the id is empty; give the record one of its own.")
        if name in self._places:
            raise RepeatedId(f"{location}: id {name} was already used in {self._places[name].rpartition(', ')[2]}; drop one of them.")
        self._places[name] = location


def unique(instances: Iterable[tuple[str, Instance]]) -> Iterator[Instance]:
    """The Instances of pairs of place and Instance. Raises RepeatedId for an id that was used before. Memory: all ids."""
    ids = Ids()
    for location, instance in instances:
        ids.add(instance.id, location)
        yield instance


def validated(value: object, kind: TypeAdapter[Record], location: str) -> Record:
    """``value`` as ``kind``. Raises MissingInput or BrokenInput with the first wrong field.

    A field of a wrong type with only one possible meaning is converted (:mod:`kgqa.formats.json.types`).
    """
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
    try:
        copy = deepcopy(value)
        for _ in range(MAX_MENDS):
            if not mend(copy, fault["loc"], fault["type"]):
                break
            try:
                return kind.validate_python(copy)
            except ValidationError as error:
                fault = error.errors(include_url=False)[0]
    except RecursionError:  # nested too deeply to be copied
        pass
    fault = _first(value, kind)
    # For a field of a union type pydantic's location contains the type too.
    field = ".".join(str(part) for part in fault["loc"] if part not in {"str", "list[str]"})
    if fault["type"] == "missing":
        raise MissingInput(f"{location}: the field {field!r} is missing; every such record has one.")
    actual = TYPE_NAMES.get(type(fault["input"]), type(fault["input"]).__name__)
    expectation = EXPECTED.get(fault["type"])
    reason = f"expected {expectation}, found {actual}" if expectation else _limit(fault)
    raise BrokenInput(f"{location}{f', field {field!r}' if field else ''}: {reason}; fix or drop the record.")


def _first(value: object, kind: TypeAdapter[Record]) -> ErrorDetails:
    """The first error in ``value`` before any conversion."""
    try:
        kind.validate_python(value)
    except ValidationError as error:
        return error.errors(include_url=False)[0]
    raise AssertionError("it was wrong before")


def _limit(error: ErrorDetails) -> str:
    """A description of an error other than a wrong type; pydantic's message for kinds that no record here can cause."""
    limits = error.get("ctx", {})
    match error["type"]:
        case "too_long":
            return f"expected a list of at most {limits['max_length']}, found one of {limits['actual_length']}"
        case "too_short":
            return f"expected a list of at least {limits['min_length']}, found one of {limits['actual_length']}"
        case "literal_error":
            return f"expected {limits['expected']}, found {str(error['input'])[:60]!r}"
    return error["msg"]
