"""``kgqa split``: new train, dev and test splits of a question set that share nothing of the given kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.errors import EmptyResult, SettingsError, check_known, check_seed
from kgqa.formats import native
from kgqa.formats.card import derived_card
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.records import SPLITS
from kgqa.runs.files import check_is_local, check_new_folder, new_folder
from kgqa.runs.manifest import run_record, write_card, write_manifest
from kgqa.settings.defaults import SEED, SPLIT_BY, SPLIT_SHARES
from kgqa.splits.components import BY, ItemCollector, deal
from kgqa.splits.cut import DROPPED, leak_free


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Result of :func:`split`: the dataset, its counts and connected questions."""

    source: QuestionSet
    dataset: Path
    counts: dict[str, int]
    """Split → number of questions."""
    components: int
    """Number of groups of connected questions."""
    largest: int
    """Questions in the largest group."""
    dropped: int
    """Questions left out so that the others could be separated."""
    empty: list[str]
    """Splits with a share but without questions."""


def split(
    dataset: str | Path,
    *,
    out: str | Path,
    by: str | Sequence[str] = SPLIT_BY,
    shares: str | Sequence[float] = SPLIT_SHARES,
    cut: bool = False,
    seed: int = SEED,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    progress: Progress | None = None,
) -> Split:
    """Split all questions of ``dataset`` into the new dataset folder ``out``, ignoring its old splits.

    ``by``: what splits do not share (``kgqa.splits.components.BY``); questions that share it, directly or through others, stay together.
    ``shares``: of train, dev and test, by questions. Both can be comma-separated text. If most questions are connected, the shares cannot
    be kept; ``cut`` then drops as few questions as it can find to keep them (Trivedi et al. 2022, step S5). Memory: 24 bytes per question
    and shared item, twice that with ``cut``, and 4,096 questions. Raises KgqaError; then nothing is left behind.
    """
    check_seed(seed)
    by, shares = _criteria(by), _numbers(shares)
    for name in by:
        check_known("--by", name, BY)
    if len(shares) != len(SPLITS) or min(shares) < 0 or not np.isclose(sum(shares), 1.0, atol=1e-6):
        raise SettingsError(
            f"--shares {','.join(map(str, shares))}: give those of train, dev and test, which add up to 1, such as 0.8,0.1,0.1."
        )
    check_is_local(Path(out))
    source, progress = open_dataset(dataset, format, paragraphs=paragraphs, progress=progress), progress or Silent()
    source.check_outside(Path(out))
    check_new_folder(Path(out))
    together = ItemCollector(by)
    progress.start("Finding what questions share", None, "questions")
    for count in together.see(source.instances()):
        progress.advance(count)
    progress.finish(f"{together.count:,} questions")
    if not together.count:
        raise EmptyResult(f"{source.path}: the set has no questions; choose one that has.")
    components = together.components()
    sizes = np.bincount(components)
    place = leak_free(together.items(), tuple(shares), seed=seed).split if cut else deal(components, tuple(shares), seed=seed)
    dropped_count = int((place == DROPPED).sum())
    with new_folder(Path(out)) as partial:
        partial.mkdir()
        counts = _write(source, place, partial, progress)
        settings = {"by": list(by), "shares": list(shares), "cut": cut, "seed": seed}
        _describe(partial, source, by, settings, counts, dropped_count)
    empty = [name for name, share in zip(SPLITS, shares, strict=True) if share and not counts[name]]
    return Split(
        source=source, dataset=Path(out), counts=counts, components=len(sizes), largest=int(sizes.max()), dropped=dropped_count, empty=empty
    )


def _criteria(by: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in (by.split(",") if isinstance(by, str) else by)]


def _numbers(shares: str | Sequence[float]) -> list[float]:
    try:
        return [float(share) for share in (shares.split(",") if isinstance(shares, str) else shares)]
    except ValueError:
        raise SettingsError(f"--shares {shares}: these are not comma-separated numbers; give three, such as {SPLIT_SHARES}.") from None


def _write(source: QuestionSet, place: npt.NDArray[np.int8], folder: Path, progress: Progress) -> dict[str, int]:
    counts = {}
    progress.start("Writing", len(place), "questions")
    for number, name in enumerate(SPLITS):
        selection = place == number
        counts[name] = int(selection.sum())
        if not counts[name]:
            continue
        native.write_split(compress(source.instances(), selection.tolist()), folder / f"{name}.parquet", advance=progress.advance)
    progress.finish()
    return counts


def _describe(
    folder: Path, source: QuestionSet, by: Sequence[str], settings: dict[str, object], counts: dict[str, int], dropped_count: int
) -> None:
    """Write the card and, last, the manifest."""
    kinds = ", ".join(f"{name} ({BY[name]})" for name in dict.fromkeys(("group", *by)))
    about = f"Split anew by kgqa. No two splits share: {kinds}."
    about += f" {dropped_count:,} questions were left out, as they share such things with several splits." if dropped_count else ""
    manifest = run_record(options={"dataset": source.url or source.name, **settings}, resolved=settings, inputs=source.hashes())
    manifest |= {"recipe": "split", "from": source.origin, "counts": counts, "dropped": dropped_count}
    manifest |= write_card(folder, lambda digest: derived_card(folder, source, about, counts, digest))
    write_manifest(manifest, folder)
