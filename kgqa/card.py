"""The dataset card: what it is, how it was made, what was dropped and why, and how far it can be guessed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kgqa.funnel import FunnelRow
from kgqa.records import HUB_SPLITS
from kgqa.settings import DomainSettings

LIMITS = {
    "wikidata": (
        "Answers come from a knowledge graph, not from the texts (distant supervision): for part of the samples the documents do not "
        "imply the answer, or support a second candidate as well. In the published WikiHop people found the fact to follow or be likely "
        "in about three quarters of the cases (Welbl et al. 2018, section 5)."
    ),
    "medline": (
        "A chain of protein interactions suggests a drug interaction, it does not prove it (distant supervision). In the published MedHop "
        "two thirds of the answers followed or were likely from the documents (Welbl et al. 2018, section 5). Not for clinical use."
    ),
}


def dataset_card(
    settings: DomainSettings, *, seed: int, counts: dict[str, int], funnel: Iterable[FunnelRow], baselines: dict[str, list[dict[str, Any]]],
    digest: str, is_seed: bool,
) -> str:  # fmt: skip
    """The text of README.md; depends on data and settings alone, never on the clock."""
    sections = [
        _front_matter(settings, counts, digest),
        f"# {settings.title}\n\n{_about(settings, is_seed=is_seed)}",
        "## Size\n\n" + _table(["split", "samples"], [[split, f"{count:,}"] for split, count in counts.items()]),
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        "## How far it can be guessed\n\n" + _BASELINES + "\n\n" + baseline_table(baselines),
        f"## Limits\n\n{LIMITS[settings.source.layout]}",
        f"## Licence\n\n{settings.licence}: texts and facts keep the licence of their source.",
        f"## How it was made\n\nRecipe `qangaroo` with seed {seed}; content hash `{digest}`. "
        "All settings, inputs and versions are in `manifest.json`.\n\n" + _settings_table(settings),
    ]
    return "\n\n".join(sections) + "\n"


_BASELINES = (
    "Accuracy in per cent with 95% bootstrap intervals over samples. None of them reasons; majority and document-cue are fitted on train: "
    "what it scores can be had without reading. The filters are applied one after the other, from left to right."
)


def _front_matter(settings: DomainSettings, counts: dict[str, int], digest: str) -> str:
    """YAML for ``datasets``; the content hash keeps its cache from serving another dataset, and empty splits cannot be loaded."""
    files = [f"  - split: {HUB_SPLITS[split]}\n    path: FOLDER{split}.parquet" for split, count in counts.items() if count]
    configs = [
        f"- config_name: {name}\n  description: content {digest}\n"
        + default
        + "  data_files:\n"
        + "\n".join(files).replace("FOLDER", folder)
        for name, default, folder in (("default", "  default: true\n", ""), ("masked", "", "masked/"))
    ]
    return (
        "---\n"
        f"pretty_name: {json.dumps(settings.title)}\nlicense: {json.dumps(settings.licence)}\nlanguage: en\n"
        "task_categories: [question-answering, multiple-choice]\ntags: [multi-hop, kgqa]\nconfigs:\n" + "\n".join(configs) + "\n---"
    )


def _about(settings: DomainSettings, *, is_seed: bool) -> str:
    text = (
        "Multiple-choice questions over several documents: a query (subject, relation, ?), candidates of the right type, and the documents "
        "on the chains to them. Made by kgqa with the recipe of WikiHop and MedHop (Welbl, Stenetorp and Riedel 2018). "
        "The folder `masked/` holds the twin in which candidates are placeholders in texts, titles, candidates and answers; its ids, "
        "chains and mentions still name the entities and are not for readers. `rejected.parquet` lists what was left out."
    )
    warning = "\n\n**Made from the small domain that kgqa ships, for trying things out; not for training or comparing models.**"
    return text + (warning if is_seed else "")


def _table(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in row) + " |" for row in rows])


def funnel_table(funnel: Iterable[FunnelRow]) -> str:
    """The funnel in Markdown."""
    return _table(
        ["stage", "what", "reason", "removed", "left"],
        [
            [row.stage, row.what, row.reason, *("" if count is None else f"{count:,}" for count in (row.removed, row.left))]
            for row in funnel
        ],
    )


def baseline_table(baselines: dict[str, list[dict[str, Any]]]) -> str:
    """:func:`baseline_rows` in Markdown."""
    return _table(["split", "baseline", *baselines], baseline_rows(baselines))


def baseline_rows(baselines: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """One row per split and baseline: the two, then the accuracy at each point of measurement."""
    rows: dict[tuple[str, str], list[str]] = {}
    for scores in baselines.values():
        for score in scores:
            rows.setdefault((score["split"], score["baseline"]), []).append(percent(score))
    return [[split, name, *cells] for (split, name), cells in rows.items()]


def percent(score: dict[str, Any]) -> str:
    """``36.7 (35.1 to 38.2)``, or a dash where there was nothing to score."""
    if score["accuracy"] is None:
        return "–"
    return f"{100 * score['accuracy']:.1f} ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def _settings_table(settings: DomainSettings) -> str:
    rows: list[list[str]] = []

    def walk(prefix: str, value: Any) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                walk(f"{prefix}.{key}" if prefix else key, inner)
        else:
            rows.append([f"`{prefix}`", f"`{value}`"])

    walk("", settings.model_dump(mode="json"))
    return _table(["setting", "value"], rows)
