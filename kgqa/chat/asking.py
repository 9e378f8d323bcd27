"""Many conversations with a model at once: each answer is judged, recorded, and paid for within a limit."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from threading import Event, Lock
from typing import Any, Generic, TypeVar

from kgqa.chat.endpoint import CHARACTERS_PER_TOKEN, NO_KEY, Endpoint, Failed, Message, cost
from kgqa.chat.recording import Answer, Recording
from kgqa.errors import EndpointError, SettingsError
from kgqa.runs.files import key_of
from kgqa.settings.llm import LlmSettings

ALL_BROKEN = 20
"""If this many first conversations get no answer of the right form, the run stops."""
AHEAD = 4
"""Conversations that wait for each one in progress, so that a slow one keeps no other from being asked."""
FIRST_WAIT = 0.5
"""Seconds before the first retry; doubled for each further one."""
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Generic[Result]):
    """The result of an answer, and the complaint about it."""

    result: Result
    complaint: str = ""
    """The message for the next attempt; empty if the answer is good."""
    is_broken: bool = False
    """Whether the answer has the wrong form."""
    is_new: bool = False
    """Whether a request was sent for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation(Generic[Result]):
    """A first request, and the judge of its answers."""

    messages: Sequence[Message]
    schema: Mapping[str, Any]
    """The JSON schema of an answer."""
    name: str
    """Name of the schema, in letters and underscores."""
    judge: Callable[[Answer], Judged[Result]]
    sample: int = 0
    """Number of the sample, if the same request is sent several times."""


class Stopped(Exception):
    """The run was stopped by another error; no more requests are sent."""


class Asker:
    """Requests the answers that are not recorded yet."""

    def __init__(self, endpoint: Endpoint, recording: Recording, settings: LlmSettings, *, fewer: str = "") -> None:
        """Store the arguments; no request is sent. ``fewer``: how users ask for less, for the message about ``max_cost``."""
        self._endpoint, self._recording, self._settings, self._fewer = endpoint, recording, settings, fewer
        self._lock = Lock()
        self._turns: dict[str, Lock] = defaultdict(Lock)
        """Request → the lock of who sends it: equal requests are sent once."""
        self._stop = Event()
        self._reserved = 0.0
        """Cost of the requests in flight, and of those that failed and may have been billed."""
        self._answers: dict[str, Answer] = {}
        self.requests = 0
        """Requests sent, including retries."""

    @property
    def answers(self) -> Mapping[str, Answer]:
        """Request hash → answer, for all answers that were used, sorted."""
        return {request: self._answers[request] for request in sorted(self._answers)}

    def key(self, conversation: Conversation[Result]) -> str:
        """Hash of the first request of a conversation, under which its answer is recorded."""
        return _key(self._endpoint.request(conversation.messages, conversation.schema, conversation.name), conversation.sample)

    def spent(self) -> float:
        """Cost of all recorded answers, at the prices of the settings."""
        return cost(self._settings, self._recording.input_tokens, self._recording.output_tokens)

    def price(self, amount: float) -> str:
        """``, cost 1.2345``; empty without prices."""
        return "" if self._settings.input_price is None else f", cost {amount:,.4f}"

    def estimate(self, conversations: Iterable[tuple[str, Conversation[Result]]], *, output_tokens: int) -> str:
        """The expected cost of the first requests of ``conversations``, each after its :meth:`key`, in words.

        An answer has about ``output_tokens``.

        Raises SettingsError where this exceeds the budget, or where requests are needed and there is no key.
        """
        new = recorded = characters = 0
        for key, conversation in conversations:
            if self._recording.find(key):
                recorded += 1
            else:
                new += 1
                characters += sum(len(message["content"]) for message in conversation.messages)
        if new and self._endpoint.is_without_key:
            raise SettingsError(NO_KEY)
        inputs, outputs = characters / CHARACTERS_PER_TOKEN, new * output_tokens
        amount, limit, spent = cost(self._settings, inputs, outputs), self._settings.max_cost, self.spent()
        if new and limit is not None and spent + amount > limit:
            raise SettingsError(
                f"{new:,} requests would cost about {amount:,.4f} (after {spent:,.4f} for {self._recording.path.name}), "
                f"and max_cost is {limit:g}; raise it{self._fewer}."
            )
        price = self.price(amount) or "; without input_price and output_price their cost is not known"
        return f"{recorded:,} answers are recorded; {new:,} requests, about {inputs:,.0f} tokens in and {outputs:,} out{price}"

    def ask(self, conversations: Iterable[tuple[str, Conversation[Result]]]) -> Iterator[Judged[Result]]:
        """The last judgement of each conversation, given after its :meth:`key`, in order; ``settings.at_once`` requests are sent at once.

        A conversation ends when an answer passes, repeats an earlier one, or the attempts are used up. May be called once. Memory: a few
        conversations for each parallel request, and all recorded answers. Raises EndpointError, StorageError.
        """
        pool = ThreadPoolExecutor(self._settings.at_once)
        source, waiting = iter(conversations), deque[Future[Judged[Result]]]()
        broken_count = new_count = 0
        try:
            while True:
                for key, conversation in islice(source, AHEAD * self._settings.at_once - len(waiting)):
                    waiting.append(pool.submit(self._converse, key, conversation))
                if not waiting:
                    break
                judged = _result(waiting[0])
                waiting.popleft()
                new_count += judged.is_new
                broken_count += judged.is_new and judged.is_broken
                if broken_count == new_count == ALL_BROKEN:
                    raise EndpointError(
                        f"{self._endpoint.address}: all {new_count} answers have the wrong form; set another structured "
                        f'("object" or "schema"), a higher max_output_tokens, or give another {self._endpoint.named}; '
                        f"{self._recording.path} keeps them until it is removed."
                    )
                yield judged
        except Stopped:
            raise _cause(waiting) from None
        finally:
            self._stop.set()
            # Wait for the requests in flight: they are billed anyway.
            pool.shutdown(wait=True, cancel_futures=True)
            self._endpoint.close()

    def _converse(self, key: str, conversation: Conversation[Result]) -> Judged[Result]:
        messages, texts, is_new = list(conversation.messages), list[str](), False
        while True:
            request = self._endpoint.request(messages, conversation.schema, conversation.name)
            answer, was_sent = self._answer(_key(request, conversation.sample) if texts else key, request)
            is_new = is_new or was_sent
            judgement = conversation.judge(answer)
            texts.append(answer.text)
            if not judgement.complaint or len(texts) == self._settings.tries or answer.text in texts[:-1]:
                return replace(judgement, is_new=is_new)
            messages += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": judgement.complaint}]

    def _answer(self, key: str, request: Mapping[str, Any]) -> tuple[Answer, bool]:
        """The answer to the request with this hash, and whether a request was sent for it."""
        with self._lock:
            turn = self._turns[key]
        with turn:
            answer = self._recording.find(key)
            was_sent = answer is None
            if answer is None:
                answer = self._send(key, request)
        with self._lock:
            self._answers[key] = answer
        return answer, was_sent

    def _send(self, key: str, request: Mapping[str, Any]) -> Answer:
        """Send the request, record its answer and return it."""
        for attempt in range(self._settings.retries + 1):
            self._endpoint.pace.wait(self._settings.requests_per_minute, self._stop)
            amount = self._reserve(request)
            try:
                answer = self._endpoint.ask(request)
                self._recording.add(key, answer)
                self._release(amount)
                return answer
            except Failed as error:
                if not error.may_be_paid:
                    self._release(amount)
                if attempt == self._settings.retries:
                    self._stop.set()
                    raise
                if error.after is None:
                    self._stop.wait(FIRST_WAIT * 2**attempt)
                else:  # other requests would fail as well
                    self._endpoint.pace.hold(error.after)
            except BaseException:
                self._stop.set()
                raise
        raise AssertionError("the last attempt returns or raises")

    def _release(self, amount: float) -> None:
        with self._lock:
            self._reserved -= amount

    def _reserve(self, request: Mapping[str, Any]) -> float:
        """Reserve the maximum cost of a request. Raises EndpointError where the remaining budget is too small, Stopped."""
        max_tokens = len(json.dumps(request).encode())  # a token has at least one byte
        amount, limit = cost(self._settings, max_tokens, self._settings.max_output_tokens), self._settings.max_cost
        with self._lock:
            if self._stop.is_set():
                raise Stopped
            spent = self.spent()
            if limit is not None and spent + self._reserved + amount > limit:
                self._stop.set()
                raise EndpointError(
                    f"{self._recording.path}: {spent:,.4f} of max_cost {limit:g} is spent, and the next request may cost {amount:,.4f}; "
                    f"{len(self._recording):,} answers are recorded there, and with a higher max_cost the same command goes on."
                )
            self._reserved += amount
            self.requests += 1
        return amount


def _key(request: Mapping[str, Any], sample: int) -> str:
    return key_of(request, sample) if sample else key_of(request)


def _result(future: Future[Judged[Result]]) -> Judged[Result]:
    while not future.done():
        wait([future], timeout=0.2)  # on some systems Ctrl-C does not interrupt a wait without a timeout
    return future.result()


def _cause(futures: Iterable[Future[Judged[Result]]]) -> BaseException:
    """The error that stopped the run."""
    for future in futures:
        if not future.cancel():
            error = future.exception()
            if error is not None and not isinstance(error, Stopped):
                return error
    raise AssertionError("something stopped the run")
