"""The seed domain with names, ids and texts that would do harm if anything took them for HTML, JavaScript or Cypher, or that need room."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.command import ROOT

LABEL = "<img src=x onerror=\"window.owned='label'\"> `}) DETACH DELETE n // 'Portugal' {{ 7*7 }}"
ENTITY = "Q45\"'><script>window.owned='id'</script>/../?#&%2e"
TITLE = "</script><script>window.owned='title'</script> ${alert(1)} <b>bold</b>"
TEXT = (
    "Portugal <script>window.owned='text'</script> faces `the` \"Atlantic\" & Spain's <a href=\"javascript:window.owned='link'\">coast</a>."
)
RELATION = "capital</script><svg onload=window.owned='relation'>"


def awkward_source(folder: Path) -> Path:
    """A copy of the seed files of wikidata in which Portugal, its article and its capital are called like that."""
    source = Path(shutil.copytree(ROOT / "seeds" / "wikidata", folder))
    entities = (source / "entities.tsv").read_text("utf-8").splitlines()
    changed = [line.replace("Q45\tPortugal\tPortuguese Republic", f"{ENTITY}\t{LABEL}\tPortugal", 1) for line in entities]
    assert changed != entities
    (source / "entities.tsv").write_text("\n".join(changed) + "\n", "utf-8")
    triples = (source / "triples.tsv").read_text("utf-8").splitlines()
    swapped = ["\t".join(ENTITY if part == "Q45" else part for part in line.split("\t")) for line in triples]
    (source / "triples.tsv").write_text("\n".join(swapped) + "\n", "utf-8")
    relations = (source / "relations.tsv").read_text("utf-8").replace("P36\tcapital", f"P36\t{RELATION}", 1)
    (source / "relations.tsv").write_text(relations, "utf-8")
    documents = [json.loads(line) for line in (source / "documents.jsonl").read_text("utf-8").splitlines()]
    for document in documents:
        if document.get("entity") == "Q45":
            document.update(entity=ENTITY, title=TITLE, text=TEXT)
    (source / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents), "utf-8")
    return source


ARABIC = "الجمهورية البرتغالية على ساحل المحيط الأطلسي"
CHINESE = "西班牙王国位于伊比利亚半岛与地中海之间的国家"
UNBROKEN = ("Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch" * 6)[:300]
LONG = ("the city at the mouth of the Tagus, of which more is said than fits on any line of any page " * 4)[:300].strip()
CALLED = {"Portugal": ARABIC, "Spain": CHINESE, "France": UNBROKEN, "Lisbon": LONG}
"""Entities of the seed domain by their labels, and what they and their articles are called instead."""


def worldly_source(folder: Path) -> Path:
    """A copy of the seed files of wikidata with names in other scripts and of 300 characters; the texts still say the old ones."""
    source = Path(shutil.copytree(ROOT / "seeds" / "wikidata", folder))
    lines = []
    for line in (source / "entities.tsv").read_text("utf-8").splitlines():
        fields = line.split("\t")
        if fields[1] in CALLED:
            fields[1:3] = [CALLED[fields[1]], "|".join(filter(None, (fields[1], fields[2])))]
        lines.append("\t".join(fields))
    (source / "entities.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    documents = [json.loads(line) for line in (source / "documents.jsonl").read_text("utf-8").splitlines()]
    for document in documents:
        document["title"] = CALLED.get(document["title"], document["title"])
    (source / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents), "utf-8")
    return source
