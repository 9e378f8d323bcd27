"""The page on which people write Cypher, its rows as files, and what may be written next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from starlette.responses import Response

from kgqa.errors import KgqaError, QueryError
from kgqa.settings.defaults import QUERY_ROWS
from kgqa.store.limits import Answer
from kgqa.store.queries import find_query
from kgqa.store.schema import graph_schema
from kgqa.web.errors import sentence_of, status_of
from kgqa.web.explore import cypher_box
from kgqa.web.explore.completion import complete
from kgqa.web.explore.cypher_box import LONGEST, MOST_ROWS, Written
from kgqa.web.explore.project import Project
from kgqa.web.explore.queries import form_values
from kgqa.web.rendering import Pages
from kgqa.web.same_origin import NOT_RUN, is_own

FILES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def _written(q: str = "", params: str = "", rows: str = "", seconds: str = "") -> Written:
    return Written(text=q, given=params, rows=rows.strip(), seconds=seconds.strip())


Sent = Annotated[Written, Depends(_written)]


def cypher_routes(project: Project, pages: Pages) -> APIRouter:
    """``/cypher``, ``/cypher.csv``, ``/cypher.json`` and ``/api/complete``."""
    router = APIRouter()

    @router.api_route("/cypher", methods=["GET", "HEAD"])
    def box(request: Request, written: Sent, name: str = "") -> HTMLResponse:
        answer, note, sentence, status = None, "", "", 200
        try:
            request.state.mark = project.check_mark(request.headers.get("kgqa-mark", ""))
            if written.text.strip() and not is_own(request):
                note = NOT_RUN
            elif written.text.strip():
                answer = cypher_box.ask(project.graph, written)
            elif name:
                chosen = find_query(name, project.graph.queries, suggested=project.queries)
                if not chosen.search:
                    written = Written(text=chosen.text.strip())  # which stays where a value of its form does not fit
                written = cypher_box.of_named(project.graph, chosen, form_values(request))
        except KgqaError as error:
            sentence, status = sentence_of(error), status_of(error)
        pictures = [answer.picture.data()] if answer and answer.picture else []
        return pages.page(
            request, "cypher.html", status=status, written=written, answer=answer, note=note, sentence=sentence, pictures=pictures,
            schema=graph_schema(), page_seconds=project.graph.seconds, page_rows=QUERY_ROWS, most_rows=MOST_ROWS, longest=LONGEST,
        )  # fmt: skip

    @router.api_route("/cypher.csv", methods=["GET", "HEAD"])
    def as_csv(request: Request, written: Sent) -> Response:
        return saved(request, written, "csv", cypher_box.as_csv)

    @router.api_route("/cypher.json", methods=["GET", "HEAD"])
    def as_json(request: Request, written: Sent) -> Response:
        return saved(request, written, "json", cypher_box.as_json)

    def saved(request: Request, written: Written, form: str, make: Callable[[Answer], str]) -> Response:
        if not is_own(request):
            raise QueryError("this link comes from another site, so the query was not run; open /cypher and press Run there.")
        project.check_mark("")
        found = cypher_box.read(project.graph, written)
        name = f"cypher-first-{found.rows.num_rows}-rows.{form}" if found.cut else f"cypher.{form}"
        return Response(make(found), media_type=FILES[form], headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @router.api_route("/api/complete", methods=["GET", "HEAD"])
    def completion(written: Sent, at: Annotated[int, Query(ge=0)]) -> dict[str, Any]:
        text = written.text.replace("\r\n", "\n")[:LONGEST]
        texts = {name: query for name, query in project.queries.items() if not query.search}
        return asdict(complete(text, at, graph_schema(), queries=texts, given=written.names()))

    return router
