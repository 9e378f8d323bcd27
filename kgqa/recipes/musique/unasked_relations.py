"""Step S1 (Trivedi et al. 2022): the relations of a graph that get no question, each with its reason."""

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
"""Reason why a relation gets no question → the sentence in reports."""
NAMED = 3
"""Relations that the short report names for each reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentRelation:
    """A relation that has facts but no question."""

    label: str
    facts: int
    why: str
    """A key of ``WHY``."""


def silent_relations(
    tables: Mapping[str, pa.Table], settings: MusiqueSettings, templates: Mapping[str, TemplateSettings],
    survivors: Mapping[str, Collection[str]], asked_templates: Collection[str],
) -> list[SilentRelation]:  # fmt: skip
    """The relations that have no template among ``asked_templates``, sorted by reason, then by facts, most first.

    ``survivors``: stage (``stated``, ``unique``, ``functional``, ``unlike``) → the templates with a fact or question left after it.
    """
    of: dict[str, list[str]] = {}
    for name, template in templates.items():
        for relation in (*template.relations, *template.reversed):
            of.setdefault(relation, []).append(name)
    facts = frame(tables["facts"]).group_by("relation").len()
    relation_counts = facts.join(frame(tables["relations"]).select(relation="id", label="label"), on="relation").sort("relation")
    relations = []
    for relation, count, label in relation_counts.select("relation", "len", "label").iter_rows():
        names = of.get(relation, [])
        if not any(name in asked_templates for name in names):
            reason = _why(names, survivors, unasked=bool({relation, label} & set(settings.unasked)))
            relations.append(SilentRelation(label=label, facts=count, why=reason))
    order = list(WHY)
    return sorted(relations, key=lambda entry: (order.index(entry.why), -entry.facts, entry.label))


def _why(templates: Sequence[str], survivors: Mapping[str, Collection[str]], *, unasked: bool) -> str:
    if not templates:
        return "unasked" if unasked else "template"
    stages = {"unstated": "stated", "several": "unique", "incomplete": "functional", "copied": "unlike"}
    return next((reason for reason, stage in stages.items() if not any(name in survivors[stage] for name in templates)), "faults")


def in_short(silent: Sequence[SilentRelation]) -> str:
    """One sentence for the funnel: the number of relations, and some of them for each reason."""
    parts = []
    for reason, group in groupby(silent, key=lambda entry: entry.why):
        labels = [entry.label for entry in group]
        suffix = f" and {len(labels) - NAMED:,} more" if len(labels) > NAMED else ""
        parts.append(f"{', '.join(labels[:NAMED])}{suffix} ({WHY[reason]})")
    return f"no question is asked about {len(silent):,} relations that have facts: {'; '.join(parts)}"
