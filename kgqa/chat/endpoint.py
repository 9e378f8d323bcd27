"""A chat-completions endpoint, with one sentence for each failure."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kgqa.chat.pace import pace_of
from kgqa.chat.recording import Answer
from kgqa.errors import EndpointError, SettingsError, require_packages
from kgqa.settings.llm import LlmSettings
from kgqa.sources.retry_after import seconds_until

if TYPE_CHECKING:
    from openai import APIStatusError

    from kgqa.chat.client import Client

KEY = "OPENAI_API_KEY"
ADDRESS = "OPENAI_BASE_URL"
"""Environment variables of the key and the address."""
MOST_LETTERS = 2000
"""Limit of the address, in characters."""
TEMPLATE_TOKENS = 4096
"""Tokens that an endpoint may add to a prompt. A token has at least one byte, so a larger count than bytes and these is an error."""
MOST_FINISH = 40
"""Maximum number of characters of a finish reason."""
MOST_CHOICES = 8
"""Choices accepted in an answer; each request asks for one."""
FEWEST_LETTERS = 12
"""Characters of a secret key. Shorter ones are placeholders for local servers, such as "none" or "EMPTY"."""
BLANKED = "…"
DEFAULT = "https://api.openai.com/v1"
FILTERED = "content_filter"
TOO_LONG = "context_length_exceeded"
"""Finish reasons of requests that an endpoint refuses, for its own reasons or for their length: they concern one conversation only."""
CHARACTERS_PER_TOKEN = 4.0
"""Characters per token, to estimate tokens."""
AGAIN = "what was answered is recorded; run the same command again, and it goes on"
NO_KEY = f"{KEY} is not set, without which {DEFAULT} answers nobody; set it, or give another --endpoint."
Message = Mapping[str, str]


class Failed(EndpointError):
    """A failed request that may succeed later."""

    def __init__(self, message: str, *, after: float | None = None, may_be_paid: bool = False) -> None:
        """``after``: seconds that the endpoint wants the client to wait."""
        super().__init__(message)
        self.after = after
        self.may_be_paid = may_be_paid


class Endpoint:
    """A model behind an address; safe to use from several threads."""

    def __init__(self, address: str | None, model: str, settings: LlmSettings, *, what: str, named: str = "--model") -> None:
        """``address``: by default that of the environment. For messages: ``what`` needs it, and the option or setting that names the model.

        Sends nothing. Raises SettingsError.
        """
        if address is not None:
            check_address(address)
        self.address = address or os.environ.get(ADDRESS) or DEFAULT
        check_address(self.address)
        require_packages(what, "llm", "openai")
        key = os.environ.get(KEY, "")
        if not key.isascii() or not key.isprintable() or set(key) & set(" \"'\\"):  # other libraries would escape these in their messages
            raise SettingsError(f"{KEY} holds a sign that no key has, as a blank, a line break or a quotation mark; set it again.")
        self.is_without_key = not key and self.address == DEFAULT
        """Whether the endpoint will refuse every request for lack of a key."""
        self._model, self._settings = model, settings
        self.named = named
        self.pace = pace_of(self.address)
        self._lock = Lock()
        self._client: Client | None = None

    def request(self, messages: Sequence[Message], schema: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The body of a request: everything that an answer depends on except the address. ``schema``: JSON schema of an answer."""
        settings = self._settings
        form: dict[str, Any] = {"type": "json_object"}
        if settings.structured == "schema":
            form = {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": dict(schema)}}
        temperature = {} if settings.temperature is None else {"temperature": settings.temperature}
        limit = {"max_completion_tokens": settings.max_output_tokens}
        # Half a surrogate pair, which a text of a JSON file may hold, cannot be sent.
        texts = [{name: text.encode("utf-8", "replace").decode() for name, text in message.items()} for message in messages]
        return {"model": self._model, "messages": texts, "response_format": form, **limit, **temperature}

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> Client:
        """The client, opened at the first request; with all answers recorded there is none."""
        from kgqa.chat.client import Client

        if self.is_without_key:
            raise SettingsError(NO_KEY)
        settings = self._settings
        with self._lock:
            if self._client is None:
                # Local servers need no key, but the client does. kgqa itself retries, since it knows when it was stopped.
                key = os.environ.get(KEY) or "none"
                self._client = Client(address=self.address, key=key, seconds=settings.timeout_seconds, tokens=settings.max_output_tokens)
            return self._client

    def ask(self, request: Mapping[str, Any]) -> Answer:
        """Send a :meth:`request` once. Raises Failed where a retry may help, else EndpointError; the messages leave out the key."""
        import openai

        from kgqa.chat.client import Unusable

        place = f"{self.address}, model {self._model}"
        try:
            body = self._opened().send(request)
        except (openai.APITimeoutError, TimeoutError):
            late = f"no answer in {self._settings.timeout_seconds:g} s, or none that ended"
            raise Failed(f"{place}: {late}; {AGAIN}, or raise timeout_seconds.", may_be_paid=True) from None
        except Unusable as error:
            raise EndpointError(f"{place}: {_short(error, max_length=400)}.") from None
        except openai.APIConnectionError as error:
            raise Failed(f"{place}: it cannot be reached ({_short(error.__cause__ or error)}); {AGAIN}.") from None
        except openai.APIStatusError as error:
            filter_message = _filtered(error)
            if filter_message:
                return filter_message
            message = f"{place}: {self._reason(error)}"
            if error.status_code not in {408, 409, 429} and error.status_code < 500:
                raise EndpointError(message) from None
            after = seconds_until(error.response.headers.get("retry-after", ""))
            if after is not None and after > self._settings.longest_wait:
                raise EndpointError(
                    f"{place}: it wants no request for {after:,.0f} s (status {error.status_code}: {_short(error)}); {AGAIN}, or raise "
                    "longest_wait."
                ) from None
            raise Failed(message, after=after) from None
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            raise EndpointError(f"{place}: it answers with no chat completion ({_short(error)}); is the address right?") from None
        return self._answer(body, place, request_bytes=len(json.dumps(request).encode()))

    def _reason(self, error: APIStatusError) -> str:
        status = error.status_code
        if status in {401, 403}:
            return f"it refuses the key in {KEY} (status {status}); set another one."
        detail = _short(error)
        if status == 404:
            return (
                f"there is no such model, or nothing that completes chats here (status 404: {detail}); give another {self.named}, or "
                "another --endpoint."
            )
        if status == 429:
            return (
                f"too many requests, or none left to pay for (status 429: {detail}); {AGAIN}, with a lower requests_per_minute or at_once."
            )
        if status in {400, 422}:
            return f'it refuses the request (status {status}: {detail}); if it knows no JSON schema, set structured = "object".'
        return f"it fails (status {status}: {detail}); {AGAIN}."

    def _answer(self, body: bytes, place: str, *, request_bytes: int) -> Answer:
        """Parse a response. Token counts that are missing or impossible are estimated from the lengths of request and answer.

        Raises EndpointError where the body is no chat completion.
        """
        payload = _parsed(body)
        choices: Any = payload.get("choices")
        choice: Any = choices[0] if isinstance(choices, list) and choices else None
        message: Any = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(message, dict):
            begin = body[:1000].decode("utf-8", "replace")
            raise EndpointError(f"{place}: it answers with no chat completion ({_short(begin)}); is the address right?")
        if len(choices) > MOST_CHOICES:
            raise EndpointError(f"{place}: it answers with {len(choices):,} choices instead of one; check the address.")
        content = message.get("content")
        # Half a surrogate pair cannot be encoded.
        text = _blanked(content).encode("utf-8", "replace").decode() if isinstance(content, str) else ""
        usage = payload.get("usage")
        inputs = _count(usage, "prompt_tokens", request_bytes, low=1, high=request_bytes + TEMPLATE_TOKENS)
        outputs = _count(usage, "completion_tokens", len(text), low=0, high=max(self._settings.max_output_tokens, len(text.encode())))
        finish_reason = _blanked(str(choice.get("finish_reason") or "stop"))
        finish = (
            FILTERED
            if message.get("refusal")
            else finish_reason
            if finish_reason.isidentifier() and len(finish_reason) <= MOST_FINISH
            else "other"
        )
        return Answer(text=text, finish=finish, input_tokens=inputs, output_tokens=outputs)


def check_address(address: str) -> None:
    """Raise SettingsError for an invalid address; the message leaves out the address, which may hold a secret."""
    try:
        parts = urlsplit(address)
        usable = address.isascii() and address.isprintable() and " " not in address and len(address) < MOST_LETTERS
        usable = usable and parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise SettingsError(
            f"--endpoint or {ADDRESS} is no address of a chat-completions endpoint; give one such as http://localhost:8000/v1."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SettingsError(f"--endpoint or {ADDRESS} holds more than scheme, host, port and path; a key belongs into {KEY}.")


def cost(settings: LlmSettings, inputs: float, outputs: float) -> float:
    """The price of these tokens; 0 where no price is known."""
    if settings.input_price is None or settings.output_price is None:
        return 0.0
    return (inputs * settings.input_price + outputs * settings.output_price) / 1e6


def _filtered(error: APIStatusError) -> Answer | None:
    """The answer for a request whose content or length the endpoint rejects, which concerns one conversation only; else None."""
    if error.status_code == 400 and error.code in {FILTERED, TOO_LONG}:
        return Answer(text="", finish=str(error.code), input_tokens=0, output_tokens=0)
    return None


def _parsed(body: bytes) -> Mapping[str, Any]:
    """The JSON object of a body; empty where it is none."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _count(usage: object, name: str, characters: int, *, low: int, high: int) -> int:
    """The count of the server, or an estimate where it gives none between ``low`` and ``high``."""
    value: Any = usage.get(name) if isinstance(usage, dict) else None
    is_count = type(value) is int and low <= value <= high
    return value if is_count else round(characters / CHARACTERS_PER_TOKEN)


def _blanked(text: str) -> str:
    """``text`` without the key, whether its characters are plain or JSON escapes."""
    key = os.environ.get(KEY, "")
    if len(key) < FEWEST_LETTERS:
        return text
    slash = {"/": r"|\\/"}
    letters = (rf"(?:{re.escape(letter)}|\\u(?i:{ord(letter):04x}){slash.get(letter, '')})" for letter in key)
    return re.sub("".join(letters), BLANKED, text)


def _short(message: object, *, max_length: int = 160) -> str:
    """At most ``max_length`` characters of another program's message, without the key."""
    text, key = " ".join(str(message).split()), os.environ.get(KEY)
    if key:  # the key has printable characters only, so messages quote it unchanged
        text = text.replace(key, BLANKED)
    return f"{text[:max_length]}…" if len(text) > max_length else text
