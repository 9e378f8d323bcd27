"""The pages: one address per state. No route changes anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from kgqa.errors import KgqaError, UnresolvedName
from kgqa.store.names import NAMED, Bearer, find_names
from kgqa.store.paths import MOST, Over
from kgqa.store.queries import find_query
from kgqa.web.errors import sentence_of, status_of
from kgqa.web.explore import bridges as bridging, chains, datasets as stored, paths as pathing, queries as asking
from kgqa.web.explore.addresses import CHILD, read_opened
from kgqa.web.explore.neighbours import Sizes, Subject, document_picture, entity_picture, find_document, find_entity, neighbourhood
from kgqa.web.explore.path_ends import two_ends
from kgqa.web.explore.picture import Picture, split_key
from kgqa.web.explore.project import Project
from kgqa.web.explore.uses import ROLES, uses
from kgqa.web.marks import pieces
from kgqa.web.rendering import Pages, link, read_only
from kgqa.web.same_origin import NOT_RUN, is_own

Id = Annotated[str, Query(alias="id", min_length=1)]
Opened = Annotated[list[str], Query(alias="open", default_factory=list)]
Begin = Annotated[str, Query(alias="from", default_factory=str)]
Finish = Annotated[str, Query(alias="to", default_factory=str)]
Between = Literal["bridges", "paths/documents", "paths/facts"]
"""Pages about two entities."""
Fill = Literal["", "entity", "document", "relation"]
"""Kinds of parameters whose fields have suggestions."""
WITH_PAGE = ("entity", "document")
"""Kinds that have a page."""
HUBS = 12
"""Number of entities on the start page."""
SUGGESTED = 6
FOUND = 40


def page_routes(project: Project, pages: Pages) -> APIRouter:
    """All routes that answer with HTML."""
    router = APIRouter(default_response_class=HTMLResponse)
    _start_routes(router, project, pages)
    _graph_routes(router, project, pages)
    _dataset_routes(router, project, pages)
    _query_routes(router, project, pages)
    return router


def _start_routes(router: APIRouter, project: Project, pages: Pages) -> None:
    graph = project.graph
    reading = read_only(router)

    @reading("/")
    def start(request: Request) -> HTMLResponse:
        size = graph.rows("page_graph_size")
        return pages.page(
            request,
            "start.html",
            size=size[0] if size else {"entities": 0, "documents": 0},
            datasets=stored.datasets(project.workspace.path),
        )

    @reading("/hubs")
    def hubs(request: Request) -> HTMLResponse:
        return pages.page(request, "hubs.html", hubs=graph.rows("hubs", limit=HUBS))

    @reading("/find")
    def find(request: Request, q: str = "") -> HTMLResponse:
        text = q.strip()
        return pages.page(request, "find.html", q=text, **_bearers(text, FOUND))

    @reading("/suggest")
    def suggest(
        request: Request,
        begin: Begin,
        end: Finish,
        q: str = "",
        pick: str = "",
        other: str = "",
        page: Between = "bridges",
        fill: Fill = "",
    ) -> HTMLResponse:
        """Entries whose names match the text in a field: the search field, an end of a path (``pick``), or a field of a query's form
        (``fill``).
        """
        text = (q or begin or end or next(iter(asking.form_values(request).values()), "")).strip()
        kinds = (fill,) if fill else ("entity",) if pick else WITH_PAGE
        return pages.page(request, "suggest.html", q=text, pick=pick, other=other, to=page, fill=fill, **_bearers(text, SUGGESTED, kinds))

    def _bearers(text: str, limit: int, kinds: Sequence[str] = WITH_PAGE) -> dict[str, Any]:
        by_table: dict[str, list[Bearer]] = {listed: [] for listed in NAMED.values()}
        for kind in kinds if text else ():
            names = find_names(graph.stores, text, kind, limit, seconds=graph.seconds)
            by_table[NAMED[kind]] = [*names.exact, *names.near][:limit]
        if text and not any(by_table.values()):
            project.mark()  # raises if the graph itself is missing
        return by_table


def same_graph(project: Project) -> Callable[[Request, str], None]:
    """A dependency of routes that show the graph: checks the address's ``mark``, the identity of the graph that the calling page shows."""

    def check(request: Request, mark: str = "") -> None:
        request.state.mark = project.check_mark(mark)

    return check


def _graph_routes(outer: APIRouter, project: Project, pages: Pages) -> None:
    graph = project.graph
    router = APIRouter(default_response_class=HTMLResponse, dependencies=[Depends(same_graph(project))])

    def opened_pictures(root: str, opened: dict[str, Sizes]) -> list[dict[str, Any]]:
        return [neighbourhood(graph, key, sizes=sizes).data() for key, sizes in opened.items() if key != root]

    reading = read_only(router)

    @reading("/entity")
    def entity(request: Request, name: Id, opened: Opened, relation: str = "") -> HTMLResponse:
        subject = find_entity(graph, name)
        sizes = read_opened(opened)
        picture = entity_picture(graph, subject, sizes=sizes.get(subject.node.key, _root_sizes(subject, relation)), relation=relation)
        opened_data = opened_pictures(subject.node.key, sizes)
        entity_uses = uses(project.workspace.path, name)
        return pages.page(
            request,
            "entity.html",
            subject=subject,
            relation=relation,
            pictures=[picture.data(), *opened_data],
            uses=entity_uses,
            roles=ROLES,
        )

    @reading("/document")
    def document(request: Request, name: Id, opened: Opened) -> HTMLResponse:
        subject = find_document(graph, name)
        sizes = read_opened(opened)
        picture = document_picture(graph, subject, sizes=sizes.get(subject.node.key, Sizes()))
        texts = graph.rows("page_text", document=name)
        roles = {row["entity"]: "start" for row in subject.subjects}
        parts = pieces(texts[0]["text"] if texts else "", project.spans(name), roles=roles, steps={})
        opened_data = opened_pictures(subject.node.key, sizes)
        return pages.page(request, "document.html", subject=subject, parts=parts, pictures=[picture.data(), *opened_data])

    @reading("/panel")
    def panel(request: Request, node: str) -> HTMLResponse:
        kind, name = split_key(node)
        subject = find_entity(graph, name) if kind == "entity" else find_document(graph, name)
        return pages.page(request, "panel.html", subject=subject)

    @reading("/bridges")
    def bridges(request: Request, begin: Begin, end: Finish, begin_was: str = "", end_was: str = "") -> HTMLResponse:
        first, second = two_ends(graph, (begin, begin_was), (end, end_was))
        bridge_list, picture = None, Picture()
        if first.subject and second.subject:
            bridge_list = bridging.find_bridges(graph, first.subject, second.subject)
            picture = bridging.bridges_picture(graph, first.subject, second.subject, bridge_list)
        return pages.page(request, "bridges.html", first=first, second=second, found=bridge_list, pictures=[picture.data()])

    @reading("/paths/{over}")
    def paths(request: Request, over: Over, begin: Begin, end: Finish, begin_was: str = "", end_was: str = "") -> HTMLResponse:
        first, second = two_ends(graph, (begin, begin_was), (end, end_was))
        path_list, picture = None, Picture()
        if first.subject and second.subject:
            path_list = pathing.find_paths(graph, first.subject, second.subject, over)
            picture = pathing.paths_picture(first.subject, second.subject, path_list)
        context: dict[str, Any] = {"over": over, "said": pathing.in_words, "most": MOST, "found": path_list, "pictures": [picture.data()]}
        return pages.page(request, "paths.html", first=first, second=second, **context)

    outer.include_router(router)


def _root_sizes(subject: Subject, relation: str) -> Sizes:
    """Default sizes of a neighbourhood. One with neighbours on one side only shows more of them."""
    if relation:
        return Sizes(facts_in=16, facts_out=16)
    has_left = bool(subject.facts_in or subject.mentioned_in)
    return Sizes() if has_left and subject.facts_out else Sizes(facts_in=10, facts_out=16, documents=8)


def _dataset_routes(router: APIRouter, project: Project, pages: Pages) -> None:
    reading = read_only(router)

    @reading("/datasets")
    def datasets(request: Request) -> HTMLResponse:
        return pages.page(request, "datasets.html", datasets=stored.datasets(project.workspace.path))

    @reading("/dataset")
    def dataset(request: Request, name: str, split: str = "", q: str = "", page: int = 1) -> HTMLResponse:
        source = stored.dataset(project.workspace.path, name)
        shown_split = split or next(iter(source.counts))
        page_of_samples = stored.samples(source, shown_split, text=q.strip(), page=page)
        return pages.page(request, "dataset.html", dataset=source, split=shown_split, q=q.strip(), listed=page_of_samples)

    @reading("/sample")
    def sample(request: Request, dataset: str, split: str, name: Id, masked: bool = False, every: bool = False) -> HTMLResponse:
        source = stored.dataset(project.workspace.path, dataset)
        instance = stored.sample(source, split, name, masked=masked)
        before, after = stored.beside(source, split, name)
        graph = chains.open_sample(project.graph, instance, every=every)
        return pages.page(
            request, "sample.html", dataset=source, split=split, masked=masked, every=every, opened=graph,
            before=before, after=after, pictures=[graph.picture.data()],
        )  # fmt: skip


def _query_routes(router: APIRouter, project: Project, pages: Pages) -> None:
    reading = read_only(router)

    @reading("/queries")
    def queries(request: Request) -> HTMLResponse:
        return pages.page(request, "queries.html", queries=list(project.queries.values()))

    @reading("/query")
    def query(request: Request, name: str) -> HTMLResponse:
        named_query = find_query(name, project.graph.queries, suggested=project.queries)
        form = asking.form_values(request)
        is_run = "run" in request.query_params or not any(parameter.default is None for parameter in named_query.params)
        answer, unclear, note, sentence, status = None, None, "", "", 200
        try:
            request.state.mark = project.check_mark(request.headers.get("kgqa-mark", ""))
            if (is_run or form) and not is_own(request):
                note = NOT_RUN
            elif is_run or form:
                answer = asking.ask(project.graph, named_query, form)
        except KgqaError as error:
            sentence, status = sentence_of(error), status_of(error)
            unclear = error if isinstance(error, UnresolvedName) else None
        pictures = [answer.picture.data()] if answer and answer.picture else []
        return pages.page(
            request, "query.html", status=status, query=named_query, given=form, answer=answer, sentence=sentence, pictures=pictures,
            unclear=unclear, note=note, named_kinds=NAMED, with_value=asking.with_value,
            in_box="" if named_query.search else link("/cypher", {f"p.{key}": value for key, value in form.items()}, name=name),
        )  # fmt: skip


def data_routes(project: Project) -> APIRouter:
    """The JSON routes below ``/api``."""
    router = APIRouter(prefix="/api", dependencies=[Depends(same_graph(project))])
    reading = read_only(router)

    @reading("/neighbours")
    def neighbours(
        node: str,
        opened: Annotated[list[str], Query(alias="open", default_factory=list)],
        relation: str = "",
    ) -> dict[str, Any]:
        """The neighbourhood of one node; ``open`` gives its size."""
        sizes = read_opened(opened).get(node, CHILD)
        return neighbourhood(project.graph, node, sizes=sizes, relation=relation).data()

    return router
