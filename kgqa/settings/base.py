"""Base of every settings model: frozen, strict about names, with a few kinds of number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator

Share = Annotated[float, Field(gt=0, le=1)]
SplitShare = Annotated[float, Field(ge=0, lt=1)]
"""The share of a split that may be empty."""


Positive = Annotated[int, Field(ge=1, le=1_000_000)]


class Settings(BaseModel):
    """Frozen, and strict about names: a misspelt key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _true_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        """TOML tells true from 1; pydantic takes one for the other, and "no" for false."""
        annotation = cls.model_fields[info.field_name or ""].annotation
        kinds = {annotation, *get_args(annotation)}
        if bool in kinds and not isinstance(value, bool):
            raise ValueError(f"it must be true or false, without quotation marks, not {value!r}")
        if isinstance(value, bool) and kinds & {int, float}:
            raise ValueError(f"it must be a number, not {str(value).lower()}")
        return value


_PLAIN = {
    "tuple_type": "it must be a list, in brackets",
    "too_short": "the list is empty",
    "dict_type": "it must be a table, as { name = value }",
    "string_type": "it must be a text, in quotation marks",
    "string_too_short": "it is empty",
}
"""Type of an error of pydantic → words for those who write TOML and no Python. No list or text has another least length than 1."""


def plain_fault(error: Mapping[str, Any]) -> str:
    """The fault of a value, from one of the ``errors`` of a ValidationError, without a full stop."""
    return _PLAIN.get(error["type"], str(error["msg"])).removeprefix("Value error, ")


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


def located_fault(error: ValidationError, *within: str, whole: str = "") -> str:
    """``field: fault`` of the first fault, without a full stop. ``within``: keys that lead to the model; ``whole``: the model's name."""
    first = error.errors()[0]
    place = ".".join(map(str, (*within, *first["loc"]))) or whole
    return f"{place}: {plain_fault(first)}" if place else plain_fault(first)


class RecipeSettings(Settings):
    """Settings of a recipe: the section of a domain with the recipe's name. Every field has a default."""

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kinds of entity that it names, which the domain's layout must have."""
        return ()
