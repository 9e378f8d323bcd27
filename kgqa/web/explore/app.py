"""The web app of ``kgqa explore``, made by a factory from the project to show."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles

from kgqa.web.disconnection import StopOnDisconnect
from kgqa.web.errors import tell_errors
from kgqa.web.explore.addresses import node_link
from kgqa.web.explore.cypher_pages import cypher_routes
from kgqa.web.explore.pages import data_routes, page_routes
from kgqa.web.explore.project import Project
from kgqa.web.explore.server_svg import server_svg
from kgqa.web.guard import Guard
from kgqa.web.rendering import Pages

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"


def create_app(project: Project) -> FastAPI:
    """The app that shows ``project``. It accesses nothing else, and the caller closes the project."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    pages = Pages(FOLDER / "templates", STATIC, node_link=node_link, server_svg=server_svg, project=project)
    app.include_router(page_routes(project, pages))
    app.include_router(cypher_routes(project, pages))
    app.include_router(data_routes(project))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(StopOnDisconnect)
    app.add_middleware(Guard)

    def error_page(request: Request, status: int, sentence: str) -> Response:
        return pages.page(request, "error.html", status=status, code=status, sentence=sentence)

    tell_errors(app, error_page, command="explore")
    return app
