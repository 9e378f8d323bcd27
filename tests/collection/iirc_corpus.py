"""A corpus of passages with links: what each article says stands in its own text only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.collection.project import Project, read_project

TOWNS = [f"Town{number:02}" for number in range(40)]


def secret(town: str) -> str:
    """A sentence that the article about ``town`` has and no passage."""
    return f"{town} has {len(town) + int(town[4:])} bridges and a river called Rill{town[4:]}."


def passage(first: int, links: int) -> tuple[str, list[tuple[str, int, int]]]:
    """A text that begins with an astral character and names ``links`` towns, with their places."""
    text, places = "\U0001f30d The cafe\u0301 owner ", []
    for town in TOWNS[first : first + links]:
        text += "visited "
        places.append((town, len(text), len(text) + len(town)))
        text += f"{town}, then "
    return text + "went home.", places


def write_tables(folder: Path, *, passages: int = 6, links: int = 4, workspace: bool = False) -> Path:
    """An import's folder, or a workspace: articles of towns, and documents of two lines; the second one has the links."""
    documents: list[dict[str, str | None]] = []
    mentions: list[dict[str, Any]] = []
    for town in TOWNS:
        documents.append({"id": f"d-{town}", "title": town, "about": f"e-{town}", "text": f"{town} is a town. {secret(town)}"})
    for number in range(passages):
        text, places = passage(number * 3, links)
        start = "A line without links.\n"
        documents.append({"id": f"trip{number}", "title": f"Trip {number}", "about": None, "text": f"{start}{text}\n"})
        for town, begin, end in places:
            mentions.append({"document": f"trip{number}", "entity": f"e-{town}", "start": begin + len(start), "end": end + len(start)})
    tables = folder / "tables" if workspace else folder
    tables.mkdir(parents=True)
    pl.DataFrame(documents).sort("id").write_parquet(tables / "documents.parquet")
    pl.DataFrame(mentions).write_parquet(tables / "mentions.parquet")
    if not workspace:
        (folder / "import.json").write_text(json.dumps({"version": 1}))
    return folder


def write_lines(path: Path, *, passages: int = 6, links: int = 4) -> Path:
    """The same passages as JSON lines, with a file of articles beside."""
    records = []
    for number in range(passages):
        text, places = passage(number * 3, links)
        entries = [{"target": town, "indices": [begin, end]} for town, begin, end in places]
        records.append({"id": f"trip{number}", "title": f"Trip {number}", "text": text, "links": entries})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    path.with_name(f"{path.name.split('.')[0]}_context_articles.json").write_text(
        json.dumps({town: f"{town} is a town. {secret(town)}" for town in TOWNS})
    )
    return path


def write_project(folder: Path, task: str, data: str, *, options: dict[str, Any] | None = None, **values: Any) -> Project:
    """A project file in ``folder`` and what it says."""
    settings: dict[str, Any] = {"name": "trips", "task": task, "data": data, "people": ["ann", "ben", "cem", "dua"], **values}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    if options:
        lines += ["[options]", *(f"{name} = {json.dumps(value)}" for name, value in options.items())]
    path = folder / f"{task}.toml"
    path.write_text("\n".join(lines) + "\n")
    return read_project(path)
