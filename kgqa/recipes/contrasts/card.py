"""The dataset card of a contrast."""

from __future__ import annotations

import json
from typing import Any

from kgqa.formats.columns import MEANINGS, SCHEMA
from kgqa.recipes import papers
from kgqa.recipes.contrasts.transforms import KINDS, PAPERS
from kgqa.records import HUB_SPLITS
from kgqa.runs.card import citation, escaped, fields, funnel_table, loading, size_category
from kgqa.runs.funnel import FunnelRow


def contrast_card(manifest: dict[str, Any], funnel: list[FunnelRow], *, title: str, digest: str, example: str) -> str:
    """The text of README.md; depends on data and settings alone, never on the clock."""
    counts, kind = manifest["counts"], manifest["settings"]["kind"]
    files = "\n".join(f"  - split: {HUB_SPLITS[split]}\n    path: {split}.parquet" for split, count in counts.items() if count)
    sizes = "\n".join(f"| {split} | {count:,} | {manifest['groups'][split]:,} |" for split, count in counts.items())
    settings = "\n".join(f"| `{name}` | `{value}` |" for name, value in manifest["settings"].items())
    return (
        f'---\npretty_name: {json.dumps(f"{title}, {kind}", ensure_ascii=False)}\nlicense: "unknown"\n'
        f"size_categories: [{json.dumps(size_category(sum(counts.values())))}]\ntask_categories: [question-answering]\n"
        "tags: [multi-hop, kgqa, contrast]\nconfigs:\n- config_name: default\n"
        f"  description: content {digest}\n  data_files:\n{files}\n---\n\n"
        f"# {escaped(title)}: {kind}\n\n{KINDS[kind]}. Made by kgqa from a set in the format {manifest['from']}. "
        "`rejected.parquet` lists the questions that could not be transformed.\n\n"
        f"## Size\n\n| split | instances | groups |\n| --- | --- | --- |\n{sizes}\n\n"
        f"{loading(counts)}\n\n{fields(SCHEMA, MEANINGS)}\n\n{example}\n\n"
        f"## What was left out, and why\n\n{funnel_table(funnel)}\n\n"
        "## Licence\n\nUnknown here: questions and texts keep the licence of their source.\n\n"
        f"{citation(PAPERS.get(kind, papers.DIRE))}\n\n"
        "## How it was made\n\nWhat was done to a question stands in its provenance, under `dire` or `unanswerable`. Inputs and versions "
        f"are in `manifest.json`; content hash `{digest}`.\n\n| setting | value |\n| --- | --- |\n{settings}\n"
    )
