"""The page for writing Cypher, its results as files, and completion."""

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
from kgqa.web.explore.cypher_box import LONGEST, MOST_ROWS, QueryForm
from kgqa.web.explore.project import Project
from kgqa.web.explore.queries import form_values
from kgqa.web.rendering import Pages, read_only
from kgqa.web.same_origin import NOT_RUN, is_own

FILES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def _sent_statement(q: str = "", params: str = "", rows: str = "", seconds: str = "") -> QueryForm:
    return QueryForm(text=q, assignments=params, rows=rows.strip(), seconds=seconds.strip())


Sent = Annotated[QueryForm, Depends(_sent_statement)]


def cypher_routes(project: Project, pages: Pages) -> APIRouter:
    """``/cypher``, ``/cypher.csv``, ``/cypher.json`` and ``/api/complete``."""
    router = APIRouter()
    reading = read_only(router)

    @reading("/cypher")
    def box(request: Request, statement: Sent, name: str = "") -> HTMLResponse:
        answer, note, sentence, status = None, "", "", 200
        try:
            request.state.mark = project.check_mark(request.headers.get("kgqa-mark", ""))
            if statement.text.strip() and not is_own(request):
                note = NOT_RUN
            elif statement.text.strip():
                answer = cypher_box.ask(project.graph, statement)
            elif name:
                query = find_query(name, project.graph.queries, suggested=project.queries)
                if not query.search:
                    statement = QueryForm(text=query.text.strip())  # kept if a value of the form is invalid
                statement = cypher_box.of_named(project.graph, query, form_values(request))
        except KgqaError as error:
            sentence, status = sentence_of(error), status_of(error)
        pictures = [answer.picture.data()] if answer and answer.picture else []
        return pages.page(
            request, "cypher.html", status=status, written=statement, answer=answer, note=note, sentence=sentence, pictures=pictures,
            schema=graph_schema(), page_seconds=project.graph.seconds, page_rows=QUERY_ROWS, most_rows=MOST_ROWS, longest=LONGEST,
        )  # fmt: skip

    @reading("/cypher.csv")
    def as_csv(request: Request, statement: Sent) -> Response:
        return saved(request, statement, "csv", cypher_box.as_csv)

    @reading("/cypher.json")
    def as_json(request: Request, statement: Sent) -> Response:
        return saved(request, statement, "json", cypher_box.as_json)

    def saved(request: Request, statement: QueryForm, form: str, make: Callable[[Answer], str]) -> Response:
        if not is_own(request):
            raise QueryError("this link comes from another site, so the query was not run; open /cypher and press Run there.")
        project.check_mark("")
        answer = cypher_box.read(project.graph, statement)
        name = f"cypher-first-{answer.rows.num_rows}-rows.{form}" if answer.cut else f"cypher.{form}"
        return Response(make(answer), media_type=FILES[form], headers={"Content-Disposition": f'attachment; filename="{name}"'})

    @reading("/api/complete")
    def completion(statement: Sent, at: Annotated[int, Query(ge=0)]) -> dict[str, Any]:
        text = statement.text.replace("\r\n", "\n")[:LONGEST]
        texts = {name: query for name, query in project.queries.items() if not query.search}
        return asdict(complete(text, at, graph_schema(), queries=texts, parameters=statement.names()))

    return router
