"""The web application: made by a factory from the session that it serves."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from kgqa.web.errors import tell_errors
from kgqa.web.explore.app import STATIC as EXPLORE
from kgqa.web.guard import Guard
from kgqa.web.rendering import Pages
from kgqa.web.review.routes import routes
from kgqa.web.review.session import Session
from kgqa.web.same_origin import SameOrigin

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"


def create_app(session: Session) -> FastAPI:
    """The app for reviewing the samples of ``session``. It writes only the session's table."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    pages = Pages(FOLDER / "templates", STATIC, EXPLORE, session=session)
    app.include_router(routes(session, pages))
    app.mount("/static/explore", StaticFiles(directory=EXPLORE), name="explore")  # the same letters and colours
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(SameOrigin)
    app.add_middleware(Guard)  # outermost, so that its headers are on refusals too

    def error_page(request: Request, status: int, sentence: str) -> Response:
        return pages.page(request, "error.html", status=status, code=status, sentence=sentence)

    tell_errors(app, error_page, command="review")
    return app
