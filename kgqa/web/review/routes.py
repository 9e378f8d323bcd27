"""The pages, and the one route that changes something: it puts a judgement into the table."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import JSONResponse, RedirectResponse, Response

from kgqa.collection.tables.book import state
from kgqa.collection.tables.table import Judgement
from kgqa.collection.verdicts import MARKS, VERDICTS
from kgqa.web.rendering import Pages, link
from kgqa.web.review.session import MOST_NOTE, Session
from kgqa.web.review.view import sample_view

Id = Annotated[str, Query(alias="id", min_length=1)]


def routes(session: Session, pages: Pages) -> APIRouter:
    """Routes of the review page."""
    router = APIRouter(default_response_class=HTMLResponse)
    ids = list(session.places)

    def judged_count(judgements: dict[str, Judgement]) -> int:
        return sum(bool(judgement.verdict) for judgement in judgements.values())

    @router.api_route("/", methods=["GET", "HEAD"])
    def start() -> Response:
        """The first sample without a verdict; the list where all have one."""
        judgements = session.book.judgements()
        first = next((name for name in ids if name not in judgements or not judgements[name].verdict), None)
        return RedirectResponse("/list" if first is None else link("/sample", id=first), status_code=303)

    @router.api_route("/list", methods=["GET", "HEAD"])
    def listed(request: Request) -> HTMLResponse:
        judgements = session.book.judgements()
        return pages.page(request, "list.html", judgements=judgements, done=judged_count(judgements))

    @router.api_route("/sample", methods=["GET", "HEAD"])
    def sample(request: Request, name: Id) -> HTMLResponse:
        place = session.place(name)
        judgements = session.book.judgements()
        reading = session.readings[place]
        judgement = judgements.get(name, Judgement(sample=name, reader=session.book.reader))
        return pages.page(
            request, "sample.html", reading=reading, shown=sample_view(reading), said=judgement, seen=state(judgement), place=place,
            done=judged_count(judgements), verdicts=VERDICTS.values(), marks=MARKS.values(), most=MOST_NOTE,
            before=ids[place - 1] if place else "", after=ids[place + 1] if place + 1 < len(ids) else "",
        )  # fmt: skip

    @router.post("/api/judgement", response_class=JSONResponse)
    def judge(body: Annotated[dict[str, Any], Body()]) -> dict[str, Any]:
        """Write the judgement into the table. It is on disk before the response."""
        judgement = session.judgement(body)
        judgements = session.book.store(judgement, seen=body["seen"])
        return {"done": judged_count(judgements), "of": len(ids), "seen": state(judgements.get(judgement.sample))}

    return router
