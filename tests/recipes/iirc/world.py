"""A small world of films and people whose articles state their dates, in the layout of ``data/wikidata``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.small_single_hops import FILLER

FILMS, PEOPLE, TOWNS = 24, 48, 12
MONTHS = ("January", "April", "July", "October")
FIRST = ("Arno", "Berta", "Carl", "Dora", "Egon", "Frida", "Gustav", "Hanna", "Ivo", "Jutta", "Kurt", "Lena")
LAST = ("Ambling", "Brookner", "Calder", "Denning")
TITLES = ("Silver", "Golden", "Crimson", "Emerald", "Hollow", "Distant")
NOUNS = ("Harbour", "Meadow", "Lantern", "Orchard")
SETTINGS = """
extends = "wikidata"
name = "world"
dataset = "world"
[musique]
forms = false
contexts = {{ branches = false }}
[musique.single_hop]
reading = {{ use = false }}
functional = 0.1
complete = true
by_chance = 100
[iirc]
min_links = 3
max_relations = 1.0
max_answer = 1.0
max_per_passage = 50
max_per_article = 500
{more}
"""


def person(number: int) -> str:
    return f"{FIRST[number % len(FIRST)]} {LAST[number // len(FIRST)]}"


def film(number: int) -> str:
    return f"{TITLES[number % len(TITLES)]} {NOUNS[number // len(TITLES)]}"


def town(number: int) -> str:
    return f"{LAST[number % 4]}{('ton', 'ham', 'ford')[number // 4]}"


def birth(number: int) -> tuple[int, str, int]:
    """Year, month and day."""
    return 1900 + (number * 7) % 60, MONTHS[number % 4], 1 + number % 28


def release(number: int) -> int:
    return 1970 + number


def write(folder: Path, *, dates: bool = True) -> Path:
    """The source folder; ``dates``: whether the articles state any."""
    folder.mkdir()
    documents, facts, entities = [], [], []

    def add(name: str, label: str, text: str) -> None:
        entities.append(f"{name}\t{label}\t\t\t{label}\n")
        documents.append({"id": f"d{name}", "title": label, "entity": name, "text": f"{text} {FILLER}"})

    for number in range(TOWNS):
        add(f"QT{number}", town(number), f"{town(number)} is a town. {town(number)} has a population of {10_000 + 997 * number:,}.")
    for number in range(PEOPLE):
        year, month, day = birth(number)
        born = f" (born {month} {day}, {year})" if dates else ""
        add(f"QP{number}", person(number), f"{person(number)}{born} is an actor. {person(number)} was born in {town(number % TOWNS)}.")
        facts.append((f"QP{number}", "P19", f"QT{number % TOWNS}"))
    for number in range(FILMS):
        director, cast = 2 * number, ((2 * number + 5) % PEOPLE, (2 * number + 12) % PEOPLE)
        opening = f"is a {release(number)} film" if dates else "is a film"
        stars = " and ".join(person(one) for one in cast)
        add(f"QF{number}", film(number), f"{film(number)} {opening}. It was directed by {person(director)} and stars {stars}.")
        facts.append((f"QF{number}", "P57", f"QP{director}"))
        facts += [(f"QF{number}", "P161", f"QP{one}") for one in cast]
    (folder / "entities.tsv").write_text("id\tlabel\taliases\tdescription\twikipedia_title\n" + "".join(entities))
    (folder / "relations.tsv").write_text("id\tlabel\nP19\tplace of birth\nP57\tdirector\nP161\tcast member\n")
    (folder / "triples.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts))
    (folder / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    return folder


def settings(path: Path, more: str = "") -> Path:
    path.write_text(SETTINGS.format(more=more))
    return path


def births() -> Mapping[str, tuple[int, str, int]]:
    return {person(number): birth(number) for number in range(PEOPLE)}
