"""The card section with the annotators' verdicts, and the manifest that holds the card's hash."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kgqa.collection.verdict_tables.figures import Figures, TableFigures
from kgqa.collection.verdicts import TABLE_MARKS, VERDICTS
from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.formats import native
from kgqa.runs.card import table
from kgqa.runs.files import alone, file_hash, write_whole

HEADING = "## Read by people"
CARD, MANIFEST = "README.md", "manifest.json"


def section(figures: TableFigures) -> str:
    """The section in Markdown; depends on the tables and the dataset alone."""
    origin = figures.origin
    split_name = "all splits" if origin.split == "all" else origin.split
    drawn_samples = figures.readers[0].drawn
    introduction = (
        f"{drawn_samples:,} of {figures.available:,} samples of {split_name} were drawn with seed {origin.seed}, to be read with their"
        " documents: does the answer follow?"
        " Shares are of the samples that were read, in per cent with 95% intervals (Wilson). A sample has one verdict, and"
        f" marks beside it. What was said of each is in {' and '.join(dict.fromkeys(f'`{reader.table}`' for reader in figures.readers))}."
    )
    meanings = "\n".join(f"- *{category.label}*: {category.sentence}" for category in (*VERDICTS.values(), *TABLE_MARKS.values()))
    parts = [HEADING, introduction, _share_table(figures.readers), *([_agreement_table(figures)] if figures.agreed else []), meanings]
    return "\n\n".join(parts)


def write_section(dataset: Path, figures: TableFigures) -> None:
    """Put the section on the card of ``dataset``, replacing an earlier one, then the card's new hash into the manifest.

    Raises MissingInput if there is no card, or no manifest that lists it, and StorageError. If the manifest cannot be written, the card is
    restored.
    """
    card, manifest = dataset / CARD, native.manifest_of(dataset)
    files: Any = manifest.get("files")
    if not card.is_file() or not isinstance(files, dict) or CARD not in files:
        raise MissingInput(f"{dataset}: this dataset has no card that its manifest knows; leave out --card, or generate the dataset again.")
    with alone(card):
        try:
            with storage_errors(card):
                earlier_card = card.read_text("utf-8")
        except UnicodeDecodeError:
            raise BrokenInput(f"{card}: the card is not UTF-8 text; leave out --card, or generate the dataset again.") from None
        write_whole(card, with_section(earlier_card, section(figures)))
        try:
            files[CARD] = file_hash(card)
            write_whole(dataset / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        except BaseException:
            write_whole(card, earlier_card)
            raise


def with_section(card: str, text: str) -> str:
    """``card`` with the section ``text``: in place of an earlier one, else before its limits, else at the end."""
    if (earlier_section := re.search(rf"^{HEADING}\n.*?(?=^## |\Z)", card, re.MULTILINE | re.DOTALL)) is not None:
        remainder = card[earlier_section.end() :]
        return card[: earlier_section.start()] + text + ("\n\n" + remainder if remainder else "\n")
    limits = card.find("\n## Limits\n")
    if limits < 0:
        return card.rstrip("\n") + f"\n\n{text}\n"
    return card[: limits + 1] + text + "\n\n" + card[limits + 1 :]


def _share_table(readers: tuple[Figures, ...]) -> str:
    rows = [
        [label(share.category), *(str(reader.shares[row].interval.times(100)) for reader in readers)]
        for row, share in enumerate(readers[0].shares)
    ]
    return table(["category", *(f"{reader.reader}, {reader.read:,} read" for reader in readers)], rows)


def _agreement_table(figures: TableFigures) -> str:
    rows = [
        [
            label(agreement.question),
            str(agreement.same.times(100)),
            "–" if agreement.kappa is None else f"{agreement.kappa:.2f}",
        ]
        for agreement in figures.agreed
    ]
    items = figures.agreed[0].items
    return f"The two on the {items:,} samples that both read:\n\n" + table(["category", "say the same", "Cohen's kappa"], rows)


def label(category: str) -> str:
    """Name of a category for the card."""
    categories = {**VERDICTS, **TABLE_MARKS}
    return categories[category].label if category in categories else category
