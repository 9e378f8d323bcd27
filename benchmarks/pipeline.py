"""How long a whole run takes, from source files to written splits, beside a plain-Python version that only counts.

``python -m benchmarks.pipeline``
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Section, Table, absent, data_folder, ratios, spread
from benchmarks.process import Outcome, python

TITLE = "A whole run: source files to datasets"
ROUNDS = 3
WORKERS = 2
DATASETS = {"wikidata": "wikihop", "medline": "medhop"}
COUNTING = ("read_sources", "link_mentions", "ask_questions", "traverse")
"""The stages that do what the plain-Python version does, and more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """One run of ``kgqa generate``."""

    outcome: Outcome
    manifest: dict[str, Any]


def main(*, rounds: int = ROUNDS) -> Section:
    """Measure on the real data of both domains."""
    sources = {domain: data_folder(domain) for domain in DATASETS}
    missing = [domain for domain, source in sources.items() if source is None]
    if missing:
        return Section(title=TITLE, skipped=absent(missing[0]))
    return Section(title=TITLE, tables=measured({domain: source for domain, source in sources.items() if source}, rounds=rounds))


def measured(sources: dict[str, Path], *, rounds: int) -> list[Table]:
    """Both domains with kernels to compile, then both with kernels compiled and plain Python in turn."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache}
        cold = {domain: generated(domain, source, environment) for domain, source in sources.items()}
        warm: dict[str, list[Generated]] = {domain: [] for domain in sources}
        plain = []
        for _ in range(rounds):
            for domain, source in sources.items():
                warm[domain].append(generated(domain, source, environment))
            plain.append(python(["-m", "benchmarks.plain_python", str(sources["wikidata"])]))
    return [whole(cold, warm, plain), stages(warm)]


def generated(domain: str, source: Path, environment: dict[str, str]) -> Generated:
    """One run into a workspace of its own."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--domain", domain, "--source", str(source), "--workspace", folder, "--workers", str(WORKERS)]
        outcome = python(["-m", "kgqa", "generate", *arguments], environment=environment)
        manifest = Path(folder) / "datasets" / DATASETS[domain] / "manifest.json"
        return Generated(outcome=outcome, manifest=json.loads(manifest.read_text("utf-8")))


def whole(cold: dict[str, Generated], warm: dict[str, list[Generated]], plain: list[Outcome]) -> Table:
    """Seconds and memory of whole runs."""
    rows = []
    for domain, runs in warm.items():
        samples = f"{sum(runs[0].manifest['counts'].values()):,}"
        seconds = [run.outcome.seconds for run in runs]
        first = cold[domain].outcome
        rows.append(
            [f"kgqa generate, {domain}, kernels compiled before", samples, spread(seconds, 1), memory([r.outcome for r in runs]), ""]
        )
        rows.append([f"kgqa generate, {domain}, kernels compiled in the run", samples, f"{first.seconds:.1f}", memory([first]), ""])
    ours = [run.outcome.seconds for run in warm["wikidata"]]
    theirs = [run.seconds for run in plain]
    rows[0][-1] = "1.00"
    same = [sum(run.manifest["seconds"][stage] for stage in COUNTING) for run in warm["wikidata"]]
    rows.insert(1, [f"– of it {', '.join(COUNTING)}", "", spread(same, 1), "", spread(ratios(same, ours))])
    counts = json.loads(plain[0].output)
    rows.append(["plain Python, wikidata, counting only", "", spread(theirs, 1), memory(plain), spread(ratios(theirs, ours))])
    return Table(
        title="Wall clock and memory",
        columns=("", "samples written", "seconds", "peak GiB", "time ÷ kgqa's"),
        rows=rows,
        notes=[
            f"{WORKERS} workers, a fresh workspace each time; {len(ours)} rounds in turn; median and range. "
            "In the first run of medline, the kernels that it shares with wikidata are already compiled.",
            "Plain Python (benchmarks/plain_python.py) uses one core and does less: it links with simpler name rules and counts "
            f"({', '.join(f'{count:,} {what}' for what, count in counts.items())}). It has no store, filters, baselines, masking or files. "
            f"Its time ÷ the time of the same stages of kgqa: {spread(ratios(theirs, same))}.",
        ],
    )


def stages(warm: dict[str, list[Generated]]) -> Table:
    """Seconds of each stage, as the manifests say."""
    names = list(next(iter(warm.values()))[0].manifest["seconds"])
    per_domain = {domain: [run.manifest["seconds"] for run in runs] for domain, runs in warm.items()}
    names.sort(key=_heaviest(per_domain))
    rows = [[name, *(spread([seconds[name] for seconds in runs]) for runs in per_domain.values())] for name in names]
    return Table(title="Seconds per stage, kernels compiled before", columns=("", *per_domain), rows=rows)


def _heaviest(per_domain: dict[str, list[dict[str, float]]]) -> Any:
    return lambda name: -max(statistics.median(seconds[name] for seconds in runs) for runs in per_domain.values())


def memory(outcomes: Sequence[Outcome]) -> str:
    """The largest of the peaks."""
    return f"{max(outcome.gibibytes for outcome in outcomes):.2f}"


if __name__ == "__main__":
    print(main().plain())
