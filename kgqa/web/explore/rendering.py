"""Templates: every value is escaped, an unknown name is an error, and links are made in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from kgqa.version import __version__
from kgqa.web.explore.picture import split_key
from kgqa.web.explore.project import Project

FOLDER = Path(__file__).resolve().parent
STATIC = FOLDER / "static"


class Pages:
    """Renders templates for one project."""

    def __init__(self, project: Project) -> None:
        """Read no template yet."""
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        self._environment.globals.update(
            link=link, node_link=node_link, project=project, version=__version__, assets=_hash_of_files(), number="{:,}".format
        )

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """The page that ``template`` makes; what htmx asks for is the part of it that changes."""
        part = request.headers.get("hx-request") == "true"
        text = self._environment.get_template(template).render(request=request, part=part, **values)
        return HTMLResponse(text, status_code=status, headers={"Vary": "HX-Request"})


def link(path: str, parameters: Mapping[str, Any] | None = None, **more: Any) -> str:
    """``path`` with its parameters; those that are empty are left out."""
    given = {name: value for name, value in {**(parameters or {}), **more}.items() if value not in ("", None, False)}
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


def node_link(key: str) -> str:
    """The page of a node."""
    kind, name = split_key(key)
    return link(f"/{kind}", id=name)


def _hash_of_files() -> str:
    """Changes whenever a file in ``static`` does, so that browsers may keep what they have."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*.*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
