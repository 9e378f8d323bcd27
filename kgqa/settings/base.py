"""Base of every settings model: frozen, strict about names, with a few kinds of number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from kgqa.errors import suggestion
from kgqa.settings.kinds import LIST, TABLE, TEXT, kind_fault, members, toml

Share = Annotated[float, Field(gt=0, le=1)]
SplitShare = Annotated[float, Field(ge=0, lt=1)]
"""The share of a split that may be empty."""


def matching(pattern: str, words: str) -> AfterValidator:
    """For a text that must match ``pattern`` from end to end; ``words`` say what it must be."""

    def check(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise PydanticCustomError("kind", "{fault}", {"fault": f"it must be {words}"})
        return value

    return AfterValidator(check)


Name = Annotated[str, matching(r"[a-z0-9][a-z0-9_-]*", "lower-case letters, digits, - and _, beginning with a letter or digit")]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]


class Settings(BaseModel):
    """Frozen, and strict about names and kinds: a misspelt key is an error, and so is a text in the place of a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)
    removed: ClassVar[Mapping[str, str]] = {}
    """Setting of an earlier version → what replaces it, a clause without a full stop."""

    @field_validator("*", mode="before")
    @classmethod
    def _kind(cls, value: Any, info: ValidationInfo) -> Any:
        """Pydantic itself takes "5" for 5, true for 1, and "no" for false."""
        if fault := kind_fault(cls.model_fields[info.field_name or ""].annotation, value):
            raise PydanticCustomError("kind", "{fault}", {"fault": fault})
        return value


_WORDS = {
    "extra_forbidden": "there is no such field",
    "missing": "it is missing",
    "tuple_type": f"it must be {LIST}",
    "list_type": f"it must be {LIST}",
    "too_short": "the list is too short; it needs {min_length} or more",
    "too_long": "the list is too long; it takes {max_length} at most",
    "dict_type": f"it must be {TABLE}",
    "mapping_type": f"it must be {TABLE}",
    "model_type": f"it must be {TABLE}",
    "string_type": f"it must be {TEXT}",
    "string_too_short": "it is empty",
    "string_too_long": "it must have at most {max_length} characters",
    "literal_error": "it must be {expected}",
    "finite_number": "it must be a finite number",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than": "it must be less than {lt}",
    "less_than_equal": "it must be at most {le}",
}
"""Type of an error of pydantic → words for those who write TOML and no Python. No text has another least length than 1."""


def plain_fault(error: Mapping[str, Any]) -> str:
    """The fault of a value, from one of the ``errors`` of a ValidationError, without a full stop."""
    if error["type"] == "too_short" and not error["ctx"]["actual_length"]:
        return "the list is empty"
    words = _WORDS.get(error["type"])
    if words is None:
        return str(error["msg"]).removeprefix("Value error, ").rstrip(".")
    bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in error.get("ctx", {}).items()}
    return words.format(**bounds)


def setting_fault(first: Mapping[str, Any], model: type[BaseModel], *within: str, missing: str = "add it") -> str:
    """The first of the ``errors`` of a ValidationError of settings as a sentence: the setting, its value, and what it must be.

    ``model`` is what was validated, ``within`` the keys that lead to it, and ``missing`` what to do about a setting without default.
    """
    names, at = _place(model, first["loc"])
    name, key = ".".join((*within, *names)), names[-1] if names else ""
    if first["type"] == "extra_forbidden":
        if key in at.removed:
            return f"the setting {name!r} does not exist any more: {at.removed[key]}."
        return f"unknown setting {name!r}; {suggestion(key, list(at.model_fields)) if at.model_fields else 'there are none here.'}"
    if first["type"] == "missing":
        return f"the setting {name!r} is missing; {missing}."
    message = plain_fault(first)
    if first["type"] != "value_error":
        message = f"the setting {name or 'file'!r} cannot be {toml(first['input'])}: {message}"
    elif name:
        message = f"{name}: {message}"
    return message if message.endswith("?") else f"{message}."


def _place(model: type[BaseModel], loc: Sequence[int | str]) -> tuple[list[str], type[Settings]]:
    """The names of the keys that lead to a fault, and the settings that have the last one.

    Pydantic also names the member of a union, and calls the fault of a key ``[key]``.
    """
    names: list[str] = []
    at: Any = model
    settings: Any = model
    for part in loc:
        options = [option for option in members(at) if option is not NoneType]
        named = {getattr(option, "__name__", ""): option for option in options} if len(options) > 1 else {}
        if part in named or part == "[key]" or str(part).startswith(("tuple[", "dict[")):
            at = named.get(str(part), at)
            continue
        names.append(str(part + 1 if isinstance(part, int) else part))
        at = options[0] if options else Any
        if isinstance(at, type) and issubclass(at, BaseModel):
            settings = at
            at = at.model_fields[str(part)].annotation if part in at.model_fields else Any
        else:
            at = get_args(at)[-1 if get_origin(at) in {dict, Mapping} else 0] if get_args(at) else Any
    return names, settings


class SplitShares(Settings):
    """Shares of the splits, which add up to 1; a recipe has its own defaults."""

    train: Share = 0.8
    """Share of the train split."""
    dev: SplitShare = 0.1
    """Share of the dev split."""
    test: SplitShare = 0.1
    """Share of the test split."""

    @model_validator(mode="after")
    def _shares_add_up(self) -> Self:
        if abs(self.train + self.dev + self.test - 1) > 1e-9:
            raise ValueError(f"train, dev and test must add up to 1, but they add up to {self.train + self.dev + self.test:g}")
        return self


def located_fault(error: ValidationError, *, whole: str = "") -> str:
    """``field: fault`` of the first fault, without a full stop. ``whole``: the model's name."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or whole
    return f"{place}: {plain_fault(first)}" if place else plain_fault(first)


class RecipeSettings(Settings):
    """Settings of a recipe: the section of a domain with the recipe's name. Every field has a default."""

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kinds of entity that it names, which the domain's layout must have."""
        return ()
