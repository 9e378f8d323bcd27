"""Sections of a dataset card that recipes share: the front matter, loading, fields, funnel, baselines, licence, citation."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.records import HUB_SPLITS
from kgqa.runs.funnel import HEADER, FunnelRow
from kgqa.settings.domain import DomainSettings
from kgqa.version import __version__

_MARKS = re.compile(r"[\\`*_\[\]()!#|~$]|(?<=\w)(?=://)|(?<=www)(?=\.)")
_TYPES = re.compile(r"\b(item|element): ")
EXAMPLES = 64
"""Of so many rows the shortest is shown."""
_BAR = re.compile(r"(?<!\\)\|")
_SIZES = tuple(
    (10**power, name)
    for power, name in (
        (3, "n<1K"), (4, "1K<n<10K"), (5, "10K<n<100K"), (6, "100K<n<1M"), (7, "1M<n<10M"), (8, "10M<n<100M"), (9, "100M<n<1B"),
    )
)  # fmt: skip


def front_matter(settings: DomainSettings, counts: dict[str, int], digest: str, *, tasks: Sequence[str], twins: Sequence[str] = ()) -> str:
    """YAML for ``datasets``: a configuration for the splits, and one for those in each of the folders ``twins``.

    The content hash keeps its cache from serving another dataset, and empty splits cannot be loaded.
    """
    files = [f"  - split: {HUB_SPLITS[split]}\n    path: FOLDER{split}.parquet" for split, count in counts.items() if count]
    configs = [
        f"- config_name: {name}\n  description: content {digest}\n"
        + default
        + "  data_files:\n"
        + "\n".join(files).replace("FOLDER", folder)
        for name, default, folder in (("default", "  default: true\n", ""), *((twin, "", f"{twin}/") for twin in twins))
    ]
    language = f"language: {settings.linking.language}\n" if settings.linking.language else ""
    return (
        "---\n"
        f"pretty_name: {json.dumps(settings.title)}\nlicense: {json.dumps(settings.licence)}\n{language}"
        f"size_categories: [{json.dumps(size_category(sum(counts.values())))}]\n"
        f"task_categories: [{', '.join(tasks)}]\ntags: [multi-hop, kgqa]\nconfigs:\n" + "\n".join(configs) + "\n---"
    )


def table(header: Sequence[str], rows: Iterable[list[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(" ".join(_BAR.sub(r"\\|", cell).split()) for cell in row) + " |" for row in rows])


def funnel_table(funnel: Iterable[FunnelRow]) -> str:
    """The funnel in Markdown."""
    return table(HEADER, (row.cells for row in funnel))


def baseline_table(baselines: dict[str, list[dict[str, Any]]]) -> str:
    """The Markdown table of :func:`baseline_rows`."""
    return table(["split", "baseline", *baselines], baseline_rows(baselines))


def baseline_rows(baselines: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """One row per split and baseline: the two, then at each point of measurement the accuracy, as ``36.7 (35.1 to 38.2)``."""
    rows: dict[tuple[str, str], list[str]] = {}
    for scores in baselines.values():
        for score in scores:
            rows.setdefault((score["split"], score["baseline"]), []).append(shown_accuracy(score))
    return [[split, name, *cells] for (split, name), cells in rows.items()]


def shown_accuracy(score: Mapping[str, Any]) -> str:
    """In per cent with its interval; a dash where there was nothing to score."""
    if score["accuracy"] is None:
        return "–"
    return f"{100 * score['accuracy']:.1f} ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def escaped(text: str) -> str:
    """A user's text on one line that shows as it is: no Markdown and no HTML, whatever is in it."""
    return " ".join(_MARKS.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def size_category(count: int) -> str:
    """The hub's size category of ``count`` samples."""
    at = bisect_right([most for most, _ in _SIZES], count)
    return _SIZES[at][1] if at < len(_SIZES) else "1B<n<10B"


def loading(counts: Mapping[str, int], *, twins: Sequence[str] = ()) -> str:
    """The lines of Python that load the set from its folder."""
    split = next((HUB_SPLITS[name] for name, count in counts.items() if count), HUB_SPLITS["train"])
    lines = [f'load_dataset("FOLDER", split="{split}")', *(f'load_dataset("FOLDER", "{twin}", split="{split}")' for twin in twins)]
    code = "\n".join(["from datasets import load_dataset", "", *lines])
    return f"## How to load it\n\n`FOLDER` is this folder, or the name of the set on the hub.\n\n```python\n{code}\n```"


def fields(schema: pa.Schema, meanings: Mapping[str, str]) -> str:
    """The columns of each split, what is in them, and their types."""
    rows = [[f"`{field.name}`", meanings[field.name], f"`{_TYPES.sub('', str(field.type))}`"] for field in schema]
    return "## Fields\n\n" + table(["field", "what it is", "type"], rows)


def example(folder: Path, counts: Mapping[str, int]) -> str:
    """One whole row of the first split that has any, as JSON: the shortest of its first rows."""
    split = next((split for split, count in counts.items() if count), None)
    if split is None:
        return "## An example\n\nThe set is empty."
    with (folder / f"{split}.parquet").open("rb") as opened, pq.ParquetFile(opened) as file:
        rows = next(file.iter_batches(batch_size=EXAMPLES)).to_pylist()
    shortest = min((json.dumps(row, ensure_ascii=False, indent=1) for row in rows), key=len)
    return f"## An example\n\n<details>\n<summary>A row of {split}</summary>\n\n```json\n{shortest}\n```\n\n</details>"


def licence(settings: DomainSettings) -> str:
    """The licence, and whose texts and facts they are."""
    name = {"unknown": "Unknown: the domain's file names no licence (`licence`)"}.get(settings.licence, escaped(settings.licence))
    sources = "".join(f"\n- {escaped(source)}" for source in settings.attribution)
    return f"## Licence\n\n{name}. Texts and facts keep the licence of their source." + (f"\n{sources}" if sources else "")


def citation(paper: str = "") -> str:
    """BibTeX of the recipe's paper, if any, and of kgqa."""
    paper = f"{paper.strip()}\n\n" if paper else ""
    return f"## Citation\n\n```bibtex\n{paper}@software{{kgqa,\n  title = {{kgqa}},\n  version = {{{__version__}}}\n}}\n```"
