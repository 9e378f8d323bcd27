"""What the settings name and the tables do not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from kgqa.checks.domain.problem import ERROR, WARNING, Problem, near, some
from kgqa.runs.domain import Domain
from kgqa.settings.base import RecipeSettings
from kgqa.settings.defaults import RECIPE
from kgqa.sources.tables import frame


def unknown_names(domain: Domain, tables: Mapping[str, pa.Table]) -> Iterator[Problem]:
    """Relations, entities, kinds and names of the settings that the tables lack. Of inherited settings only those that must exist."""
    settings = domain.settings
    section: Any = settings.section(RecipeSettings)
    relations = frame(tables["relations"])
    known_relations = list(relations.select("id", "label").iter_rows())
    ids = set(relations["id"])
    relation_ids = section.relations if settings.recipe == RECIPE else ()
    for name in dict.fromkeys(relation_ids):
        if name not in ids:
            yield Problem(
                check="unknown-relation", severity=ERROR, where="qangaroo.relations", what=f"there is no relation with the id {name!r}",
                advice=near(name, known_relations) or f"the tables have {some([repr(id_) for id_ in sorted(ids)])}; name their ids",
            )  # fmt: skip
    for where, name in _composed(domain.own.get("musique", {})):
        if name not in ids:
            yield Problem(
                check="unknown-relation", severity=WARNING, where=where, what=f"there is no relation with the id {name!r}",
                advice=near(name, known_relations) or "name ids of the relation table, or leave it out",
            )  # fmt: skip
    entities = frame(tables["entities"])
    for name in domain.own.get("documents", {}).get("exclude_about", ()):
        if name not in entities["id"]:
            namesakes = entities.filter(pl.col("label").str.to_lowercase() == name.lower())
            yield Problem(
                check="unknown-entity", severity=ERROR, where="documents.exclude_about", what=f"there is no entity with the id {name!r}",
                advice=near(name, namesakes.select("id", "label").head(3).iter_rows()) or "name ids of the entity table, or remove it",
            )  # fmt: skip
    yield from _kinds(domain, sorted(entities["kind"].unique().to_list()))
    names = frame(tables["names"])["name"]
    lower = set(names.str.to_lowercase()) if settings.linking.exclude_names else set()
    for name in domain.own.get("linking", {}).get("exclude_names", ()):
        if name.lower() not in lower:
            yield Problem(
                check="unknown-name", severity=WARNING, where="linking.exclude_names", what=f"no entity has the name {name!r}",
                advice="write it as the tables do, or remove it",
            )  # fmt: skip


def _composed(section: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Setting and id of each relation that the user's own ``[musique]`` names."""
    for name in section.get("unasked", ()):
        yield "musique.unasked", name
    for template, entry in section.get("templates", {}).items():
        for key in ("relations", "reversed"):
            for name in entry.get(key, ()):
                yield f"musique.templates.{template}.{key}", name


def _kinds(domain: Domain, kinds: list[str]) -> Iterator[Problem]:
    kinds_by_setting = {f"{domain.settings.recipe}.endpoint_kind": domain.settings.section(RecipeSettings).entity_kinds}
    kinds_by_setting["linking.shared.prefer_kinds"] = domain.settings.linking.shared.prefer_kinds
    for where, names in kinds_by_setting.items():
        for name in names:
            if name not in kinds:
                yield Problem(
                    check="unknown-kind", severity=ERROR if where.endswith("endpoint_kind") else WARNING, where=where,
                    what=f"no entity is of the kind {name!r}",
                    advice=near(name, [(kind, kind) for kind in kinds]) or f"the kinds are {some([repr(kind) for kind in kinds])}",
                )  # fmt: skip
