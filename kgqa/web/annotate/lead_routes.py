"""The routes of leads: disputes, and how they are settled."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from starlette.responses import JSONResponse, RedirectResponse, Response

from kgqa.collection.journal import Journal, Refused
from kgqa.collection.status import status_of
from kgqa.web.annotate.routes import Id, Submission, person_page, refusal
from kgqa.web.annotate.visitor import Reader, Writer, check_lead
from kgqa.web.rendering import Pages


def lead_routes(journal: Journal, pages: Pages) -> APIRouter:
    """Routes of the pages of leads."""
    router = APIRouter(default_response_class=HTMLResponse)

    @router.get("/progress")
    def progress(request: Request, visitor: Reader) -> Response:
        """Progress, people, agreement and drift, recomputed from the journal."""
        check_lead(visitor)
        return person_page(pages, journal, request, visitor, "progress.html", report=status_of(journal))

    @router.get("/disputes")
    def disputes(request: Request, visitor: Reader) -> Response:
        """The items on which people disagree."""
        check_lead(visitor)
        return person_page(pages, journal, request, visitor, "disputes.html", disputes=journal.disputes())

    @router.get("/dispute")
    def dispute(request: Request, visitor: Reader, id: Id) -> Response:  # noqa: A002 - what it is
        """An item on which people disagree, with their answers; the lead gives one."""
        check_lead(visitor)
        decided = next((item for item in journal.disputes() if item.item.id == id), None)
        if decided is None:
            return RedirectResponse("/disputes", status_code=303)
        step = journal.task.steps[decided.item.step]
        answers = [(answer.person, step.labels(answer.answer), answer.answer.model_dump(mode="json")) for answer in decided.answers]
        return person_page(
            pages, journal, request, visitor, "item.html", item=decided.item, step=step, draft={}, version=0,
            shown=step.shown(decided.item, {}),
            token=secrets.token_hex(16), action="adjudicate", answers=answers,
        )  # fmt: skip

    @router.post("/api/adjudicate", response_class=JSONResponse)
    def adjudicate(visitor: Writer, body: Submission) -> Any:
        """Settle a disagreement with the lead's answer. Refuses people who are not leads."""
        check_lead(visitor)
        try:
            return {"event": journal.adjudicate(visitor.person, body.item, body.answer, token=body.token)}
        except Refused as refused:
            return refusal(refused)

    return router
