"""JSON for the scripts on the pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from kgqa.web.explore.addresses import CHILD, read_opened
from kgqa.web.explore.neighbours import neighbourhood
from kgqa.web.explore.pages import same_graph
from kgqa.web.explore.project import Project


def data_routes(project: Project) -> APIRouter:
    """The JSON routes below ``/api``."""
    router = APIRouter(prefix="/api", dependencies=[Depends(same_graph(project))])

    @router.api_route("/neighbours", methods=["GET", "HEAD"])
    def neighbours(
        node: str,
        opened: Annotated[list[str], Query(alias="open", default_factory=list)],
        relation: str = "",
    ) -> dict[str, Any]:
        """The neighbourhood of one node; ``open`` gives its size."""
        sizes = read_opened(opened).get(node, CHILD)
        return neighbourhood(project.graph, node, sizes=sizes, relation=relation).data()

    return router
