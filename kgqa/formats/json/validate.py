"""A decoded value as the record that it must be, and ids that come twice."""

from __future__ import annotations

from copy import deepcopy
from typing import TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from kgqa.errors import BrokenInput, DuplicateId, MissingInput
from kgqa.formats.json.types import mended

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
MENDED = 1000
"""Fields of other types in one record; a whole article with its questions is one."""
FOUND = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object", type(None): "null"}


class Open(TypedDict):
    """A record that may have fields beyond those it names; none is taken for another type than it has."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]


class Closed(TypedDict):
    """A record that may have no other fields than those it names."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[misc]


class RepeatedId(DuplicateId):
    """Two records of a file have the same id."""


class Ids:
    """The ids seen so far, to find one that is there twice."""

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._seen: dict[str, str] = {}

    def add(self, id: str, where: str, *, may_be_empty: bool = False) -> None:  # noqa: A002 - what the field is called
        """Note that ``id`` stands at ``where``; RepeatedId where it stood somewhere already, BrokenInput where it is empty.

        A question must have one; the name of a paragraph ``may_be_empty``.
        """
        if not (id or may_be_empty):
            raise BrokenInput(f"{where}: the id is empty; give the record one of its own.")
        if id in self._seen:
            raise RepeatedId(f"{where}: id {id} was already used in {self._seen[id].rpartition(', ')[2]}; drop one of them.")
        self._seen[id] = where


def validated(value: object, kind: TypeAdapter[Record], where: str) -> Record:
    """``value`` as ``kind``; MissingInput or BrokenInput with the first field that is not what it must be.

    A field of another type that can only mean one thing is read as that (:mod:`kgqa.formats.json.types`).
    """
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    try:
        copy = deepcopy(value)
        for _ in range(MENDED):
            if not mended(copy, first["loc"], first["type"]):
                break
            try:
                return kind.validate_python(copy)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
    except RecursionError:  # nested too deeply to be copied
        pass
    first = _first(value, kind)
    # Of a field that may be of several types pydantic names the type as well.
    field = ".".join(str(part) for part in first["loc"] if part not in {"str", "list[str]"})
    if first["type"] == "missing":
        raise MissingInput(f"{where}: the field {field!r} is missing; every such record has one.")
    found = FOUND.get(type(first["input"]), type(first["input"]).__name__)
    expected = EXPECTED.get(first["type"])
    reason = f"expected {expected}, found {found}" if expected else _limit(first)
    raise BrokenInput(f"{where}{f', field {field!r}' if field else ''}: {reason}; fix or drop the record.")


def _first(value: object, kind: TypeAdapter[Record]) -> ErrorDetails:
    """What is wrong with ``value`` as it came."""
    try:
        kind.validate_python(value)
    except ValidationError as error:
        return error.errors(include_url=False)[0]
    raise AssertionError("it was wrong before")


def _limit(error: ErrorDetails) -> str:
    """What a value of the right kind is beyond; of a kind of fault that no record here can have, what pydantic says."""
    limits = error.get("ctx", {})
    match error["type"]:
        case "too_long":
            return f"expected a list of at most {limits['max_length']}, found one of {limits['actual_length']}"
        case "too_short":
            return f"expected a list of at least {limits['min_length']}, found one of {limits['actual_length']}"
        case "literal_error":
            return f"expected {limits['expected']}, found {str(error['input'])[:60]!r}"
    return error["msg"]
