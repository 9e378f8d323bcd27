"""Templates: every value is escaped, an unknown name is an error, and links are made in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from kgqa.version import __version__

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Pages:
    """Renders the templates of one application."""

    def __init__(self, templates: Path, *static: Path, **values: Any) -> None:
        """Templates load at their first use, and all of them see ``values``. Addresses of files in ``static`` change with their content."""
        self._environment = Environment(
            loader=FileSystemLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._environment.globals.update(link=link, version=__version__, assets=_hash_of_files(*static), number="{:,}".format, **values)

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """The page of ``template``; for a request by htmx, only the part that changes."""
        part = request.headers.get("hx-request") == "true"
        text = self._environment.get_template(template).render(request=request, part=part, **values)
        return HTMLResponse(text, status_code=status, headers={"Vary": "HX-Request"})


def read_only(router: APIRouter) -> Callable[..., Callable[[Handler], Handler]]:
    """The decorator of the routes of ``router`` that change nothing."""
    return partial(router.api_route, methods=["GET", "HEAD"])


def link(path: str, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
    """``path`` with its parameters; those that are empty are left out."""
    query = {name: value for name, value in {**(parameters or {}), **options}.items() if value not in ("", None, False)}
    return f"{path}?{urlencode(query, doseq=True)}" if query else path


def _hash_of_files(*static: Path) -> str:
    """A version that changes with every file in ``static``, so that browsers may cache them."""
    digest = hashlib.sha256()
    for folder in static:
        for path in sorted(folder.rglob("*.*")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
