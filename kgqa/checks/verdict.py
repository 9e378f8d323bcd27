"""Verdict on a dataset: the checks of ``kgqa audit`` that need no trained reader, and what its splits are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kgqa.checks import CHECKS
from kgqa.checks.batch import Batch, Side
from kgqa.checks.findings import Finding
from kgqa.checks.sources import BATCH
from kgqa.formats import native
from kgqa.runs.card import escaped, table
from kgqa.runs.funnel import LOSES, FunnelRow
from kgqa.runs.stage import Run
from kgqa.runs.verdict import Verdict
from kgqa.settings.defaults import DRAWS_SEED, RECIPE
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.splits.items import keys_of
from kgqa.splits.makeup import KINDS, LARGE, Makeup, makeups, skews

MOST = 2000
"""Questions of each split that the checks see, the first ones; some 2 ms each."""
SHOWN = 10
"""Values of each kind on the card."""
UNREAL = frozenset({"random", "rule"})
"""Baselines that are no shortcut: chance, and the one that knows the grades by which samples were chosen."""
PURPOSES = {
    "qangaroo": ("kgqa generate", "readers that choose a candidate by following documents"),
    "paper": ("kgqa generate --recipe paper", "comparison with published figures of WikiHop and MedHop"),
    "musique": ("kgqa compose", "readers that write the answer, or recognise that there is none"),
    "iirc": ("kgqa generate --recipe iirc", "readers that find missing articles, compute, or recognise that there is no answer"),
    "strategyqa": ("kgqa generate --recipe strategyqa", "readers of yes/no questions that do not name their steps"),
}
"""Recipe or variant → its command, and what its datasets are for."""


def examine(folder: Path, run: Run, manifest: dict[str, Any]) -> Verdict:
    """The verdict on the dataset in ``folder`` that ``run`` wrote (:class:`kgqa.runs.verdict.Examiner`).

    Memory: a batch of questions, and what the checks keep of ``MOST`` questions of each split.
    """
    counts: Mapping[str, int] = manifest["counts"]
    run.progress.start("Checking the dataset", sum(min(MOST, count) for count in counts.values()), "questions")
    findings = found(folder, run) if sum(counts.values()) else []
    splits = {split: makeup for split, makeup in makeups(folder, _labels(run)).items() if makeup.questions}
    uneven = tuple(map(str, skews(splits)))
    command, purpose = PURPOSES.get(_variant(run), ("", ""))
    rule, setting = limit(FunnelRow(**row) for row in manifest["funnel"])
    parts: dict[str, Any] = {
        "shortcuts": tuple(_shortcuts(manifest.get("baselines", {}), manifest.get("shortcuts", {}))),
        "findings": tuple(map(sentence, findings)),
        "skews": uneven,
        "limit": rule,
        "limit_setting": setting,
        "purpose": f"{command} is for {purpose}." if command else "",
    }
    run.progress.finish(f"findings: {len(findings)}, differences of splits: {len(uneven)}")
    return Verdict(**parts, section=_section(Verdict(**parts), counts, splits))


def found(folder: Path, run: Run) -> list[Finding]:
    """The findings of all checks with something to look at, the worst first."""
    checks = [check(seed=DRAWS_SEED) for check in CHECKS]
    sides: list[str] = []
    for split, path in native.split_files(folder).items():
        first = 0
        for instances in native.batched(islice(native.read(path), MOST), BATCH):
            batch = Batch(Side(name=split, against=False), first, instances, tuple(sides))
            for check in checks:
                check.update(batch)
            first += len(instances)
            run.progress.advance(len(instances))
        sides.append(split)
    results = [check.result(np.random.default_rng([DRAWS_SEED, int(keys_of([check.name])[0, 0])])) for check in checks]
    return sorted((finding for finding in results if finding.state == "found"), key=lambda finding: -finding.excess)


def sentence(finding: Finding) -> str:
    """A finding in one sentence with its share, the number of units, and the name of its check."""
    figure, _, _ = finding.bounds
    chance = "" if finding.chance is None else f", a blind guess {100 * finding.chance:.3g}%"
    return (
        f"{finding.check}: {finding.title[0].lower()}{finding.title[1:]}, {100 * figure:.3g}% of {finding.total:,} {finding.unit}{chance}."
    )


def limit(funnel: Iterable[FunnelRow]) -> tuple[str, str]:
    """The rule that dropped most of what could have become questions, as a sentence, and its setting; empty if nothing was dropped."""
    most = max((row for row in funnel if row.what in LOSES and row.removed), key=lambda row: row.removed or 0, default=None)
    if most is None:
        return "", ""
    setting = f"its setting is {most.setting}" if most.setting else "no setting governs it"
    return f"{most.reason}: {most.removed:,} {most.what} dropped; {setting}.", most.setting


def _shortcuts(baselines: Mapping[str, list[dict[str, Any]]], figures: Mapping[str, Any]) -> Iterable[str]:
    """The best shortcut of dev and of test after the last filter; of composed questions one for both."""
    last = list(baselines.values())[-1] if baselines else ()
    for split in ("dev", "test"):
        scores = {score["baseline"]: score for score in last if score["split"] == split and score["accuracy"] is not None}
        real = [score for name, score in scores.items() if name not in UNREAL]
        if real:
            best = max(real, key=lambda score: float(score["accuracy"]))
            accuracy = f"{100 * best['accuracy']:.1f}% of {best['samples']:,} samples"
            yield f"Best shortcut baseline on {split}: {best['baseline']}, {accuracy}, chance {100 * best['chance']:.1f}%"
    means = {name: score for name, score in figures.items() if score["mean"] is not None and name not in UNREAL}
    if means:
        name = max(means, key=lambda name: float(means[name]["mean"]))
        chance = f", chance {100 * figures['random']['mean']:.1f}" if "random" in figures else ""
        yield (f"Best shortcut baseline on dev and test: {name}, F1 {100 * means[name]['mean']:.1f} of {means[name]['of']:,}{chance}")


def _variant(run: Run) -> str:
    """A key of ``PURPOSES``: the recipe, or ``paper`` for the recipe of WikiHop and MedHop without grades and limits on baselines."""
    settings = run.domain.settings
    if settings.recipe != RECIPE:
        return settings.recipe
    qangaroo = settings.section(QangarooSettings)
    is_limited = min(qangaroo.bias.position_share, qangaroo.bias.count_share, qangaroo.bias.train_share) < 1
    return RECIPE if qangaroo.evidence.use or is_limited or qangaroo.queries != "relations" else "paper"


def _labels(run: Run) -> dict[str, str]:
    """Id of a relation, or of a path of relations → its label; empty for recipes whose questions name relations by words."""
    if run.domain.settings.recipe != RECIPE:
        return {}
    tables = run.tables("relations", "asked_relations").values()
    return {name: label for of in tables for name, label in zip(of["id"].to_pylist(), of["label"].to_pylist(), strict=True)}


def _section(verdict: Verdict, counts: Mapping[str, int], splits: Mapping[str, Makeup]) -> str:
    looked_at = " and ".join(
        f"the first {MOST:,} of {count:,} in {split}" if count > MOST else f"all {count:,} in {split}" for split, count in counts.items()
    )
    findings = [f"- {escaped(text)}" for text in verdict.findings] or ["- Nothing."]
    uneven = [f"- {escaped(text)}" for text in verdict.skews] or ["- Nothing."]
    purposes = [[f"`{command}`", purpose] for command, purpose in PURPOSES.values()]
    blocks = [
        "## Verdict",
        *(["\n".join(f"- {escaped(text)}." for text in verdict.shortcuts)] if verdict.shortcuts else []),
        f"`kgqa audit` of this folder shows examples for what its checks find ({looked_at}):\n\n" + "\n".join(findings),
        f"Relations, last hops and shapes with {100 * LARGE:.0f}% or more of one split that another split nearly lacks:\n\n"
        + "\n".join(uneven),
        *([f"What limits the size: {escaped(verdict.limit)}"] if verdict.limit else []),
        *([escaped(verdict.purpose)] if verdict.purpose else []),
        table(["command", "purpose"], purposes),
        "### What the splits are made of",
        *(_shares(kind, splits) for kind in KINDS if any(makeup.counts[kind] for makeup in splits.values())),
    ]
    return "\n\n".join(blocks)


def _shares(kind: str, splits: Mapping[str, Makeup]) -> str:
    """The values that are frequent in any split, with their share of each."""
    values = dict.fromkeys(value for makeup in splits.values() for value, _ in makeup.most(kind, SHOWN))
    rows = [[escaped(value), *(f"{100 * makeup.share(kind, value):.1f}" for makeup in splits.values())] for value in values]
    return table([f"{KINDS[kind]}, % of the questions", *splits], rows)
