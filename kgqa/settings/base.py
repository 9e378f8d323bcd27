"""Base of every settings model: frozen, strict about names, with a few kinds of number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

Share = Annotated[float, Field(gt=0, le=1)]


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


class RecipeSettings(Settings):
    """Settings of a recipe: the section of a domain with the recipe's name. Every field has a default."""

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kinds of entity that it names, which the domain's layout must have."""
        return ()
