"""The section of a dataset's card that says what people found who read it, and the manifest that knows the card's hash."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.formats import native
from kgqa.metrics.bootstrap import Interval
from kgqa.reviews.figures import Figures, ReviewFigures
from kgqa.reviews.verdicts import MARKS, VERDICTS
from kgqa.runs.card import table
from kgqa.runs.files import alone, file_hash, write_whole

HEADING = "## Read by people"
CARD, MANIFEST = "README.md", "manifest.json"


def section(found: ReviewFigures) -> str:
    """The section in Markdown; depends on the tables and the dataset alone."""
    origin = found.origin
    where = "all splits" if origin.split == "all" else origin.split
    drawn = found.readers[0].drawn
    begin = (
        f"{drawn:,} of {found.available:,} samples of {where} were drawn with seed {origin.seed}, to be read with their documents: does the"
        " answer follow? Shares are of the samples that were read, in per cent with 95% intervals (Wilson). A sample has one verdict, and"
        f" marks beside it. What was said of each is in {' and '.join(dict.fromkeys(f'`{reader.table}`' for reader in found.readers))}."
    )
    meanings = "\n".join(f"- *{each.label}*: {each.sentence}" for each in (*VERDICTS.values(), *MARKS.values()))
    parts = [HEADING, begin, _shares(found.readers), *([_agreed(found)] if found.agreed else []), meanings]
    return "\n\n".join(parts)


def write_section(dataset: Path, found: ReviewFigures) -> None:
    """Put the section on the card of ``dataset``, in place of an earlier one, and the card's new hash into the manifest, last.

    Raises MissingInput where there is no card or no manifest that knows it, and StorageError. If the second cannot be written, the first
    is taken back.
    """
    card, manifest = dataset / CARD, native.manifest_of(dataset)
    files: Any = manifest.get("files")
    if not card.is_file() or not isinstance(files, dict) or CARD not in files:
        raise MissingInput(f"{dataset}: this dataset has no card that its manifest knows; leave out --card, or make the dataset again.")
    with alone(card):
        try:
            with storage_errors(card):
                before = card.read_text("utf-8")
        except UnicodeDecodeError:
            raise BrokenInput(f"{card}: the card is not UTF-8 text; leave out --card, or make the dataset again.") from None
        write_whole(card, with_section(before, section(found)))
        try:
            files[CARD] = file_hash(card)
            write_whole(dataset / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        except BaseException:
            write_whole(card, before)
            raise


def with_section(card: str, text: str) -> str:
    """``card`` with the section ``text``, in place of an earlier one, else before its limits, else at its end."""
    if (old := re.search(rf"^{HEADING}\n.*?(?=^## |\Z)", card, re.MULTILINE | re.DOTALL)) is not None:
        rest = card[old.end() :]
        return card[: old.start()] + text + ("\n\n" + rest if rest else "\n")
    at = card.find("\n## Limits\n")
    if at < 0:
        return card.rstrip("\n") + f"\n\n{text}\n"
    return card[: at + 1] + text + "\n\n" + card[at + 1 :]


def _shares(readers: tuple[Figures, ...]) -> str:
    rows = [
        [label(share.category), *(percent(reader.shares[row].interval) for reader in readers)]
        for row, share in enumerate(readers[0].shares)
    ]
    return table(["category", *(f"{reader.reader}, {reader.read:,} read" for reader in readers)], rows)


def _agreed(found: ReviewFigures) -> str:
    rows = [
        [label(each.question), percent(each.same), "–" if each.agreement.kappa is None else f"{each.agreement.kappa:.2f}"]
        for each in found.agreed
    ]
    items = found.agreed[0].agreement.items
    return f"The two on the {items:,} samples that both read:\n\n" + table(["category", "say the same", "Cohen's kappa"], rows)


def label(category: str) -> str:
    """Name of a category for the card."""
    known = {**VERDICTS, **MARKS}
    return known[category].label if category in known else category


def percent(share: Interval) -> str:
    """``73.3 (55.6 to 85.8)``."""
    return f"{100 * share.mean:.1f} ({100 * share.low:.1f} to {100 * share.high:.1f})"
