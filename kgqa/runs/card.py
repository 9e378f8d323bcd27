"""Parts of a dataset card: what the hub reads, the funnel, the baselines, the settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgqa.records import HUB_SPLITS
from kgqa.runs.funnel import HEADER, FunnelRow
from kgqa.settings.domain import DomainSettings


def front_matter(settings: DomainSettings, counts: dict[str, int], digest: str, *, tasks: Sequence[str], twins: Sequence[str] = ()) -> str:
    """YAML for ``datasets``: a configuration for the splits, and one for those in each of the folders ``twins``.

    The content hash keeps its cache from serving another dataset, and empty splits cannot be loaded.
    """
    files = [f"  - split: {HUB_SPLITS[split]}\n    path: FOLDER{split}.parquet" for split, count in counts.items() if count]
    configs = [
        f"- config_name: {name}\n  description: content {digest}\n"
        + default
        + "  data_files:\n"
        + "\n".join(files).replace("FOLDER", folder)
        for name, default, folder in (("default", "  default: true\n", ""), *((twin, "", f"{twin}/") for twin in twins))
    ]
    language = f"language: {settings.linking.language}\n" if settings.linking.language else ""
    return (
        "---\n"
        f"pretty_name: {json.dumps(settings.title)}\nlicense: {json.dumps(settings.licence)}\n{language}"
        f"task_categories: [{', '.join(tasks)}]\ntags: [multi-hop, kgqa]\nconfigs:\n" + "\n".join(configs) + "\n---"
    )


def table(header: Sequence[str], rows: Iterable[list[str]]) -> str:
    """Rows in Markdown."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |" for row in rows])


def funnel_table(funnel: Iterable[FunnelRow]) -> str:
    """The funnel in Markdown."""
    return table(HEADER, (row.cells for row in funnel))


def baseline_table(baselines: dict[str, list[dict[str, Any]]]) -> str:
    """:func:`baseline_rows` in Markdown."""
    return table(["split", "baseline", *baselines], baseline_rows(baselines))


def baseline_rows(baselines: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """One row per split and baseline: the two, then at each point of measurement the accuracy, as ``36.7 (35.1 to 38.2)``."""
    rows: dict[tuple[str, str], list[str]] = {}
    for scores in baselines.values():
        for score in scores:
            rows.setdefault((score["split"], score["baseline"]), []).append(shown_accuracy(score))
    return [[split, name, *cells] for (split, name), cells in rows.items()]


def shown_accuracy(score: Mapping[str, Any]) -> str:
    """In per cent with its interval; a dash where there was nothing to score."""
    if score["accuracy"] is None:
        return "–"
    return f"{100 * score['accuracy']:.1f} ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def settings_table(settings: DomainSettings) -> str:
    """All settings as they were resolved, in Markdown."""
    rows: list[list[str]] = []

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else key, inner)
        else:
            rows.append([f"`{prefix}`", f"`{value}`"])

    walk("", settings.resolved())
    return table(["setting", "value"], rows)
