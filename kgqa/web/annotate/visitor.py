"""Who sends a request: the person of the signed link that the browser keeps as a cookie."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from kgqa.collection.journal import Journal
from kgqa.collection.links import form_key, read_key
from kgqa.errors import InputError, UnknownId
from kgqa.web.errors import sentence_of

RATE, BURST = 20.0, 100
"""Requests of a person: a second, and at once. Fast typing sends about four a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """The person who sends a request."""

    person: str
    role: str
    form: str
    """What the pages of this person send with each change."""


class Visitors:
    """The people of a journal, as requests name them."""

    def __init__(self, journal: Journal) -> None:
        """The key that signs links is read once; a new one needs a new server."""
        self._journal = journal
        self._secret = journal.secret
        self._limit = RateLimit(rate=RATE, burst=BURST)
        # Cookies are shared by all ports of a host; two projects at once have names of their own.
        self.cookie = f"kgqa-{hashlib.sha256(journal.project.settings.name.encode()).hexdigest()[:12]}"

    def by_key(self, key: str) -> Visitor:
        """The person of a link's key. Raises HTTPException 403 with a sentence."""
        try:
            access = read_key(self._secret, key, project=self._journal.project.settings.name, now=time.time())
            standing = self._journal.standing(access.person)
        except (InputError, UnknownId) as error:
            raise HTTPException(403, sentence_of(error).rstrip(".")) from None
        if standing.state == "removed":
            raise HTTPException(403, "You are no longer in this project; ask its lead")
        return Visitor(person=access.person, role=standing.role, form=form_key(self._secret, key))

    def of(self, request: Request) -> Visitor:
        """The person who sends a request. Raises HTTPException 401 without a link, 403 for an invalid one, 429 for too many requests."""
        key = request.cookies.get(self.cookie, "")
        if not key:
            raise HTTPException(401, "Open the link that the lead of the project gave you")
        visitor = self.by_key(key)
        if not self._limit.take(visitor.person):
            raise HTTPException(429, "Too many requests at the same time; wait a moment")
        return visitor

    def changing(self, request: Request) -> Visitor:
        """As :meth:`of`, for a request that changes something: it has the key of this person's own pages."""
        visitor = self.of(request)
        if not hmac.compare_digest(request.headers.get("x-kgqa-form", "").encode(), visitor.form.encode()):
            raise HTTPException(403, "This page belongs to another link or is outdated; load it again")
        return visitor


def _reading(request: Request) -> Visitor:
    visitors: Visitors = request.app.state.visitors
    return visitors.of(request)


def _writing(request: Request) -> Visitor:
    visitors: Visitors = request.app.state.visitors
    return visitors.changing(request)


Reader = Annotated[Visitor, Depends(_reading)]
"""A parameter of a route: the person who looks at something."""
Writer = Annotated[Visitor, Depends(_writing)]
"""A parameter of a route: the person who changes something from a page of their own."""


def check_lead(visitor: Visitor) -> None:
    """Raise HTTPException 403 for people who are no leads."""
    if visitor.role != "lead":
        raise HTTPException(403, "Only leads of the project may do this")


class RateLimit:
    """A bucket of tokens per person: ``burst`` requests at once, then ``rate`` a second."""

    def __init__(self, *, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """All buckets are full."""
        self._rate = rate
        self._burst = float(burst)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, person: str) -> bool:
        """Whether the person may make a request now."""
        now = self._clock()
        with self._lock:
            tokens, since = self._buckets.get(person, (self._burst, now))
            tokens = min(self._burst, tokens + (now - since) * self._rate)
            self._buckets[person] = (tokens - 1 if tokens >= 1 else tokens, now)
            return tokens >= 1
