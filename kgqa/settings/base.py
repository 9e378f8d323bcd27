"""What every model of settings is: frozen, strict about names, and made of a few kinds of number."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Field(gt=0, le=1)]


Positive = Annotated[int, Field(ge=1, le=1_000_000)]


class Settings(BaseModel):
    """Frozen, and strict about names: a misspelt key is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class RecipeSettings(Settings):
    """What a recipe can be told: the part of a domain that is called like the recipe. Every field has a default."""

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kinds of entity that it names, which the domain's layout must have."""
        return ()
