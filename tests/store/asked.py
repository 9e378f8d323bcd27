"""What to ask a real graph: a value for each parameter of the queries that people ask."""

from __future__ import annotations

from kgqa.store.queries import Parameter, Value

KNOWN: dict[str, Value] = {
    "entity": "Q142", "other": "Q30", "subject": "Q142", "candidate": "Q30", "answer": "Q30", "relation": "P17", "text": "\nparis\n",
    "also": "paris", "name": "Paris", "filter": "grade", "setting": "min_candidates", "threshold": 1.0, "split": "train",
     "hops": 2, "limit": 20,
}  # fmt: skip


def value(parameter: Parameter, sample: str, document: str) -> Value:
    """Something that the graph of Wikidata holds, by the name of the parameter."""
    if parameter.kind == "strings":
        return ["Q142", "Q30", document]
    if parameter.name in {"sample", "document"}:
        return sample if parameter.name == "sample" else document
    return KNOWN[parameter.name] if parameter.default is None else parameter.default
