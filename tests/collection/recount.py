"""Every figure of a project once more, from the rows of its journal's database, by code that shares nothing with kgqa.

``python tests/collection/recount.py FILE.sqlite`` prints them as JSON; :func:`differences` compares them with what kgqa says.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from math import fsum, sqrt
from pathlib import Path
from typing import Any

Z = 1.959963984540054
Row = dict[str, Any]


def recount(path: Path | str, project: str | None = None) -> Row:
    """The figures of the project in a SQLite file; ``project`` is its name, where there are several."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        projects = dict(connection.execute("SELECT name, id FROM kgqa_project"))
        number = projects[project] if project is not None else next(iter(projects.values()))
        query = "SELECT number, time, kind, person, item, body FROM kgqa_event WHERE project = ? ORDER BY number"
        names = ("number", "time", "kind", "person", "item", "body")
        return figures([dict(zip(names, row, strict=True)) for row in connection.execute(query, (number,))])
    finally:
        connection.close()


def figures(events: list[Row]) -> Row:
    """The figures of a list of events with ``body`` as JSON text."""
    items: dict[str, Row] = {}
    sent: list[Row] = []
    decided: dict[str, Row] = {}
    refused: dict[str, Row] = {}
    withdrawn: dict[str, str] = {}
    passes: dict[str, list[bool]] = defaultdict(list)
    done: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[str, Counter[str]] = {"flag": Counter(), "skip": Counter()}
    people: set[str] = set()
    settings: Row = {}
    for event in events:
        kind, person, item, body = event["kind"], event["person"], event["item"], json.loads(event["body"])
        if kind in {"open", "change"}:
            settings.update(body["settings"])
        elif kind == "item":
            items.pop(item, None)
            items[item] = {"step": body["step"], "purpose": body["purpose"], "seats": body["seats"], "known": body.get("gold_labels")}
            decided.pop(item, None)
            refused.pop(item, None)
            for earlier in sent:
                if earlier["item"] == item:
                    earlier["replaced"] = True
        elif kind == "submit" and item in items:
            sent.append(
                {
                    "number": event["number"], "person": person, "item": item, "labels": body.get("labels", {}),
                    "seconds": body.get("seconds", 0.0), "undone": False, "replaced": False,
                }
            )  # fmt: skip
        elif kind == "undo":
            for earlier in sent:
                if earlier["number"] == body["event"] and earlier["person"] == person:
                    earlier["undone"] = True
        elif kind == "decide":
            decided.pop(item, None)
            if body["state"] != "open":
                decided[item] = {"disputed": body["state"] == "disputed", "labels": body.get("labels", {})}
        elif kind == "adjudicate":
            decided[item] = {"disputed": False, "labels": body.get("labels", {})}
            done[person]["adjudicated"] += 1
        elif kind == "refuse":
            refused[item] = {"reason": body.get("reason", "")}
        elif kind in {"flag", "skip"}:
            reasons[kind][body.get("reason", "")] += 1
            done[person][kind] += 1
        elif kind == "withdraw":
            withdrawn.setdefault(person, body.get("reason", ""))
        elif kind == "qualify":
            passes[person].append(body["passed"])
    people = {row["person"] for row in sent} | set(done) | set(withdrawn) | set(passes)
    people |= set(settings.get("people", [])) | set(settings.get("leads", []))
    for row in sent:
        gone = "withdrawn" if row["person"] in withdrawn else "replaced" if row["replaced"] else "current"
        row["status"] = "undone" if row["undone"] else gone
    current = [row for row in sent if row["status"] == "current"]
    human = [row for row in current if not is_model(row["person"])]
    work = {item: values for item, values in items.items() if values["purpose"] == "work"}
    answers = Counter(row["item"] for row in human)
    for item, values in items.items():
        state = "begun" if answers[item] else "open"
        if item in decided:
            state = "disputed" if decided[item]["disputed"] else "decided"
        values["state"] = "refused" if item in refused else state
    table = asked(items, [row for row in current if row["item"] in work and row["item"] not in refused])
    of_people = [row for row in table if not is_model(row["person"])]
    return {
        "events": len(events),
        "items": dict(Counter(values["purpose"] for values in items.values())),
        "progress": progress(work, answers),
        "people": [person_row(person, sent, done[person], withdrawn, passes[person]) for person in sorted(people)],
        "left_out": sum(row["status"] == "withdrawn" for row in sent),
        "times": times(work, [row for row in human if row["item"] in work]),
        "agreement": [{"step": step, "question": q, "agreement": agreement(rows)} for (step, q), rows in groups(of_people)],
        "pairs": pairs(of_people),
        "models": models(table),
        "drift": drift(items, current),
        "labels": distributions(of_people, decided),
        "refused": dict(Counter(row["reason"] for row in refused.values())),
        "flags": dict(reasons["flag"]),
        "skips": dict(reasons["skip"]),
    }


def is_model(person: str) -> bool:
    return person.startswith("model:")


def wilson(count: int, of: int) -> Row:
    share = count / of
    middle, half = share + Z * Z / (2 * of), Z * sqrt(share * (1 - share) / of + Z * Z / (4 * of * of))
    low, high = ((middle + side * half) / (1 + Z * Z / of) for side in (-1, 1))
    return {"count": count, "of": of, "share": share, "low": max(0.0, low), "high": min(1.0, high)}


def quantile(values: Iterable[float], at: float) -> float:
    ordered = sorted(values)
    place = at * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def progress(work: dict[str, Row], answers: Counter[str]) -> list[Row]:
    rows = []
    for step in dict.fromkeys(values["step"] for values in work.values()):
        mine = {item: values for item, values in work.items() if values["step"] == step}
        states = Counter(values["state"] for values in mine.values())
        rows.append(
            {
                "step": step,
                "items": len(mine),
                "states": {name: states[name] for name in ("open", "begun", "disputed", "decided", "refused")},
                "seats": sum(values["seats"] for values in mine.values()),
                "answers": sum(min(values["seats"], answers[item]) for item, values in mine.items()),
            }
        )
    return rows


def person_row(person: str, sent: list[Row], done: Counter[str], withdrawn: dict[str, str], passes: list[bool]) -> Row:
    mine = [row for row in sent if row["person"] == person]
    current = [row["seconds"] for row in mine if row["status"] == "current"]
    return {
        "person": person, "model": is_model(person), "submitted": len(mine), "answers": len(current),
        "undone": sum(row["status"] == "undone" for row in mine), "skipped": done["skip"], "flagged": done["flag"],
        "adjudicated": done["adjudicated"], "seconds": fsum(row["seconds"] for row in mine), "withdrawn": withdrawn.get(person),
        "tries": len(passes), "passed": passes[-1] if passes else None, "median": quantile(current, 0.5) if current else None,
    }  # fmt: skip


def times(work: dict[str, Row], rows: list[Row]) -> list[Row]:
    seconds = defaultdict(list)
    for row in rows:
        seconds[work[row["item"]]["step"]].append(row["seconds"])
    return [
        {"step": step, "answers": len(values)}
        | {name: quantile(values, at) for name, at in (("lower", 0.25), ("median", 0.5), ("upper", 0.75))}
        for step, values in sorted(seconds.items())
    ]


def asked(items: dict[str, Row], rows: list[Row]) -> list[Row]:
    """A row per answer and question that anybody labels at its item."""
    questions: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        questions[row["item"]] |= set(row["labels"])
    return [
        {"step": items[row["item"]]["step"], "question": question, "item": row["item"], "person": row["person"]}
        | {"label": row["labels"].get(question, "")}
        for row in rows
        for question in questions[row["item"]]
    ]


def groups(rows: list[Row]) -> list[tuple[tuple[str, str], list[Row]]]:
    parts: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        parts[row["step"], row["question"]].append(row)
    return sorted(parts.items())


Pattern = tuple[tuple[str, int], ...]
"""The labels of an item with their numbers."""
Patterns = Counter[Pattern]


def size(pattern: Pattern) -> int:
    return sum(count for _, count in pattern)


def same_pairs(pattern: Pattern) -> float:
    return sum(count * (count - 1) for _, count in pattern) / (size(pattern) * (size(pattern) - 1))


def total(patterns: Patterns) -> Counter[str]:
    labels: Counter[str] = Counter()
    for pattern, times_ in patterns.items():
        for label, count in pattern:
            labels[label] += times_ * count
    return labels


def agreement(rows: list[Row]) -> Row:
    labels = defaultdict(list)
    for row in rows:
        labels[row["item"]].append(row["label"])
    every: Patterns = Counter(tuple(sorted(Counter(given).items())) for given in labels.values())
    twice: Patterns = Counter({pattern: n for pattern, n in every.items() if size(pattern) > 1})
    sizes: Counter[int] = Counter()
    for pattern, n in twice.items():
        sizes[size(pattern)] += n
    annotators = max(sizes, key=lambda number: (sizes[number], number), default=0)
    equal: Patterns = Counter({pattern: n for pattern, n in twice.items() if size(pattern) == annotators})
    scale = len(total(every))
    return {
        "items": twice.total(),
        "answers": sum(n * size(pattern) for pattern, n in twice.items()),
        "unanimous": sum(n for pattern, n in twice.items() if len(pattern) == 1),
        "observed": sum(n * same_pairs(pattern) for pattern, n in twice.items()) / twice.total() if twice else None,
        "annotators": annotators,
        "fleiss": measure(equal, fleiss, equal.total()),
        "alpha": measure(twice, alpha, twice.total()),
        "ac1": measure(every, lambda some: ac1(some, scale), twice.total()),
    }


def fleiss(patterns: Patterns) -> float | None:
    if not patterns:
        return None
    labels = total(patterns)
    expected = sum(count * count for count in labels.values()) / labels.total() ** 2
    observed = sum(n * same_pairs(pattern) for pattern, n in patterns.items()) / patterns.total()
    return None if len(labels) == 1 else (observed - expected) / (1 - expected)


def alpha(patterns: Patterns) -> float | None:
    labels = total(patterns)
    values = labels.total()
    if len(labels) < 2:
        return None
    differ = sum(n * size(pattern) * (1 - same_pairs(pattern)) for pattern, n in patterns.items()) / values
    by_chance = sum(count * (values - count) for count in labels.values()) / (values * (values - 1))
    return 1 - differ / by_chance


def ac1(patterns: Patterns, scale: int) -> float | None:
    twice = {pattern: n for pattern, n in patterns.items() if size(pattern) > 1}
    if not twice or scale < 2:
        return None
    shares: dict[str, float] = defaultdict(float)
    for pattern, n in patterns.items():
        for label, count in pattern:
            shares[label] += n * count / size(pattern) / patterns.total()
    chance = sum(share * (1 - share) for share in shares.values()) / (scale - 1)
    observed = sum(n * same_pairs(pattern) for pattern, n in twice.items()) / sum(twice.values())
    return (observed - chance) / (1 - chance)


def measure(patterns: Counter[Any], value: Callable[[Counter[Any]], float | None], items: int) -> Row:
    """The value with the interval from leaving out one case in turn."""
    whole, n, without = value(patterns), patterns.total(), []
    for pattern, times_ in patterns.items():
        rest = value(patterns - Counter({pattern: 1}))
        without.append((rest, times_))
    low = high = None
    if whole is not None and n > 1 and all(rest is not None for rest, _ in without):
        mean = sum(rest * times_ for rest, times_ in without if rest is not None) / n
        half = Z * sqrt((n - 1) / n * sum(times_ * (rest - mean) ** 2 for rest, times_ in without if rest is not None))
        low, high = max(-1.0, whole - half), min(1.0, whole + half)
    return {"value": whole, "low": low, "high": high, "items": items}


def cohen(cells: Counter[tuple[str, str]]) -> float | None:
    n = cells.total()
    if not n:
        return None
    first, second = Counter[str](), Counter[str]()
    for (a, b), count in cells.items():
        first[a] += count
        second[b] += count
    chance = sum(first[label] * second[label] for label in first) / n**2
    same = sum(count for (a, b), count in cells.items() if a == b) / n
    return None if chance == 1 else (same - chance) / (1 - chance)


def two(cells: Counter[tuple[str, str]]) -> Row:
    same = sum(count for (a, b), count in cells.items() if a == b)
    return {"same": wilson(same, cells.total()), "kappa": measure(cells, cohen, cells.total())}


def by_item(rows: list[Row]) -> dict[str, dict[str, str]]:
    items: dict[str, dict[str, str]] = defaultdict(dict)
    for row in rows:
        items[row["item"]][row["person"]] = row["label"]
    return items


def pairs(of_people: list[Row]) -> list[Row]:
    rows = []
    for (step, question), part in groups(of_people):
        cells: dict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
        for given in by_item(part).values():
            for first, second in combinations(sorted(given), 2):
                cells[first, second][given[first], given[second]] += 1
        for (first, second), counts in sorted(cells.items()):
            rows.append({"step": step, "question": question, "first": first, "second": second} | two(counts))
    return rows


def models(table: list[Row]) -> list[Row]:
    cells: dict[tuple[str, str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for (step, question), part in groups(table):
        for given in by_item(part).values():
            votes = Counter(label for person, label in given.items() if not is_model(person)).most_common()
            if votes and (len(votes) == 1 or votes[0][1] > votes[1][1]):
                for person in filter(is_model, given):
                    cells[person, step, question][given[person], votes[0][0]] += 1
    return [{"person": person, "step": step, "question": q} | two(counts) for (person, step, q), counts in sorted(cells.items())]


def drift(items: dict[str, Row], current: list[Row]) -> list[Row]:
    right: dict[str, list[bool]] = defaultdict(list)
    for row in sorted(current, key=lambda row: int(row["number"])):
        known = items[row["item"]]["known"]
        if items[row["item"]]["purpose"] == "gold" and known:
            good = all(row["labels"].get(question) == label for question, label in known.items())
            right[row["person"]].append(good)
            if not is_model(row["person"]):
                right[""].append(good)
    rows = []
    for person, held in sorted(right.items()):
        windows: dict[int, list[bool]] = defaultdict(list)
        for place, each in enumerate(held):
            windows[10 * place // len(held)].append(each)
        shares = [wilson(sum(window), len(window)) for window in windows.values()]
        rows.append({"person": person, "right": wilson(sum(held), len(held)), "windows": shares})
    return rows


def distributions(of_people: list[Row], decided: dict[str, Row]) -> list[Row]:
    rows = []
    for (step, question), part in groups(of_people):
        counts = Counter(row["label"] for row in part)
        settled = Counter(
            decided[item]["labels"][question]
            for item in {row["item"] for row in part}
            if item in decided and not decided[item]["disputed"] and question in decided[item]["labels"]
        )
        order = sorted(counts, key=lambda label: (-counts[label], label))[:50]
        labels = [{"label": label, "answers": wilson(counts[label], len(part)), "decided": settled[label]} for label in order]
        rows.append({"step": step, "question": question, "distinct": len(counts), "labels": labels})
    return rows


def differences(ours: Any, theirs: Any, place: str = "") -> list[str]:
    """Where two JSON values differ; numbers may differ by rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = dict.fromkeys([*ours, *theirs])
        return [line for key in keys for line in differences(ours.get(key, "absent"), theirs.get(key, "absent"), f"{place}.{key}")]
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        if len(ours) != len(theirs):
            return [f"{place}: {len(ours)} entries, {len(theirs)} entries"]
        numbered = enumerate(zip(ours, theirs, strict=True))
        return [line for number, (one, other) in numbered for line in differences(one, other, f"{place}.{number}")]
    plain = (int, float)
    if isinstance(ours, plain) and isinstance(theirs, plain) and not isinstance(ours, bool) and not isinstance(theirs, bool):
        return [] if abs(ours - theirs) <= 1e-9 + 1e-9 * abs(ours) else [f"{place}: {ours}, {theirs}"]
    return [] if ours == theirs and isinstance(ours, bool) == isinstance(theirs, bool) else [f"{place}: {ours!r}, {theirs!r}"]


if __name__ == "__main__":
    print(json.dumps(recount(sys.argv[1], *sys.argv[2:3]), indent=1, ensure_ascii=False))
