"""The dataset card of WikiHop and MedHop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kgqa.recipes.qangaroo.instances import Hidden
from kgqa.runs.card import baseline_table, front_matter, funnel_table, settings_table, table
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.domain import DomainSettings

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
    hidden: Hidden, digest: str, is_seed: bool,
) -> str:  # fmt: skip
    """The text of README.md; depends on data and settings alone, never on the clock."""
    sections = [
        front_matter(settings, counts, digest, tasks=("question-answering", "multiple-choice"), twins=("masked",)),
        f"# {settings.title}\n\n{_about(settings, is_seed=is_seed)}",
        "## Size\n\n" + table(["split", "samples"], [[split, f"{count:,}"] for split, count in counts.items()]),
        "## What was dropped, and why\n\n" + funnel_table(funnel),
        "## How far it can be guessed\n\n" + _BASELINES + "\n\n" + baseline_table(baselines),
        f"## What the masked twin hides\n\n{_masked(hidden)}",
        f"## Limits\n\n{LIMITS[settings.source.layout]}",
        f"## Licence\n\n{settings.licence}: texts and facts keep the licence of their source.",
        f"## How it was made\n\nRecipe `qangaroo` with seed {seed}; content hash `{digest}`. "
        "All settings, inputs and versions are in `manifest.json`.\n\n" + settings_table(settings),
    ]
    return "\n\n".join(sections) + "\n"


_BASELINES = (
    "Accuracy in per cent with 95% bootstrap intervals over samples. None of them reasons; majority and document-cue are fitted on train: "
    "what it scores can be had without reading. The filters are applied one after the other, from left to right."
)


def _masked(hidden: Hidden) -> str:
    named = hidden.places + hidden.readable
    return (
        f"Names left readable in the masked twin: {hidden.readable:,} of {named:,}. Sought on token boundaries in all masked texts and "
        "titles: labels and all other names of a sample's candidates, their plurals and possessives, and adjectives that English endings "
        "derive from proper nouns; not numbers, single characters, and function words by which the texts never mean the entity."
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
