"""``kgqa contrast``: a question set transformed so that it tests whether a system connects facts, or knows what it cannot know."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.errors import EmptyResult, SettingsError, check_seed, suggestion
from kgqa.formats import native
from kgqa.formats.columns import SCHEMA, table_of
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.formats.registry import FORMATS
from kgqa.formats.split_names import in_order
from kgqa.progress import Progress, Silent
from kgqa.recipes.contrasts.facts import LEVELS
from kgqa.recipes.contrasts.inoculation import PERCENTAGES, choose_groups
from kgqa.recipes.contrasts.questions import MAX_FACTS, MOST_FACTS, REASONS
from kgqa.recipes.contrasts.transforms import BY_FACTS, KINDS, Settings
from kgqa.recipes.rejection import Rejection
from kgqa.records import HUB_SPLITS, Instance
from kgqa.runs.card import funnel_table
from kgqa.runs.files import file_hash, new_folder
from kgqa.runs.funnel import FunnelRow, as_records
from kgqa.runs.manifest import run_record

INSTANCES = 4096
"""So many are in memory before they are written; a question's own are written together."""
REJECTED = pa.schema([(name, pa.string()) for name in ("id", "split", "stage", "reason", "detail")])
BROKEN = "what was made of the question does not keep the transform's invariant"
PARQUET: dict[str, Any] = {"compression": "zstd", "compression_level": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """What was made."""

    kind: str
    source: QuestionSet
    dataset: Path
    """The finished folder."""
    counts: dict[str, int]
    """Instances per split."""
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
    seed: int = 13,
    inoculation: int = 0,
    max_facts: int | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Contrast:
    """Transform ``dataset``, a file or folder of ``format`` or of the one that is recognised, into the new dataset folder ``out``.

    ``level``: whether a supporting fact is a ``paragraph`` (the default) or a ``sentence``; ``max_facts``: questions with more of them are
    left out (6 by default). ``inoculation``: 0: every split as it is; 1 or 5: the train split is so many per cent of its groups, and where
    the set has none, so many of the other splits' groups are moved there. ``paragraphs`` and ``strict``: as :func:`kgqa.open_dataset` has
    them. The same questions, settings and seed give the same data. Raises
    KgqaError; nothing is left behind where it does. Memory: a few thousand instances, the ids of all groups and of rejected questions; for
    adversarial and unanswerable a sample of a split's names or paragraphs; with inoculation the splits that it changes.
    """
    settings = _settings(kind, level=level, seed=seed, inoculation=inoculation, max_facts=max_facts)
    source = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict)
    source.check_outside(Path(out))
    progress, begin = progress or Silent(), time.perf_counter()
    passed = {
        "kind": kind, "dataset": source.name, "level": level, "seed": seed, "inoculation": inoculation, "max_facts": max_facts,
        "format": format, "paragraphs": None if paragraphs is None else Path(paragraphs).name, "strict": strict,
    }  # fmt: skip
    with new_folder(Path(out)) as partial:
        partial.mkdir()
        run = _Run(source, settings, partial, progress)
        funnel = run.transform()
        if inoculation:
            funnel.append(run.inoculate(inoculation))
        manifest = run_record(passed=passed, resolved={**asdict(settings), "inoculation": inoculation}, inputs=source.hashes())
        manifest |= {"recipe": "contrast", "from": _origin(source), "seed": seed, "counts": run.counts, "groups": run.group_counts()}
        manifest["faults"] = source.faults.record()
        _describe(partial, manifest, funnel, title=source.name, seconds=round(time.perf_counter() - begin, 3))
        seconds = time.perf_counter() - begin
    return Contrast(
        kind=kind, source=source, dataset=Path(out), counts=run.counts, groups=run.group_counts(), funnel=funnel, seconds=seconds
    )


def _settings(kind: str, *, level: str | None, seed: int, inoculation: int, max_facts: int | None) -> Settings:
    if kind not in KINDS:
        raise SettingsError(f"contrast {kind!r} is not known; {suggestion(kind, tuple(KINDS))}")
    for name, value in (("level", level), ("max_facts", max_facts)):
        if value is not None and kind not in BY_FACTS:
            raise SettingsError(f"{name}: the contrast {kind} deals in whole paragraphs and has no such setting; leave it out.")
    if level is not None and level not in LEVELS:
        raise SettingsError(f"level {level!r} is not known; {suggestion(level, LEVELS)}")
    if inoculation not in PERCENTAGES:
        raise SettingsError(f"inoculation {inoculation} is none of {', '.join(map(str, PERCENTAGES))} per cent; give one of these.")
    if max_facts is not None and not 2 <= max_facts <= MOST_FACTS:
        raise SettingsError(f"max_facts {max_facts} is not between 2 and {MOST_FACTS}; n facts make 2^n - 1 instances a question.")
    check_seed(seed)
    return Settings(kind=kind, seed=seed, level=level or LEVELS[0], max_facts=MAX_FACTS if max_facts is None else max_facts)


class _Run:
    """Writes the splits and counts what was left out."""

    def __init__(self, source: QuestionSet, settings: Settings, folder: Path, progress: Progress) -> None:
        self._source, self._settings, self._folder, self._progress = source, settings, folder, progress
        self.counts: dict[str, int] = {}
        self._groups: dict[str, set[str]] = {}
        self._reasons: Counter[str] = Counter()

    def group_counts(self) -> dict[str, int]:
        return {split: len(groups) for split, groups in self._groups.items()}

    def transform(self) -> list[FunnelRow]:
        """Write every split and ``rejected.parquet``; EmptyResult where a split with questions comes out empty, or there are none."""
        read = 0
        with (self._folder / "rejected.parquet").open("wb") as file, pq.ParquetWriter(file, REJECTED, **PARQUET) as rejected:
            for split in self._source.files:
                read += self._transform_split(split, rejected)
        if not read:
            raise EmptyResult(f"{self._source.path}: the set holds no question; give one that does.")
        rows = [FunnelRow(stage="read", what="questions", reason="read", removed=None, left=read)]
        for reason, count in sorted(self._reasons.items(), key=lambda item: (-item[1], item[0])):
            read -= count
            setting = "max_facts" if reason == REASONS["many"] else ""
            rows.append(FunnelRow(stage="contrast", what="questions", reason=reason, removed=count, left=read, setting=setting))
        made = sum(self.counts.values())
        return [*rows, FunnelRow(stage="contrast", what="instances", reason="made of the questions left", removed=None, left=made)]

    def _transform_split(self, split: str, rejected: pq.ParquetWriter) -> int:
        """One split; how many questions it has."""
        self._progress.start(f"Transforming {split}", None, "questions")
        make, groups = self._settings.maker(lambda: self._source.read(split)), set[str]()
        reasons, count, read = Counter[str](), 0, 0
        with (self._folder / f"{split}.parquet").open("wb") as file, pq.ParquetWriter(file, SCHEMA, **PARQUET) as writer:
            waiting: list[Instance] = []
            refused: list[tuple[str, Rejection]] = []
            for instance in self._source.read(split):
                read += 1
                made = self._kept(instance, make(instance))
                self._progress.advance(1)
                if isinstance(made, Rejection):
                    refused.append((instance.id, made))
                    continue
                waiting += made
                groups.add(instance.group)
                if len(waiting) >= INSTANCES:
                    count += _write(writer, waiting)
            count += _write(writer, waiting)
        reasons.update(rejection.reason for _, rejection in refused)
        rejected.write_table(_rejected(refused, split))
        if read and not count:
            raise EmptyResult(self._empty(split, reasons))
        self._reasons += reasons
        self.counts[split], self._groups[split] = count, groups
        self._progress.finish(f"{count:,} instances of {read - len(refused):,} questions, {len(refused):,} left out")
        return read

    def _kept(self, instance: Instance, made: list[Instance] | Rejection) -> list[Instance] | Rejection:
        """What was made, or that it is not what the transform promises: nobody knows all that a source can hold."""
        broken = [] if isinstance(made, Rejection) else self._settings.broken(instance, made)
        return Rejection(reason=BROKEN, detail="; ".join(dict.fromkeys(broken))) if broken else made

    def _empty(self, split: str, reasons: Counter[str]) -> str:
        found = "; ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(3))
        return f"{self._source.path}: no question of {split} can be transformed by {self._settings.kind}: {found}; give another set."

    def inoculate(self, percent: int) -> FunnelRow:
        """Make the train split a training portion of whole groups; what is taken from another split is gone there."""
        given = ["train"] if self.counts.get("train") else [split for split in self.counts if split != "train"]
        chosen = choose_groups((group for split in given for group in self._groups[split]), percent, seed=self._settings.seed)
        tables = {split: _table(self._folder / f"{split}.parquet") for split in given}
        masks = {split: pc.is_in(table["group"], pa.array(sorted(chosen))) for split, table in tables.items()}
        portion = pa.concat_tables([table.filter(masks[split]) for split, table in tables.items()])
        left = {split: table.filter(pc.invert(masks[split])) for split, table in tables.items() if split != "train"}
        before = sum(self.counts.values())
        for split, table in {"train": portion, **left}.items():
            if not table.num_rows and self.counts.get(split, 1):
                raise EmptyResult(f"{self._source.path}: {percent}% of the groups leave nothing in {split}; the set is too small for that.")
            with (self._folder / f"{split}.parquet").open("wb") as file:
                pq.write_table(table, file, **PARQUET)
            self.counts[split], self._groups[split] = table.num_rows, set(table["group"].to_pylist())
        self.counts = in_order(self.counts)
        removed = before - sum(self.counts.values())
        reason = f"training portion: {percent}% of the groups of {' and '.join(given)}"
        return FunnelRow(
            stage="inoculate", what="instances", reason=reason, removed=removed, left=sum(self.counts.values()), setting="inoculation"
        )


def _table(path: Path) -> pa.Table:
    """All of a file; opened first, since Arrow takes no name that is not UTF-8."""
    with path.open("rb") as file:
        return pq.read_table(file)


def _write(writer: pq.ParquetWriter, waiting: list[Instance]) -> int:
    """Write and forget them; how many they were."""
    count = len(waiting)
    if count:
        writer.write_table(table_of(waiting))
        waiting.clear()
    return count


def _rejected(refused: list[tuple[str, Rejection]], split: str) -> pa.Table:
    rows = [(id, split, "contrast", rejection.reason, rejection.detail) for id, rejection in refused]  # noqa: A001 - what the field is called
    columns = list(zip(*rows, strict=True)) or [()] * len(REJECTED)
    return pa.table([pa.array(column, pa.string()) for column in columns], schema=REJECTED)


def _origin(source: QuestionSet) -> str:
    """The format that a set had first: of a folder of ours, what its manifest says, from which ``kgqa evaluate`` knows the metric."""
    if source.format != "native" or source.folder is None:
        return source.format
    before = native.manifest_of(source.folder).get("from")
    return before if isinstance(before, str) and before in FORMATS else source.format


def _describe(folder: Path, manifest: dict[str, Any], funnel: list[FunnelRow], *, title: str, seconds: float) -> None:
    """The card, and the manifest last."""
    data = {path.name: file_hash(path) for path in sorted(folder.glob("*.parquet"))}
    digest = sha256(json.dumps(data).encode()).hexdigest()
    (folder / "README.md").write_text(_card(manifest, funnel, title=title, digest=digest), "utf-8", "backslashreplace")
    files = {**data, "README.md": file_hash(folder / "README.md")}
    manifest |= {"content": digest, "files": files, "funnel": as_records(funnel), "seconds": {"contrast": seconds}}
    text = json.dumps(manifest, indent=1, ensure_ascii=False, sort_keys=True)
    (folder / "manifest.json").write_text(text + "\n", "utf-8", "backslashreplace")


def _card(manifest: dict[str, Any], funnel: list[FunnelRow], *, title: str, digest: str) -> str:
    """The text of README.md; depends on data and settings alone, never on the clock."""
    counts, kind = manifest["counts"], manifest["settings"]["kind"]
    files = "\n".join(f"  - split: {HUB_SPLITS[split]}\n    path: {split}.parquet" for split, count in counts.items() if count)
    sizes = "\n".join(f"| {split} | {count:,} | {manifest['groups'][split]:,} |" for split, count in counts.items())
    settings = "\n".join(f"| `{name}` | `{value}` |" for name, value in manifest["settings"].items())
    return (
        f"---\npretty_name: {json.dumps(f'{title}, {kind}', ensure_ascii=False)}\nlanguage: en\ntask_categories: [question-answering]\n"
        "tags: [multi-hop, kgqa, contrast]\nconfigs:\n- config_name: default\n"
        f"  description: content {digest}\n  data_files:\n{files}\n---\n\n"
        f"# {title}: {kind}\n\n{KINDS[kind]}. Made by kgqa from a set in the format {manifest['from']}; questions and texts keep the "
        "licence of their source. `rejected.parquet` lists the questions that could not be transformed.\n\n"
        f"## Size\n\n| split | instances | groups |\n| --- | --- | --- |\n{sizes}\n\n"
        f"## What was left out, and why\n\n{funnel_table(funnel)}\n\n"
        "## How it was made\n\nWhat was done to a question stands in its provenance, under `dire` or `unanswerable`. Inputs and versions "
        f"are in `manifest.json`; content hash `{digest}`.\n\n| setting | value |\n| --- | --- |\n{settings}\n"
    )
