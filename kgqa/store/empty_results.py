"""The reason why a named query about samples or rejected questions returned no rows, where one is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from kgqa.errors import suggestion
from kgqa.store.names import Answers
from kgqa.store.queries import Query, Value, read_queries

SAMPLES = "samples.cypher"
ALL = 1_000_000
"""More filters than any datasets have."""


PARTS = ("setting", "filter")
"""Parameters that match any part of a value on the graph."""


class Store(Answers, Protocol):
    """A graph store, or a pool of them."""

    @property
    def name(self) -> str:
        """Name of the store: ``embedded`` or ``neo4j``."""


def reason_for_empty_result(store: Store, query: Query, arguments: Mapping[str, Value], *, seconds: float) -> str:
    """A sentence that names the argument of ``query`` without a match on the graph, or an empty text if all have one."""
    if query.file != SAMPLES:
        return ""
    load = f"put it there with kgqa load --store {store.name} --dataset NAME"
    queries = read_queries()
    if ":Rejected" in query.text or ":Filter" in query.text:
        filters = store.run(queries["rejected_counts"], {"dataset": "", "limit": ALL}, seconds=seconds).to_pylist()
        if not filters:
            return f"what a dataset's filters rejected is not on this graph; {load} --rejected."
        names_on_graph = {"dataset": [row["dataset"] for row in filters], "setting": [row["setting"] for row in filters if row["setting"]]}
        names_on_graph["filter"] = names_on_graph["setting"] + [row["reason"] for row in filters]
    else:
        datasets = store.run(queries["loaded_datasets"], {}, seconds=seconds).to_pylist()
        if not datasets:
            return f"no dataset is on this graph; {load}."
        names_on_graph = {name: [row[name] for row in datasets] for name in ("dataset", "split")}
        names_on_graph["other"] = names_on_graph["split"]
    for parameter in query.params:
        value, candidates = str(arguments[parameter.name]), names_on_graph.get(parameter.name, [])
        if value and candidates and not (any(value in name for name in candidates) if parameter.name in PARTS else value in candidates):
            names = set(names_on_graph["setting"] if parameter.name == "filter" else candidates)
            return f"there is no {parameter.name} {value!r} on this graph; {suggestion(value, names)}"
    return _reason_about_sample(store, query, arguments, seconds=seconds) if "sample" in arguments else ""


def _reason_about_sample(store: Store, query: Query, arguments: Mapping[str, Value], *, seconds: float) -> str:
    sample = str(arguments["sample"])
    if not store.run(read_queries()["sample_documents"], {"sample": sample}, seconds=seconds).num_rows:
        return f"there is no sample {sample!r} on this graph; samples_about and samples_of_relation, among others, give ids."
    if ":SubQuestion" not in query.text:
        return ""
    steps = {row["step"] for row in store.run(read_queries()["sample_steps"], {"sample": sample}, seconds=seconds).to_pylist()}
    if not steps:
        return f"sample {sample!r} has no steps; only composed questions have steps, and sample_chain lists the chains of others."
    for name in ("step", "later"):
        if (number := arguments.get(name, 0)) and number not in steps:
            return f"sample {sample!r} has the steps {min(steps)} to {max(steps)}, and --{name} {number} is none of them; 0 means all."
    options = " and ".join(f"--{name} {number}" for name in ("step", "later") if (number := arguments.get(name, 0)))
    return f"no step of sample {sample!r} asks about another with {options}; leave these out to see all bridges." if options else ""
