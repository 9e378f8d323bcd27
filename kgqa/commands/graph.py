"""``kgqa.graph``: a part of a graph, or all of it, for NetworkX; ``kgqa export --to graphml`` writes the same to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kgqa.errors import SettingsError, UnknownId
from kgqa.formats import native
from kgqa.formats.dataset_on_graph import dataset_folder, dataset_name, dataset_with, has_sample, rows_of_sample
from kgqa.formats.graph_rows import sample_rows
from kgqa.object_store.workspace import workspace_at
from kgqa.runs.graph import finished_tables, open_store, rows_of
from kgqa.runs.workspace import Workspace
from kgqa.settings.defaults import GRAPH_HOPS, GRAPH_LIMIT, STORE, WORKSPACE
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.base import GraphStore, check_store
from kgqa.store.kinds import LOOKED_UP, NODES, RELATIONSHIPS
from kgqa.store.limits import MOST_ROWS
from kgqa.store.names import resolve
from kgqa.store.neighbourhood import Surroundings

if TYPE_CHECKING:
    import networkx

MOST_HOPS = 4


def graph(
    workspace: str | Path = WORKSPACE,
    *,
    entity: str | None = None,
    document: str | None = None,
    sample: str | None = None,
    dataset: str | Path | None = None,
    hops: int | None = None,
    limit: int | None = None,
    store: str = STORE,
    neo4j: Neo4jSettings | None = None,
) -> networkx.MultiDiGraph[str]:
    """Return the neighbourhood of an ``entity`` or a ``document`` (id or name), a ``sample`` (id) with its chains, or the whole graph.

    A neighbourhood has the nodes within ``hops`` relationships (by default 1) and all relationships between them. At each node at most
    ``limit`` relationships of a kind are followed (by default 100), most mentioned neighbours first; the graph's attribute ``cuts`` lists
    nodes with more. A sample has its question, subject, answer, candidates, documents and chains, whose steps have a ``position``, and the
    facts among them; ``dataset`` (a folder, or a name in the workspace) is needed only if several have the id. The whole graph comes from
    the workspace's tables: about 1 KB of memory per node or relationship.

    Node names are ``e:`` and the id of an entity, ``d:`` and that of a document, ``s:`` and ``c:`` and the key of a sample or chain.
    ``type`` is the label of a node or the type of a relationship; docs/neo4j.md lists the other attributes; null values are left out. Both
    stores return the same, nodes by kind and row. Raises KgqaError: SettingsError, UnknownId, UnresolvedName, StoreError.
    """
    part = Part(entity=entity, document=document, sample=sample, dataset=dataset, hops=hops, limit=limit, store=store, neo4j=neo4j)
    place = workspace_at(workspace)
    if part.of is not None:
        return _networkx(*part.read(place))
    if store != STORE or neo4j is not None:
        raise SettingsError("the whole graph is read from the workspace, not from a server; give an entity, a document or a sample.")
    if dataset is not None:
        raise SettingsError("a dataset goes with a sample of it; give its id.")
    with finished_tables(place):
        return _networkx(rows_of(place), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a graph."""

    entity: str | None = None
    document: str | None = None
    sample: str | None = None
    dataset: str | Path | None = None
    hops: int | None = None
    limit: int | None = None
    store: str = STORE
    neo4j: Neo4jSettings | None = None

    def __post_init__(self) -> None:
        """Raise SettingsError for options that do not go together, and for values of a wrong type."""
        check_store(self.store)
        for kind, names in ((str, ("entity", "document", "sample")), (int, ("hops", "limit"))):
            for name in names:
                if not isinstance(getattr(self, name), kind | None):
                    raise SettingsError(
                        f"{name} {getattr(self, name)!r} is not {'text' if kind is str else 'a whole number'}; choose another one."
                    )
        parts = [name for name in ("entity", "document", "sample") if getattr(self, name) is not None]
        if len(parts) > 1:
            raise SettingsError(f"{' and '.join(parts)} are given, and a graph is about one of them; leave out the others.")
        sizes = {name: number for name, number in (("hops", self.hops), ("limit", self.limit)) if number is not None}
        if sizes and self.of not in {"entity", "document"}:
            raise SettingsError(
                f"{next(iter(sizes))} limits the neighbourhood of an entity or a document; give one of them, or leave it out."
            )
        if self.dataset is not None and self.of in {"entity", "document"}:
            raise SettingsError(
                f"a dataset has samples, and the graph is about {self.of} {getattr(self, self.of)!r}; leave out one of them."
            )
        if not 1 <= sizes.get("hops", 1) <= MOST_HOPS:
            raise SettingsError(f"hops {self.hops} is not between 1 and {MOST_HOPS}; a larger radius reaches nearly everything.")
        if not 1 <= sizes.get("limit", 1) <= MOST_ROWS:
            raise SettingsError(f"limit {self.limit} is not between 1 and {MOST_ROWS:,}; choose another one.")

    @property
    def of(self) -> str | None:
        """Kind of the part: ``entity``, ``document`` or ``sample``; None for the whole graph."""
        return next((name for name in ("entity", "document", "sample") if getattr(self, name) is not None), None)

    def read(self, place: Workspace) -> tuple[dict[str, pa.Table], dict[str, Any]]:
        """Rows of the part by table, and remarks; raises like :func:`graph`."""
        if self.sample is not None:
            # Check the dataset before a store is opened.
            folder = self._folder(place, self.sample)
            native.check_whole(folder)
            sample_tables = rows_of_sample(sample_rows(folder, dataset_name(folder)), self.sample)
            with closing(open_store(self.store, place, neo4j=self.neo4j)) as store:
                rows = {**_between(store, sample_tables, folder), **sample_tables}
            return rows, {"sample": self.sample, "dataset": dataset_name(folder)}
        kind, text = ("entity", self.entity) if self.entity is not None else ("document", self.document)
        assert text is not None
        hops, limit = self.hops or GRAPH_HOPS, self.limit or GRAPH_LIMIT
        with closing(open_store(self.store, place, neo4j=self.neo4j)) as store:
            name = resolve(store, text, kind)
            surroundings = Surroundings(store).around((kind, name), hops=hops, limit=limit)
        return surroundings.rows, {kind: name, "hops": hops, "limit": limit, "cuts": [asdict(entry) for entry in surroundings.cuts]}

    def _folder(self, place: Workspace, sample: str) -> Path:
        if self.dataset is None:
            return dataset_with(place, sample)
        folder = dataset_folder(place, self.dataset)
        if not has_sample(folder, sample):
            raise UnknownId(f"{folder}: there is no sample {sample!r} in this dataset; look for its id with kgqa explore.")
        return folder


def _between(store: GraphStore, sample_tables: Mapping[str, pa.Table], folder: Path) -> dict[str, pa.Table]:
    """The entities and documents of a sample, and all relationships between them. Raises UnknownId."""
    ids = {kind: _ids(sample_tables, kind) for kind in ("entity", "document")}
    rows = Surroundings(store).between(entities=ids["entity"], documents=ids["document"])
    for kind, sample_ids in ids.items():
        if missing := set(sample_ids).difference(rows[kind]["id"].to_pylist()):
            raise UnknownId(
                f"{folder}: the sample names the {kind} {min(missing)!r}, which is not in the graph; give the workspace of the dataset."
            )
    return rows


def _ids(sample_tables: Mapping[str, pa.Table], kind: str) -> list[str]:
    columns = [table[kind].to_pylist() for table in sample_tables.values() if kind in table.column_names]
    return list(dict.fromkeys(name for column in columns for name in column))


def _networkx(rows: Mapping[str, pa.Table], about: Mapping[str, Any]) -> networkx.MultiDiGraph[str]:
    from networkx import MultiDiGraph

    graph: networkx.MultiDiGraph[str] = MultiDiGraph(**about)
    for name, node in NODES.items():
        if name in rows:
            keys, attributes = _attributes(rows[name], node.label, [node.key])
            graph.add_nodes_from(zip(_marked(node.mark, keys[0]), attributes, strict=True))
    for name, link in RELATIONSHIPS.items():
        if name in rows:
            ends, attributes = _attributes(rows[name], link.type, rows[name].column_names[:2], besides=True)
            source, target = (_marked(NODES[end].mark, keys) for end, keys in zip((link.source, link.target), ends, strict=True))
            graph.add_edges_from(zip(source, target, attributes, strict=True))
    return graph


def _attributes(table: pa.Table, type_: str, keys: Sequence[str], *, besides: bool = False) -> tuple[list[list[str]], list[dict[str, Any]]]:
    """The values of the columns ``keys``, and for each row a dictionary of its type and all values but nulls; ``besides`` leaves out
    ``keys``.
    """
    names = [name for name in table.column_names if name != LOOKED_UP and not (besides and name in keys)]
    columns = [table[name].to_pylist() for name in names]
    rows = zip(*columns, strict=True) if columns else iter([()] * table.num_rows)
    attributes = [
        {"type": type_} | {name: value for name, value in zip(names, row, strict=True) if value not in (None, [])} for row in rows
    ]
    return [table[key].to_pylist() for key in keys], attributes


def _marked(mark: str, keys: Sequence[str]) -> list[str]:
    return [f"{mark}{key}" for key in keys]
