"""Settings of requests to a chat-completions endpoint."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kgqa.settings.base import Positive, Settings

NO_PRICES = "max_cost needs prices: give input_price and output_price, of a million tokens"
"""What is wrong with settings that :attr:`LlmSettings.lacks_prices`."""


class LlmSettings(Settings):
    """Requests to a chat-completions endpoint. Its address and key come only from the command line and the environment."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Sampling temperature, from 0 to 2; larger values give more varied answers. null: the endpoint's default."""
    structured: Literal["schema", "object"] = "schema"
    """Response format: ``schema`` (a JSON schema), or ``object`` (any JSON object) for endpoints without support for schemas."""
    max_output_tokens: Positive = 1000
    """Maximum tokens of a response, including reasoning tokens."""
    tries: Annotated[int, Field(ge=1, le=10)] = 2
    """Maximum attempts per chain, question or task. Each retry tells the model what was wrong with the previous response."""
    at_once: Annotated[int, Field(ge=1, le=256)] = 4
    """Maximum concurrent requests."""
    requests_per_minute: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """Maximum requests per minute to the endpoint, retries included. kgqa sends them at regular intervals. null: no limit."""
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 60.0
    """Timeout of a request in seconds, from sending it to the last byte of the response."""
    retries: Annotated[int, Field(ge=0, le=20)] = 5
    """Maximum retries of a request after a failed connection, a rate limit or a server error."""
    longest_wait: Annotated[float, Field(ge=0, le=86_400)] = 600.0
    """Maximum pause in seconds that the endpoint may request (``Retry-After``). All requests wait for it; a longer one ends the run."""
    input_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million input tokens, in any currency; requires ``output_price``."""
    output_price: Annotated[float, Field(ge=0)] | None = None
    """Price of a million output tokens, in the same currency; requires ``input_price``."""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    """Maximum total cost of all responses recorded in the workspace, in the currency of the prices; requires both prices."""

    @model_validator(mode="after")
    def _costs_need_prices(self) -> LlmSettings:
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price go together; give both or neither")
        return self

    @property
    def lacks_prices(self) -> bool:
        """Whether there is a maximum cost without prices."""
        return self.max_cost is not None and self.input_price is None


OF_REQUESTS = ("at_once", "requests_per_minute", "timeout_seconds", "retries", "longest_wait", "max_cost")
"""Settings that change no answer."""


class LlmReaderSettings(LlmSettings):
    """The reader ``llm``: its prompts, and the requests that send them."""

    shots: Annotated[int, Field(ge=0, le=64)] = 0
    """Number of examples in each prompt, drawn from the train split; 0: zero-shot."""
    retrieve: Annotated[int, Field(ge=0, le=1000)] | None = None
    """Number of paragraphs that BM25 retrieves from the whole set, in place of the question's own; 0: no paragraphs; null: the question's
    own."""
    samples: Annotated[int, Field(ge=1, le=64)] = 1
    """Answers sampled per question. The most frequent one is the prediction, and its share is the confidence. Larger values cost more."""
    reasoning: bool = False
    """Ask for the reasoning before the answer, for models that do not reason by themselves."""
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    """Seed for drawing the examples."""

    @model_validator(mode="after")
    def _samples_differ(self) -> LlmReaderSettings:
        if self.samples > 1 and self.temperature == 0:
            raise ValueError("with a temperature of 0 all samples are the same; set samples = 1, or a higher temperature")
        return self


class EndpointReaderSettings(LlmReaderSettings):
    """The reader ``llm`` in the place of a trained one."""

    model: Annotated[str, Field(min_length=1)]
    """The endpoint's name of its model."""
    shows: Literal["all", "question", "context", "paragraph"] = "all"
    """Content of a prompt: everything, only the question, only the paragraphs, or each paragraph by itself."""

    @model_validator(mode="after")
    def _shows_own_paragraphs(self) -> EndpointReaderSettings:
        if self.retrieve:
            raise ValueError("retrieve: here the paragraphs are the question's own; leave it out")
        return self

    @model_validator(mode="after")
    def _limits_need_prices(self) -> EndpointReaderSettings:
        if self.lacks_prices:
            raise ValueError(NO_PRICES)
        return self
