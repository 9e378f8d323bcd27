"""Step S1 (Trivedi et al. 2022): ask once where two relations say the same ("nationality" and "citizenship")."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.rules.implied import mine_implied
from kgqa.rules.roles import role_graph
from kgqa.rules.synonyms import synonyms_of
from kgqa.settings.musique import TemplateSettings


def synonymous_templates(facts: pl.DataFrame, relations: pa.Table, templates: Mapping[str, TemplateSettings]) -> dict[str, str]:
    """Template → the template that represents it, for all that have another representative; ``facts`` has ``head, template, tail``."""
    labels = dict(zip(relations["id"].to_pylist(), relations["label"].to_pylist(), strict=True))
    names = list(templates)
    number = {name: place for place, name in enumerate(names)}
    entities, ends = np.unique(np.concatenate([facts["head"].to_numpy(), facts["tail"].to_numpy()]), return_inverse=True)
    head, tail = (part.astype(np.int32) for part in (ends[: facts.height], ends[facts.height :]))
    template = facts["template"].replace_strict(number, return_dtype=pl.Int32).to_numpy()
    no_rows = np.zeros(0, np.int32)
    graph = role_graph(
        head, template, tail, symmetric=np.zeros(len(names), np.bool_), texts=(no_rows, no_rows), grades=no_rows, entities=len(entities)
    )
    roles = synonyms_of(graph, mine_implied(graph, head, template, tail), [labels.get(name, name) for name in names])
    return {name: names[roles[2 * place] // 2] for place, name in enumerate(names) if roles[2 * place] != 2 * place}


def asked_once(questions: pl.DataFrame, stands_for: Mapping[str, str]) -> pl.DataFrame:
    """``questions`` (``kind, answer, templates, entities``) without repetitions by synonymous templates.

    The question of the template that represents the others stays, or the first one.
    """
    if not stands_for:
        return questions
    canonical = pl.col("templates").list.eval(pl.element().replace(dict(stands_for)))
    rows = questions.with_row_index("row").with_columns(said=canonical)
    rows = rows.sort(pl.col("said") != pl.col("templates"), "row").unique(["kind", "answer", "entities", "said"], keep="first")
    return rows.sort("row").select(questions.columns)
