"""The dataset card of a contrast."""

from __future__ import annotations

from typing import Any

from kgqa.formats.columns import MEANINGS, SCHEMA
from kgqa.recipes import papers
from kgqa.recipes.contrasts.transforms import KINDS, PAPERS
from kgqa.runs.card import funnel_table, readme, table
from kgqa.runs.funnel import FunnelRow


def contrast_card(manifest: dict[str, Any], funnel: list[FunnelRow], *, title: str, digest: str, example: str, rejected: int) -> str:
    """The text of README.md; depends on data and settings alone, never on the clock."""
    counts, kind = manifest["counts"], manifest["settings"]["kind"]
    sizes = [[split, f"{count:,}", f"{manifest['groups'][split]:,}"] for split, count in counts.items()]
    return readme(
        title=f"{title}, {kind}",
        about=f"{KINDS[kind]}. Made by kgqa from a set in the format {manifest['from']}. "
        "`rejected.parquet` lists the questions that could not be transformed.",
        counts=counts,
        size=table(["split", "instances", "groups"], sizes),
        digest=digest,
        schema=SCHEMA,
        meanings=MEANINGS,
        example=example,
        sections=["## What was left out, and why\n\n" + funnel_table(funnel)],
        made="The provenance of each question, under `dire` or `unanswerable`, tells what was changed. Inputs and versions are in "
        f"[manifest.json](manifest.json); content hash `{digest}`.\n\n"
        + table(["setting", "value"], [[f"`{name}`", f"`{value}`"] for name, value in manifest["settings"].items()]),
        tags=("contrast",),
        rejected=rejected,
        paper=PAPERS.get(kind, papers.DIRE),
    )
