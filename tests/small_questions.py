"""Small question sets for readers: countries with capitals, each asked for in front of paragraphs about others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from kgqa.formats.columns import table_of
from kgqa.records import Candidate, Instance, Paragraph

COUNTRIES = ("arl", "bem", "cor", "dun", "eft", "fim", "gol", "hur", "ilm", "jat", "kep", "lod", "mun", "nar", "ost", "pil")
CAPITALS = ("vax", "wim", "zor", "yab", "tuk", "sef", "rog", "quan", "peb", "olk", "nim", "mav", "lut", "kos", "jin", "hap")


def paragraph(number: int, *, supporting: bool | None = None) -> Paragraph:
    """One that says what the capital of a country is."""
    text = f"{COUNTRIES[number]} is a country. The capital of {COUNTRIES[number]} is {CAPITALS[number]}."
    return Paragraph(
        id=f"p{number}", title=COUNTRIES[number], text=text, supporting=supporting, sentences=(0, text.index("The")),
        supporting_sentences=None if supporting is None else (1,) if supporting else (),
    )  # fmt: skip


def question(number: int, *, shown: int = 3, candidates: bool = False, **other: Any) -> Instance:
    """What the capital of country ``number`` is; so many paragraphs are shown, the right one at a place of its own."""
    count = len(COUNTRIES)
    places = [(number + 1 + step) % count for step in range(shown - 1)]
    places.insert(number % shown if shown else 0, number)
    instance = Instance(
        id=f"q{number}", question=f"what is the capital of {COUNTRIES[number]}?",
        paragraphs=tuple(paragraph(place, supporting=place == number) for place in places[:shown]),
        answers=(CAPITALS[number],), answer_type="span", answerable=True, group=f"g{number}", provenance=None,
    )  # fmt: skip
    if candidates:
        chosen = sorted(places)
        instance = replace(
            instance, candidates=tuple(Candidate(id=f"c{place}", text=CAPITALS[place]) for place in chosen), answer_id=f"c{number}"
        )
    return replace(instance, **other)


def questions(count: int = 8, **more: Any) -> list[Instance]:
    """The first so many."""
    return [question(number, **more) for number in range(count)]


def write_set(folder: Path, **splits: Sequence[Instance]) -> Path:
    """A dataset folder in the native format."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, instances in splits.items():
        pq.write_table(table_of(instances), folder / f"{name}.parquet")
    return folder


def write_toml(path: Path, reader: str, encoder: str, *, settings: str = "", **training: object) -> Path:
    """A reader with its settings."""
    said = {"learning_rate": 0.003, "batch": 4, "epochs": 2, "device": '"cpu"', **training}
    lines = "\n".join(f"{name} = {value}" for name, value in said.items())
    path.write_text(f'reader = "{reader}"\n[settings]\nencoder = "{encoder}"\n{settings}\n[training]\n{lines}\n', "utf-8")
    return path
