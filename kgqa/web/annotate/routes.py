"""The routes of people who annotate: the page of the next item, and what its script sends."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from kgqa.collection.journal import Journal, Refused, Reservation
from kgqa.web.annotate.visitor import Reader, Visitor, Visitors, Writer
from kgqa.web.rendering import Pages

RESULTS = 10
"""Documents that a search shows."""
MOST_QUERY = 1000
Id = Annotated[str, Query(min_length=1, max_length=200)]


class Body(BaseModel):
    """The JSON body of a request from a page."""

    model_config = ConfigDict(extra="forbid", strict=True)


class OfItem(Body):
    """A request about one item."""

    item: str = Field(max_length=200)


class Draft(OfItem):
    """An unfinished answer, which is saved while the person writes."""

    answer: dict[str, Any]
    version: int = Field(ge=0)


class Check(OfItem):
    """An unfinished answer to check for faults."""

    answer: dict[str, Any]


class Submission(OfItem):
    """A finished answer; ``token`` makes a repeated request harmless."""

    answer: dict[str, Any]
    token: str = Field(max_length=64)
    seconds: float = Field(ge=0, le=1e7)


class Reason(OfItem):
    """Why an item is skipped or flagged."""

    reason: str


def routes(journal: Journal, visitors: Visitors, pages: Pages, submitted: Callable[[str, int], object]) -> APIRouter:
    """Routes of the pages of ``journal``."""
    router = APIRouter(default_response_class=HTMLResponse)

    @router.get("/enter")
    def enter(request: Request, key: Annotated[str, Query(max_length=2000)]) -> Response:
        """Take a link. A browser that another person uses asks first."""
        visitor = visitors.by_key(key)
        earlier = request.cookies.get(visitors.cookie, "")
        if earlier and earlier != key:
            try:
                other_person = visitors.by_key(earlier).person
            except HTTPException:
                other_person = visitor.person
            if other_person != visitor.person:
                return pages.page(
                    request, "enter.html", key=key, other=other_person, name=visitor.person, person="", role="", form=""
                )  # fmt: skip
        return _welcome(visitors.cookie, key)

    @router.post("/enter")
    def change_person(key: Annotated[str, Query(max_length=2000)]) -> Response:
        """Use a link in place of the one of another person."""
        visitors.by_key(key)
        return _welcome(visitors.cookie, key)

    @router.get("/")
    def start(request: Request, visitor: Reader) -> Response:
        """The person's next item, or why there is none."""
        if visitor.role == "lead":
            return RedirectResponse("/progress", status_code=303)
        reservation = journal.next_item(visitor.person)
        if reservation is None:
            return person_page(pages, journal, request, visitor, "done.html")
        return item_page(request, visitor, reservation)

    def item_page(request: Request, visitor: Visitor, reservation: Reservation) -> HTMLResponse:
        item = reservation.item
        step = journal.task.steps[item.step]
        return person_page(
            pages, journal, request, visitor, "item.html", item=item, step=step, draft=reservation.draft,
            shown=step.shown(item, reservation.draft),
            version=reservation.version, token=secrets.token_hex(16), action="submit", refusals=journal.refusals(visitor.person),
        )  # fmt: skip

    @router.post("/api/draft", response_class=JSONResponse)
    def draft(visitor: Writer, body: Draft) -> dict[str, Any]:
        """Save an unfinished answer."""
        return {"version": journal.save_draft(visitor.person, body.item, body.answer, version=body.version)}

    @router.post("/api/check", response_class=JSONResponse)
    def check(visitor: Writer, body: Check) -> dict[str, Any]:
        """What the live checks find in an answer."""
        return {"faults": [asdict(fault) for fault in journal.faults(visitor.person, body.item, body.answer)]}

    @router.post("/api/submit", response_class=JSONResponse)
    def submit(visitor: Writer, body: Submission) -> Any:
        """Append an answer. It is on disk before the response."""
        try:
            number = journal.submit(visitor.person, body.item, body.answer, token=body.token, seconds=body.seconds)
        except Refused as refused:
            return refusal(refused)
        submitted(body.item, number)
        return {"event": number}

    @router.post("/api/undo", response_class=JSONResponse)
    def undo(visitor: Writer) -> dict[str, Any]:
        """Take back the last answer."""
        return {"item": journal.undo(visitor.person).item.id}

    @router.post("/api/skip", response_class=JSONResponse)
    def skip(visitor: Writer, body: Reason) -> dict[str, Any]:
        """Skip an item, which goes to another person."""
        journal.skip(visitor.person, body.item, body.reason)
        return {}

    @router.post("/api/flag", response_class=JSONResponse)
    def flag(visitor: Writer, body: Reason) -> dict[str, Any]:
        """Report a problem with an item."""
        journal.flag(visitor.person, body.item, body.reason)
        return {}

    @router.get("/api/document", response_class=JSONResponse)
    def document(visitor: Reader, item: Id, id: Id) -> dict[str, Any]:  # noqa: A002 - what it is
        """A document that the item's page may open."""
        return journal.task.document(_own_item(journal, visitor, item), id)

    @router.get("/api/search", response_class=JSONResponse)
    def search(visitor: Reader, item: Id, q: Annotated[str, Query(min_length=1, max_length=MOST_QUERY)]) -> dict[str, Any]:
        """Documents of the corpus for an item's evidence."""
        return {"documents": journal.task.search(_own_item(journal, visitor, item), q, RESULTS)}

    return router


def person_page(pages: Pages, journal: Journal, request: Request, visitor: Visitor, template: str, **values: Any) -> HTMLResponse:
    """The page of ``template`` for a person."""
    own: dict[str, Any] = {"person": visitor.person, "role": visitor.role, "form": visitor.form}
    response = pages.page(request, template, standing=journal.standing(visitor.person), **own, **values)
    response.headers["Cache-Control"] = "no-store"  # the page that one goes back to has the newest draft
    return response


def _welcome(cookie: str, key: str) -> Response:
    response = RedirectResponse("/", status_code=303)
    response.set_cookie(cookie, key, httponly=True, samesite="strict", max_age=365 * 24 * 3600)
    return response


def refusal(refused: Refused) -> JSONResponse:
    """The response to an answer that the live checks refuse."""
    body = {"error": {"status": 422, "sentence": str(refused)}, "faults": [asdict(fault) for fault in refused.faults]}
    return JSONResponse(body, status_code=422)


def _own_item(journal: Journal, visitor: Visitor, item: str) -> Any:
    """An item that the visitor may look into: their own, or any for a lead."""
    return journal.item(item) if visitor.role == "lead" else journal.reservation(visitor.person, item).item
