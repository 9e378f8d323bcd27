"""What the datasets of recipes share: splits with a certificate, and the frame of the card."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgqa.formats.columns import MEANINGS, OF_RECIPES
from kgqa.formats.native import write_split
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import SEED_WARNING, domain_settings, escaped, example, readme, rejected_count
from kgqa.runs.manifest import write_card
from kgqa.runs.stage import Run
from kgqa.splits.certificate import Certificate, certificate
from kgqa.splits.leakage import SharedItems, add_split

SAMPLES = 12
"""Sample questions on a card."""


def write_splits(
    folder: Path, run: Run, instances_of: Callable[[str], Iterable[Instance]], *, certified: Sequence[str]
) -> tuple[dict[str, list[Instance]], Certificate]:
    """Write ``train``, ``dev`` and ``test``; return their instances, and the certificate of what they share.

    ``certified``: the items that it compares, of ``kgqa.splits.items.KINDS``.
    """
    shared = {kind: SharedItems() for kind in certified}
    splits = {}
    for split in SPLITS:
        instances = splits[split] = list(instances_of(split))
        write_split(instances, folder / f"{split}.parquet", OF_RECIPES)
        add_split(shared, split, instances)
        run.progress.advance(len(instances))
    counts = {split: len(instances) for split, instances in splits.items()}
    return splits, certificate(counts, shared, {}, words={}, threshold=0.0, seed=run.seed)


def write_recipe_card(
    folder: Path,
    run: Run,
    recipe: str,
    *,
    about: str,
    counts: Mapping[str, int],
    size: str,
    sections: Iterable[str],
    paper: str,
    **own: Any,
) -> dict[str, Any]:
    """Write README.md for the dataset in ``folder``; return ``content`` and ``files`` of its manifest.

    It depends on data and settings alone, never on the clock. Arguments as of :func:`kgqa.runs.card.readme`; ``own`` are further ones,
    which override those of the domain's file.
    """
    warning = SEED_WARNING if run.domain.is_seed else ""
    row, rejected = example(folder, counts), rejected_count(folder)

    def text(digest: str) -> str:
        made = f"Recipe `{recipe}` with seed {run.seed}; content hash `{digest}`. "
        return readme(
            about=about + warning,
            counts=counts,
            size=size,
            digest=digest,
            schema=OF_RECIPES,
            meanings=MEANINGS,
            example=row,
            sections=sections,
            made=made + "All settings, inputs and versions are in [manifest.json](manifest.json).",
            rejected=rejected,
            paper=paper,
            **{**domain_settings(run.domain.settings), **own},
        )

    return write_card(folder, text)


def with_steps(instance: Instance) -> str:
    """A question, its steps and its answer on one line, escaped for a Markdown list."""
    steps = "; ".join(f"{number}. {step.question} {step.answer}" for number, step in enumerate(instance.decomposition or (), start=1))
    return f"- {escaped(instance.question)} **{escaped(instance.answers[0])}** ({escaped(steps)})"


def percent(share: float) -> str:
    """A share in per cent, with one decimal place."""
    return f"{100 * share:.1f}"
