"""Settings of requests to a chat-completions endpoint."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kgqa.settings.base import Positive, Settings


class LlmSettings(Settings):
    """Requests to a chat-completions endpoint. Its address and key come only from the command line and the environment."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature; null: the endpoint's default."""
    structured: Literal["schema", "object"] = "schema"
    """Response format: a JSON ``schema``, or any JSON ``object`` for endpoints without schemas."""
    max_output_tokens: Positive = 1000
    """Maximum tokens of a response, including reasoning."""
    tries: Annotated[int, Field(ge=1, le=10)] = 2
    """Maximum attempts per chain, question or task. Each retry tells the model what was wrong."""
    at_once: Annotated[int, Field(ge=1, le=256)] = 4
    """Concurrent requests."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Timeout of a request in seconds, from sending to the last byte."""
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    """Retries after a failed connection, a rate limit or a server error."""
    input_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million input tokens; needs ``output_price``."""
    output_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million output tokens; needs ``input_price``."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """Maximum cost of all responses that the workspace has recorded, in the currency of the prices, which it requires."""

    @model_validator(mode="after")
    def _costs_need_prices(self) -> LlmSettings:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together; give both or none")
        return self
