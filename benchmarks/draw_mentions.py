"""Draw mentions with a fixed seed, for a person to read: ``python benchmarks/draw_mentions.py --domain wikidata --source DIR``.

Reads the source and links it with the domain's settings, as ``kgqa generate`` does, then draws from all mentions with equal chance and
prints each with its context and with what is known about the entity. docs/linking.md holds what the reading gave.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.domains import load_domain
from kgqa.linking.link import link_mentions
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.sources.layouts import LAYOUTS

CONTEXT = 80
"""Characters shown on each side of a mention."""


def main() -> None:
    """Draw and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--domain", required=True, help="a built-in domain, or the path of a .toml file")
    parser.add_argument("--source", type=Path, help="the folder with the domain's files (default: the domain's seed)")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tables, mentions = linked(arguments.domain, arguments.source)
    number = min(arguments.number, mentions.num_rows)
    rows = np.sort(np.random.default_rng(arguments.seed).choice(mentions.num_rows, number, replace=False))
    print(f"{number} of {mentions.num_rows:,} mentions, seed {arguments.seed}\n")
    print("\n".join(described(tables, mentions.take(pa.array(rows)))))


def linked(domain_name: str, source: Path | None) -> tuple[Mapping[str, pa.Table], pa.Table]:
    """The tables of a domain's source, and the mentions that its settings find in them."""
    domain = load_domain(domain_name, source=source)
    settings = domain.settings
    tables = dict(LAYOUTS[settings.source.layout].read(domain.source))
    candidates = possible_candidates(tables, settings.qangaroo)
    return tables, link_mentions(tables, settings.linking, settings.documents, candidates=candidates).mentions


def described(tables: Mapping[str, pa.Table], drawn: pa.Table) -> list[str]:
    """Three lines for each mention: where and what; the text around it; what the entity is."""
    texts = _rows(tables["documents"], "id", drawn["document"])
    entities = _rows(tables["entities"], "id", drawn["entity"])
    names: dict[str, list[str]] = defaultdict(list)
    for row in tables["names"].filter(pc.is_in(tables["names"]["entity"], value_set=drawn["entity"].combine_chunks())).to_pylist():
        names[row["entity"]].append(row["name"])
    lines = []
    for i, mention in enumerate(drawn.to_pylist(), start=1):
        entity, text = entities[mention["entity"]], texts[mention["document"]]["text"]
        start, end = mention["start"], mention["end"]
        about = entity["description"] or "; ".join(names[entity["id"]][:6])
        lines.append(f"{i:3}  {mention['document']}  {entity['id']} ({entity['kind']}) {entity['label']}  <- {text[start:end]!r}")
        lines.append(f"     {text[max(0, start - CONTEXT) : start]}[[{text[start:end]}]]{text[end : end + CONTEXT]}".replace("\n", " "))
        lines.append(f"     = {about}")
    return lines


def _rows(table: pa.Table, column: str, wanted: pa.ChunkedArray) -> dict[str, dict[str, str]]:
    return {row[column]: row for row in table.filter(pc.is_in(table[column], value_set=wanted.combine_chunks())).to_pylist()}


if __name__ == "__main__":
    main()
