"""``kgqa contrast``: transform a question set to test whether a system connects facts, or abstains if facts are missing."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgqa.cluster.opening import opened_engine
from kgqa.errors import SettingsError, check_known, check_seed
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.object_store.address import recorded
from kgqa.progress import Progress, Silent
from kgqa.recipes.contrasts.card import contrast_card
from kgqa.recipes.contrasts.dataset import Splits
from kgqa.recipes.contrasts.facts import LEVELS
from kgqa.recipes.contrasts.inoculation import PERCENTAGES
from kgqa.recipes.contrasts.questions import MAX_FACTS, MOST_FACTS
from kgqa.recipes.contrasts.transforms import BY_FACTS, KINDS, Settings
from kgqa.runs.card import example, rejected_count
from kgqa.runs.files import check_is_local, new_folder
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.manifest import run_record, write_card, write_manifest
from kgqa.settings.cluster import is_cluster
from kgqa.settings.defaults import DRAWS_SEED


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Result of :func:`contrast`: the dataset, its counts and funnel."""

    kind: str
    source: QuestionSet
    dataset: Path
    """Folder of the finished dataset."""
    counts: dict[str, int]
    """Split → number of instances."""
    groups: dict[str, int]
    """Groups per split; a group's instances belong together."""
    funnel: list[FunnelRow]
    seconds: float


def contrast(
    kind: str,
    dataset: str | Path,
    *,
    out: str | Path,
    level: str | None = None,
    seed: int = DRAWS_SEED,
    inoculation: int = 0,
    max_facts: int | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Contrast:
    """Transform ``dataset``, a file or folder of ``format`` (recognised by default), into the new dataset folder ``out``.

    ``level``: a supporting fact is a ``paragraph`` (the default) or a ``sentence``. ``max_facts``: leave out questions with more of them
    (by default 6). ``inoculation``: 0 keeps the splits; 1 or 5 makes a train split of that percentage of its groups, taken from the other
    splits if the set has no train split. ``paragraphs`` and ``strict``: as in :func:`kgqa.open_dataset`. The same questions, settings and
    seed give the same data for any ``cluster`` (:func:`kgqa.cluster.opening.opened_engine`). Raises KgqaError; then nothing is left behind.
    Memory: a few thousand instances, the ids of all groups and of rejected questions; for adversarial and unanswerable a sample of a
    split's names or paragraphs; with inoculation the splits that it changes.
    """
    settings = _settings(kind, level=level, seed=seed, inoculation=inoculation, max_facts=max_facts)
    check_is_local(Path(out))
    source = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict, progress=progress)
    source.check_outside(Path(out))
    progress, begin = progress or Silent(), time.perf_counter()
    options = {
        "kind": kind, "dataset": source.url or source.name, "level": level, "seed": seed, "inoculation": inoculation,
        "max_facts": max_facts, "format": format, "paragraphs": recorded(paragraphs), "strict": strict,
    }  # fmt: skip
    with opened_engine(None if is_cluster(cluster) else 1, cluster, progress) as engine, new_folder(Path(out)) as partial:
        partial.mkdir()
        splits = Splits(source, settings, partial, progress, engine)
        funnel = splits.transform()
        if inoculation:
            funnel.append(splits.inoculate(inoculation))
        manifest = run_record(options=options, resolved={**asdict(settings), "inoculation": inoculation}, inputs=source.hashes())
        manifest |= {"recipe": "contrast", "from": source.origin, "seed": seed, "counts": splits.counts, "groups": splits.group_counts()}
        manifest["faults"] = source.faults.record()
        _describe(partial, manifest, funnel, title=source.name, seconds=round(time.perf_counter() - begin, 3))
        seconds = time.perf_counter() - begin
    return Contrast(
        kind=kind, source=source, dataset=Path(out), counts=splits.counts, groups=splits.group_counts(), funnel=funnel, seconds=seconds
    )


def _settings(kind: str, *, level: str | None, seed: int, inoculation: int, max_facts: int | None) -> Settings:
    check_known("contrast", kind, KINDS)
    for name, value in (("level", level), ("max_facts", max_facts)):
        if value is not None and kind not in BY_FACTS:
            raise SettingsError(f"{name}: the contrast {kind} deals in whole paragraphs and has no such setting; leave it out.")
    if level is not None:
        check_known("level", level, LEVELS)
    if inoculation not in PERCENTAGES:
        raise SettingsError(f"inoculation {inoculation} is not one of {', '.join(map(str, PERCENTAGES))} per cent; give one of these.")
    if max_facts is not None and not 2 <= max_facts <= MOST_FACTS:
        raise SettingsError(f"max_facts {max_facts} is not between 2 and {MOST_FACTS}; n facts make 2^n - 1 instances a question.")
    check_seed(seed)
    return Settings(kind=kind, seed=seed, level=level or LEVELS[0], max_facts=MAX_FACTS if max_facts is None else max_facts)


def _describe(folder: Path, manifest: dict[str, Any], funnel: list[FunnelRow], *, title: str, seconds: float) -> None:
    """Write the card and, last, the manifest."""
    row, rejected_total = example(folder, manifest["counts"]), rejected_count(folder)
    manifest |= write_card(
        folder, lambda digest: contrast_card(manifest, funnel, title=title, digest=digest, example=row, rejected=rejected_total)
    )
    manifest |= {"funnel": [asdict(row) for row in funnel], "seconds": {"contrast": seconds}}
    write_manifest(manifest, folder)
