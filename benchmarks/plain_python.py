"""A throw-away version of the wikidata counting in plain Python: what one writes in an afternoon, to see what the arrays and kernels bring.

``python -m benchmarks.plain_python FOLDER`` prints its counts as JSON. It does less than kgqa: names match in any case, hardly any name
rules, no store, no chains beyond the breadth-first tree's, no filters, no masking, and no dataset is written.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from collections import defaultdict, deque
from pathlib import Path
from typing import Any, TextIO

TOKEN = re.compile(r"\w+|[^\w\s]")
Tokens = tuple[str, ...]


def main(folder: Path) -> dict[str, int]:
    """Count the samples of the wikidata recipe; the settings of kgqa's domain where they are simple."""
    with _open(folder, "documents.jsonl") as lines:
        documents = [json.loads(line) for line in lines]
    with _open(folder, "entities.tsv") as lines:
        entities = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    with _open(folder, "triples.tsv") as lines:
        triples = sorted({tuple(line.rstrip("\n").split("\t")) for line in lines})
    article = {d["entity"]: number for number, d in reversed(list(enumerate(documents))) if d["entity"]}
    mentioned = link(documents, names(entities, documents))
    known = {entity["id"] for entity in entities}
    counts = traverse(triples, known, article, [sorted(set(entities)) for entities in mentioned])
    return {"mentions": sum(map(len, mentioned)), **counts}


def names(entities: list[dict[str, str]], documents: list[dict[str, Any]]) -> dict[Tokens, str]:
    """Token sequence → the one entity that has it as a name."""
    owners: dict[Tokens, set[str]] = defaultdict(set)
    for entity in entities:
        for name in (entity["label"], entity["wikipedia_title"], *entity["aliases"].split("|")):
            owners[tuple(TOKEN.findall(name.lower()))].add(entity["id"])
    for document in documents:
        owners[tuple(TOKEN.findall(document["title"].lower()))].add(document["entity"])
    return {tokens: next(iter(ids)) for tokens, ids in owners.items() if len(ids) == 1 and len("".join(tokens)) > 2}


def link(documents: list[dict[str, Any]], owner: dict[Tokens, str]) -> list[list[str]]:
    """Per document the entities that it mentions: the longest name at each place, from left to right."""
    longest: dict[str, int] = defaultdict(int)
    for tokens in owner:
        longest[tokens[0]] = max(longest[tokens[0]], len(tokens))
    found = []
    for document in documents:
        tokens = tuple(TOKEN.findall(document["text"].lower()))
        here, at = [], 0
        while at < len(tokens):
            for length in range(min(longest.get(tokens[at], 0), len(tokens) - at), 0, -1):
                entity = owner.get(tokens[at : at + length])
                if entity is not None:
                    here.append(entity)
                    at += length
                    break
            else:
                at += 1
        found.append(here)
    return found


def traverse(triples: list[tuple[str, ...]], known: set[str], article: dict[str, int], mentioned: list[list[str]]) -> dict[str, int]:
    """Ask every triple whose subject has an article that does not state the answer; count what reaches it within the limits."""
    objects: dict[tuple[str, str], set[str]] = defaultdict(set)
    ends: dict[str, set[str]] = defaultdict(set)
    for head, relation, tail in triples:
        if head in known and tail in known:
            objects[head, relation].add(tail)
            ends[relation].add(tail)
    asked = reached = kept = 0
    last, parent = "", dict[str, tuple[str, int]]()
    for (head, relation), tails in objects.items():
        if head not in article:
            continue
        if head != last:
            last, parent = head, search(head, article, mentioned)
        for answer in sorted(tails - {head}):
            asked += 1
            if answer not in parent or answer in mentioned[article[head]]:
                continue
            reached += 1
            candidates = [e for e in parent if e != head and (e == answer or (e in ends[relation] and e not in tails))]
            support = {document for candidate in candidates for document in chain(candidate, head, parent)}
            kept += 2 <= len(candidates) <= 100 and len(support) <= 64
    return {"asked": asked, "reached": reached, "within the limits": kept}


def search(head: str, article: dict[str, int], mentioned: list[list[str]]) -> dict[str, tuple[str, int]]:
    """Entity → the entity and the document through which it was first seen, over at most three documents."""
    parent = {head: ("", -1)}
    depth = {head: 0}
    queue = deque([head])
    while queue:
        entity = queue.popleft()
        if depth[entity] == 3:
            break
        if entity not in article:
            continue
        document = article[entity]
        for reached in mentioned[document]:
            if reached not in parent:
                parent[reached], depth[reached] = (entity, document), depth[entity] + 1
                queue.append(reached)
    return parent


def chain(candidate: str, head: str, parent: dict[str, tuple[str, int]]) -> list[int]:
    """The documents between the head and the candidate."""
    documents = []
    while candidate != head:
        candidate, document = parent[candidate]
        documents.append(document)
    return documents


def _open(folder: Path, name: str) -> TextIO:
    path = folder / name
    if path.is_file():
        return path.open(encoding="utf-8", newline="\n")
    return gzip.open(folder / f"{name}.gz", "rt", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
