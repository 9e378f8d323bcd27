"""Which relations of a graph get no question, and why (part of step S1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import pyarrow as pa

from kgqa.settings.musique import MusiqueSettings, TemplateSettings
from kgqa.sources.tables import frame

WHY = {
    "unasked": "musique.unasked leaves it out",
    "template": "its label makes no question, as it is no noun, and it has no template",
    "unstated": "no text states any of its facts",
    "several": "what it is asked of has several answers in the graph",
    "incomplete": "things mostly have several answers in it, or its facts are too few to tell",
    "copied": "a relation that says the same is asked instead",
    "faults": "its questions have other faults, which the funnel counts",
}
"""Why a relation gets no question → the sentence that reports show."""
NAMED = 3
"""Relations that are named for each reason where it is said in short."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentRelation:
    """A relation with facts and without a question."""

    label: str
    facts: int
    why: str
    """A key of ``WHY``."""


def silent_relations(
    tables: Mapping[str, pa.Table], settings: MusiqueSettings, templates: Mapping[str, TemplateSettings],
    tried: Mapping[str, Collection[str]], asked: Collection[str],
) -> list[SilentRelation]:  # fmt: skip
    """The relations none of whose templates is ``asked``, by reason and most facts first.

    ``tried`` are the templates with a fact that is ``stated``, with a question that has a ``unique`` answer, is ``functional``, and asks
    what no other relation does (``unlike``).
    """
    of: dict[str, list[str]] = {}
    for name, template in templates.items():
        for relation in (*template.relations, *template.reversed):
            of.setdefault(relation, []).append(name)
    facts = frame(tables["facts"]).group_by("relation").len()
    counted = facts.join(frame(tables["relations"]).select(relation="id", label="label"), on="relation").sort("relation")
    found = []
    for relation, count, label in counted.select("relation", "len", "label").iter_rows():
        mine = of.get(relation, [])
        if not any(name in asked for name in mine):
            why = _why(mine, tried, unasked=bool({relation, label} & set(settings.unasked)))
            found.append(SilentRelation(label=label, facts=count, why=why))
    order = list(WHY)
    return sorted(found, key=lambda each: (order.index(each.why), -each.facts, each.label))


def _why(templates: Sequence[str], tried: Mapping[str, Collection[str]], *, unasked: bool) -> str:
    if not templates:
        return "unasked" if unasked else "template"
    stages = {"unstated": "stated", "several": "unique", "incomplete": "functional", "copied": "unlike"}
    return next((why for why, stage in stages.items() if not any(name in tried[stage] for name in templates)), "faults")


def in_short(silent: Sequence[SilentRelation]) -> str:
    """How many there are, and some of them for each reason."""
    parts = []
    for why, group in groupby(silent, key=lambda each: each.why):
        labels = [each.label for each in group]
        more = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
        parts.append(f"{', '.join(labels[:NAMED])}{more} ({WHY[why]})")
    return f"no question is asked about {len(silent):,} relations that have facts: {'; '.join(parts)}"
