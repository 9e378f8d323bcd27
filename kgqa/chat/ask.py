"""Questions to a model whose answers are JSON of a pydantic model: one, or many at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from kgqa.chat.asking import Asker, Conversation, Judged
from kgqa.chat.endpoint import FILTERED, TOO_LONG, Endpoint, Message
from kgqa.chat.recording import Answer, only_recording
from kgqa.errors import SettingsError
from kgqa.progress import Progress, Silent
from kgqa.settings.llm import NO_PRICES, LlmSettings

BROKEN = "the endpoint's answers were not of the form that was asked for"
UNSEEN = "the endpoint refuses to answer"
LONG = "the prompt is longer than the model reads"
"""Reasons for a missing answer."""
OUTPUT_TOKENS = 100
"""Estimated tokens of one answer, for the cost estimate."""
WORDS_OF_FAULT = 200
"""Maximum characters of a fault that is sent back to the model."""
IGNORED = ("title", "default", "minLength", "maxLength")
"""Keys of pydantic's JSON schemas that endpoints with strict schemas refuse; the answer is checked against them all the same."""
Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[Form]):
    """The answer to a conversation, or the reason for its absence."""

    value: Form | None = None
    reason: str = ""
    """A sentence without full stop; empty if there is a value."""


def ask(
    messages: Sequence[Message],
    schema: type[Form],
    *,
    model: str,
    recording: str | Path,
    endpoint: str | None = None,
    settings: LlmSettings | None = None,
    check: Callable[[Form], str] | None = None,
) -> Asked[Form]:
    """The ``model``'s answer to ``messages``, as an instance of the pydantic model ``schema``.

    ``messages`` have ``role`` (``system``, ``user``, ``assistant``) and ``content``. ``check`` returns what is wrong with a well-formed
    answer, "" if nothing is. After a wrong answer the request is repeated with the reason, ``settings.tries`` requests at most. If it stays
    wrong, or the endpoint refuses to answer, the result is an :class:`Asked` with a reason; an endpoint that fails raises EndpointError.

    Every answer is appended to the file ``recording``, and a recorded one is not requested again: the same recording gives the same values
    without an endpoint. ``endpoint`` is by default ``OPENAI_BASE_URL``, or OpenAI's. The key is ``OPENAI_API_KEY``; it is never recorded.
    :func:`ask_all` asks many things at once, and reads the recording only once.

    Raises SettingsError, EndpointError, BrokenInput, StorageError, WorkspaceBusy.
    """
    checks = None if check is None else lambda _, value: check(value)
    [asked] = ask_all([messages], schema, model=model, recording=recording, endpoint=endpoint, settings=settings, check=checks)
    return asked


def ask_all(
    conversations: Sequence[Sequence[Message]],
    schema: type[Form],
    *,
    model: str,
    recording: str | Path,
    endpoint: str | None = None,
    settings: LlmSettings | None = None,
    check: Callable[[int, Form], str] | None = None,
    what: str = "a model behind an endpoint",
    progress: Progress | None = None,
) -> list[Asked[Form]]:
    """As :func:`ask`, for each of the ``conversations``, in order, with ``settings.at_once`` parallel requests.

    ``check`` also gets the number of the conversation, from 0. ``what`` needs the endpoint, for messages. ``progress`` shows the cost
    before and after. With ``settings.max_cost``, nothing is sent if the estimate exceeds it, and no request that could exceed it. A stopped
    call loses no answer: the same call goes on from the recording.
    """
    settings, progress = settings or LlmSettings(), progress or Silent()
    check_prices(settings)
    server = Endpoint(endpoint, model, settings, what=what, named="model")
    form = strict_schema(schema)
    talks = [
        Conversation(
            messages=messages,
            schema=form,
            name=schema.__name__.strip("_").lower(),
            judge=partial(judge, schema=schema, check=None if check is None else partial(check, number)),
        )
        for number, messages in enumerate(conversations)
    ]
    with only_recording(Path(recording)) as record:
        asker = Asker(server, record, settings)
        keyed = [(asker.key(talk), talk) for talk in talks]
        progress.start("Estimating what the endpoint costs")
        progress.finish(asker.estimate(keyed, output_tokens=OUTPUT_TOKENS))
        before = asker.spent()
        progress.start(f"Asking {server.address}", len(talks), "answers")
        results = []
        for judged in asker.ask(keyed):
            results.append(judged.result)
            progress.advance(1)
        progress.finish(f"{asker.requests:,} requests{asker.price(asker.spent() - before)}")
    return results


def check_prices(settings: LlmSettings) -> None:
    """Raise SettingsError for a limit of the cost without prices."""
    if settings.lacks_prices:
        raise SettingsError(f"{NO_PRICES}.")


def judge(answer: Answer, *, schema: type[Form], check: Callable[[Form], str] | None) -> Judged[Asked[Form]]:
    """Parse an answer, and check it; the complaint tells the model what is wrong."""
    if answer.finish in {FILTERED, TOO_LONG}:
        return Judged(result=Asked(reason=UNSEEN if answer.finish == FILTERED else LONG))
    begin, end = answer.text.find("{"), answer.text.rfind("}")
    try:
        # Models often put the JSON into a code fence.
        value = schema.model_validate_json(answer.text[begin : end + 1] if 0 <= begin < end else "")
    except ValidationError as error:
        hint = " It was cut off; be shorter." if answer.finish == "length" else ""
        complaint = f"This is not JSON of the form that was asked for ({_fault(error)}).{hint} Answer with that JSON alone."
        return Judged(result=Asked(reason=BROKEN), complaint=complaint, is_broken=True)
    fault = "" if check is None else check(value)
    if fault:
        complaint = f"This cannot be used: {fault}. Answer again, as JSON of the same form."
        return Judged(result=Asked(reason=fault), complaint=complaint)
    return Judged(result=Asked(value=value))


def _fault(error: ValidationError) -> str:
    """The first fault: field and message."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}"[:WORDS_OF_FAULT] if place else str(first["msg"])[:WORDS_OF_FAULT]


def strict_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of a pydantic model, as endpoints with strict schemas want it: all fields required, no others allowed."""
    schema: dict[str, Any] = json.loads(json.dumps(model.model_json_schema()))
    for part in _objects(schema):
        for name in IGNORED:
            part.pop(name, None)
        if "properties" in part:
            part["required"], part["additionalProperties"] = list(part["properties"]), False
    return schema


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All schemas within a schema; the names of fields are no keywords."""
    if isinstance(value, Mapping):
        assert isinstance(value, dict)
        yield value
        for name, part in value.items():
            yield from _objects(list(part.values()) if name in {"properties", "$defs"} else part)
    elif isinstance(value, list):
        for part in value:
            yield from _objects(part)
