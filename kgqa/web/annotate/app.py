"""The web application: made by a factory from the journal that it serves."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from kgqa.collection.journal import Journal
from kgqa.web.annotate.lead_routes import lead_routes
from kgqa.web.annotate.routes import routes
from kgqa.web.annotate.visitor import Visitors
from kgqa.web.errors import tell_errors
from kgqa.web.explore.app import STATIC as EXPLORE
from kgqa.web.guard import Guard
from kgqa.web.rendering import Pages
from kgqa.web.same_origin import SameOrigin

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"


def create_app(journal: Journal) -> FastAPI:
    """The app for annotating the project of ``journal``."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    visitors = Visitors(journal)
    pages = Pages(FOLDER / "templates", STATIC, EXPLORE, project=journal.project.settings, task=journal.task)
    app.state.visitors = visitors
    app.include_router(routes(journal, visitors, pages))
    app.include_router(lead_routes(journal, pages))
    app.mount("/static/explore", StaticFiles(directory=EXPLORE), name="explore")  # the same letters and colours
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(SameOrigin)
    app.add_middleware(Guard)  # outermost, so that its headers are on refusals too

    def error_page(request: Request, status: int, sentence: str) -> Response:
        return pages.page(request, "error.html", status=status, code=status, sentence=sentence, person="", role="", form="")

    tell_errors(app, error_page, command="annotate")
    return app
