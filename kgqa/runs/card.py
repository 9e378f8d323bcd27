"""Dataset cards: the frame that all of them share, and the sections that they fill it with."""

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
SEED_WARNING = "\n\n**Made from the small domain that kgqa ships, for trying things out; not for training or comparing models.**"
REJECTED = "rejected"
"""Name of the file of rejected records without its ending, and of their configuration and split for ``datasets``."""
LOADING = "## How to load it\n\n"
EXAMPLES = 64
"""The example of a card is the shortest of this many rows."""
_BAR = re.compile(r"(?<!\\)\|")
_SIZES = tuple(
    (10**power, name)
    for power, name in (
        (3, "n<1K"), (4, "1K<n<10K"), (5, "10K<n<100K"), (6, "100K<n<1M"), (7, "1M<n<10M"), (8, "10M<n<100M"), (9, "100M<n<1B"),
    )
)  # fmt: skip


def readme(
    *, title: str, about: str, counts: Mapping[str, int], size: str, digest: str, schema: pa.Schema, meanings: Mapping[str, str],
    example: str, sections: Iterable[str], made: str, tasks: Sequence[str] = ("question-answering",), tags: Sequence[str] = (),
    twins: Sequence[str] = (), rejected: int = 0, licence: str = "unknown", attribution: Sequence[str] = (), language: str = "",
    limits: str = "", paper: str = "",
) -> str:  # fmt: skip
    """The text of README.md. It depends on data and settings alone, never on the clock.

    ``counts``: split → number of questions; ``size``: the table of them. ``schema`` and ``meanings``: the columns. ``sections``: those of
    the command or recipe; ``made``: the text of the last one. ``twins``: folders with the same splits in another form. ``rejected``:
    :func:`rejected_count`. ``paper``: BibTeX.
    """
    parts = [
        front_matter(title, counts, digest, tasks=tasks, tags=tags, twins=twins, rejected=rejected, licence=licence, language=language),
        f"# {escaped(title)}\n\n{about}",
        f"## Size\n\n{size}",
        loading(counts, twins=twins, rejected=rejected),
        fields(schema, meanings),
        example,
        *sections,
        *([f"## Limits\n\n{limits}"] if limits else []),
        licence_section(licence, attribution),
        citation(paper),
        f"## How it was made\n\n{made}",
    ]
    return "\n\n".join(parts) + "\n"


def with_section(text: str, section: str) -> str:
    """The card with another section, after the size and before how to load it."""
    head, mark, tail = text.partition(LOADING)
    assert mark, "every card says how it is loaded"
    return f"{head}{section}\n\n{mark}{tail}"


def domain_settings(settings: DomainSettings) -> dict[str, Any]:
    """The arguments of :func:`readme` that a domain's file sets."""
    return {
        "title": settings.title, "licence": settings.licence, "attribution": settings.attribution, "limits": settings.limits,
        "language": settings.linking.language,
    }  # fmt: skip


def front_matter(
    title: str, counts: Mapping[str, int], digest: str, *, tasks: Sequence[str], tags: Sequence[str] = (), twins: Sequence[str] = (),
    rejected: int = 0, licence: str = "unknown", language: str = "",
) -> str:  # fmt: skip
    """YAML for ``datasets``: one configuration for the splits, one for each of the folders ``twins``, and one for ``rejected`` records.

    ``datasets`` loads the first one, so nobody takes rejected records for samples. The content hash keeps its cache from serving another
    dataset. Empty splits are left out, as they cannot be loaded.
    """
    files = [f"  - split: {HUB_SPLITS[split]}\n    path: FOLDER{split}.parquet" for split, count in counts.items() if count]
    configs = [
        f"- config_name: {name}\n  description: content {digest}\n"
        + default
        + "  data_files:\n"
        + "\n".join(files).replace("FOLDER", folder)
        for name, default, folder in (("default", "  default: true\n", ""), *((twin, "", f"{twin}/") for twin in twins))
    ]
    if rejected:
        description = f"what was left out, and why: no samples; content {digest}"
        data = f"  - split: {REJECTED}\n    path: {REJECTED}.parquet"
        configs.append(f"- config_name: {REJECTED}\n  description: {json.dumps(description)}\n  data_files:\n{data}")
    return (
        "---\n"
        f"pretty_name: {json.dumps(title)}\nlicense: {json.dumps(licence)}\n"
        + (f"language: {language}\n" if language else "")
        + f"size_categories: [{json.dumps(size_category(sum(counts.values())))}]\n"
        f"task_categories: [{', '.join(tasks)}]\ntags: [{', '.join(('multi-hop', 'kgqa', *tags))}]\nconfigs:\n"
        + "\n".join(configs)
        + "\n---"
    )


def table(header: Sequence[str], rows: Iterable[list[str]]) -> str:
    r"""A Markdown table; line breaks in cells become spaces, and bars are escaped.

    >>> print(table(["split", "samples"], [["train|all", "8"]]))
    | split | samples |
    | --- | --- |
    | train\|all | 8 |
    """
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(" ".join(_BAR.sub(r"\\|", cell).split()) for cell in row) + " |" for row in rows])


def funnel_table(funnel: Iterable[FunnelRow]) -> str:
    r"""The funnel as a Markdown table; reasons may name relations, whose labels are texts of users.

    >>> row = FunnelRow(stage="ask", what="relations", reason="<b>", removed=1, left=2)
    >>> funnel_table([row]).splitlines()[-1]
    '| ask | relations | &lt;b&gt; | 1 | 2 |'
    """
    return table(HEADER, ([escaped(cell) for cell in row.cells] for row in funnel))


def baseline_table(baselines: dict[str, list[dict[str, Any]]]) -> str:
    """The accuracies of the baselines as a Markdown table."""
    return table(["split", "baseline", *baselines], baseline_rows(baselines))


def baseline_rows(baselines: dict[str, list[dict[str, Any]]]) -> list[list[str]]:
    """One row per split and baseline: their names, then the accuracy at each point of measurement, as ``36.7 (35.1 to 38.2)``."""
    rows: dict[tuple[str, str], list[str]] = {}
    for scores in baselines.values():
        for score in scores:
            rows.setdefault((score["split"], score["baseline"]), []).append(shown_accuracy(score))
    return [[split, name, *cells] for (split, name), cells in rows.items()]


def shown_accuracy(score: Mapping[str, Any]) -> str:
    """An accuracy in per cent with its interval, or a dash for an empty split.

    >>> shown_accuracy({"accuracy": 0.367, "low": 0.351, "high": 0.382})
    '36.7 (35.1 to 38.2)'
    """
    if score["accuracy"] is None:
        return "–"
    return f"{100 * score['accuracy']:.1f} ({100 * score['low']:.1f} to {100 * score['high']:.1f})"


def escaped(text: str) -> str:
    r"""A user's text on one line, with Markdown and HTML escaped so that it is shown literally.

    >>> print(escaped("*bold* <b>"))
    \*bold\* &lt;b&gt;
    """
    return " ".join(_MARKS.sub(r"\\\g<0>", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").split())


def size_category(count: int) -> str:
    """The hub's size category for ``count`` samples.

    >>> size_category(999), size_category(1000)
    ('n<1K', '1K<n<10K')
    """
    at = bisect_right([most for most, _ in _SIZES], count)
    return _SIZES[at][1] if at < len(_SIZES) else "1B<n<10B"


def loading(counts: Mapping[str, int], *, twins: Sequence[str] = (), rejected: int = 0) -> str:
    """The section with the Python code that loads the dataset."""
    split = next((HUB_SPLITS[name] for name, count in counts.items() if count), HUB_SPLITS["train"])
    lines = [f'load_dataset("FOLDER", split="{split}")', *(f'load_dataset("FOLDER", "{twin}", split="{split}")' for twin in twins)]
    if rejected:
        lines.append(f'load_dataset("FOLDER", "{REJECTED}", split="{REJECTED}")  # what was left out, and why')
    code = "\n".join(["from datasets import load_dataset", "", *lines])
    return f"{LOADING}`FOLDER` is this folder, or the name of the set on the hub.\n\n```python\n{code}\n```"


def fields(schema: pa.Schema, meanings: Mapping[str, str]) -> str:
    """The section that lists the columns with their meanings and types."""
    rows = [[f"`{field.name}`", meanings[field.name], f"`{_TYPES.sub('', str(field.type))}`"] for field in schema]
    return "## Fields\n\n" + table(["field", "what it is", "type"], rows)


def example(folder: Path, counts: Mapping[str, int]) -> str:
    """The section with one whole row as JSON: the shortest of the first ``EXAMPLES`` rows of the first split that has any."""
    split = next((split for split, count in counts.items() if count), None)
    if split is None:
        return "## An example\n\nThe set is empty."
    with (folder / f"{split}.parquet").open("rb") as parquet_file, pq.ParquetFile(parquet_file) as file:
        rows = next(file.iter_batches(batch_size=EXAMPLES)).to_pylist()
    shortest = min((json.dumps(row, ensure_ascii=False, indent=1) for row in rows), key=len)
    return f"## An example\n\n<details>\n<summary>A row of {split}</summary>\n\n```json\n{shortest}\n```\n\n</details>"


def rejected_count(folder: Path) -> int:
    """The number of records in the dataset's file of rejected ones; 0 without such a file."""
    path = folder / f"{REJECTED}.parquet"
    if not path.is_file():
        return 0
    with path.open("rb") as file:
        return int(pq.read_metadata(file).num_rows)


def licence_section(licence: str, attribution: Sequence[str] = ()) -> str:
    """The section with the licence and the sources of texts and facts."""
    name = "Unknown: no `licence` was given" if licence == "unknown" else escaped(licence)
    sources = "".join(f"\n- {escaped(source)}" for source in attribution)
    return f"## Licence\n\n{name}. Texts and facts keep the licence of their source." + (f"\n{sources}" if sources else "")


def citation(paper: str = "") -> str:
    """The section with the BibTeX entries of the recipe's paper, if any, and of kgqa."""
    paper = f"{paper.strip()}\n\n" if paper else ""
    return f"## Citation\n\n```bibtex\n{paper}@software{{kgqa,\n  title = {{kgqa}},\n  version = {{{__version__}}}\n}}\n```"
