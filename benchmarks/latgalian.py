"""From a real dump to a dataset: the Latgalian Wikipedia and a Wikidata excerpt made for it. ``python -m benchmarks.latgalian [FOLDER]``.

The dump does not say which item of Wikidata each article is about. So the excerpt is made of what the dump itself states in a form that
programs can read: an item for each article, in the JSON of Wikidata's dump, with a link to the article, and statements from the
parameters of its infobox. The ids of the items are made up; those of the properties are Wikidata's.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mwparserfromhell
from lxml import etree

import kgqa
from benchmarks.measure import data_folder

DUMP = "smallwiki-dumpster-dive.xml.gz"
EXPORT = "{http://www.mediawiki.org/xml/export-0.10/}"
BOX = "Infoskreine"
PARAMETERS = {
    "nūvoda_pasauka": "P131",
    "nūvods": "P131",
    "Byusmis vīta": "P131",
    "zemislopa": "P17",
    "Zemislopa": "P17",
    "koordinatu_zemislopa": "P17",
    "baseina_vaļsteibys": "P17",
    "tek_car": "P17",
    "teritoriskais_dalejums": "P150",
    "centrys": "P36",
    "Augstaine": "P706",
    "kulturviesturiskais_nūvods": "P706",
    "iztece": "P201",
    "ītaka": "P403",
    "states": "P17",
    "fam1": "P279",
    "script": "P282",
}
"""Parameter of an infobox → property."""
LABELS = {
    "P17": "vaļsts",
    "P31": "irā",
    "P36": "centrys",
    "P131": "administrativais padalīņs",
    "P150": "dalejums",
    "P201": "iztece",
    "P279": "saime",
    "P282": "roksts",
    "P403": "ītaka",
    "P706": "apgabals",
}
"""Property → its label in Latgalian."""
DOMAIN = """extends = "wikidata"
name = "latgalian"
dataset = "latgalian"
title = "Latgalian questions"

[[imports]]
format = "wikidata"
files = ["ltg-entities.json.gz"]
options = { language = ["ltg"] }

[[imports]]
format = "wikipedia"
files = ["ltgwiki-pages-articles.xml.bz2"]

[documents]
exclude_about = []

[linking]
language = ""
articles = ""
list_pages = ""
inflections = true

[qangaroo]
queries = "relations"
splits = { train = 0.7, dev = 0.15, test = 0.15, by = "head" }

# As in the small domain that is shipped: limits that some hundred articles can reach.
[qangaroo.bias]
mention_cue = false
answer_cap = 0.15
document_cue = 3
position_share = 1.0
count_share = 1.0
train_share = 1.0

[qangaroo.evidence]
use = false # some hundred facts make no rules
"""


def articles(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Title → text of each article, and title → target of each redirect."""
    texts, redirects = {}, {}
    with gzip.open(path) as file:
        for _, page in etree.iterparse(file, tag=f"{EXPORT}page"):
            title, redirect = page.findtext(f"{EXPORT}title"), page.find(f"{EXPORT}redirect")
            if page.findtext(f"{EXPORT}ns") == "0" and redirect is not None:
                redirects[title] = redirect.get("title")
            elif page.findtext(f"{EXPORT}ns") == "0":
                texts[title] = page.findtext(f"{EXPORT}revision/{EXPORT}text") or ""
            page.clear()
    return texts, redirects


def stated(text: str) -> Iterator[tuple[str, str]]:
    """Property and title for each link, or value without links, of an infobox's parameters."""
    for template in mwparserfromhell.parse(text).filter_templates(recursive=False):
        name = str(template.name).strip()
        if name.startswith(BOX):
            yield "P31", name
            for parameter in template.params:
                if property_ := PARAMETERS.get(str(parameter.name).strip()):
                    links = [str(link.title) for link in parameter.value.filter_wikilinks()]
                    for value in links or [parameter.value.strip_code().strip()]:
                        yield property_, value


def excerpt(dump: Path) -> list[dict[str, Any]]:
    """Items and properties in the JSON of Wikidata's dump."""
    texts, redirects = articles(dump)
    found = {title: list(stated(text)) for title, text in texts.items()}
    classes = sorted({value for claims in found.values() for property_, value in claims if property_ == "P31"})
    ids = {title: f"Q{number}" for number, title in enumerate([*texts, *classes], 1)}

    def term(text: str) -> dict[str, Any]:
        return {"ltg": {"language": "ltg", "value": text}}

    def statement(property_: str, target: str) -> dict[str, Any]:
        value = {"entity-type": "item", "numeric-id": int(target[1:]), "id": target}
        snak = {"snaktype": "value", "property": property_, "datatype": "wikibase-item"}
        return {"mainsnak": snak | {"datavalue": {"value": value, "type": "wikibase-entityid"}}, "type": "statement", "rank": "normal"}

    records: list[dict[str, Any]] = [
        {"type": "property", "id": id_, "labels": term(label), "descriptions": {}, "aliases": {}, "claims": {}}
        for id_, label in LABELS.items()
    ]
    for title, claims in found.items():
        statements: dict[str, list[Any]] = {}
        for property_, value in dict.fromkeys(claims):
            target = ids.get(redirects.get(value, value))
            if target not in {None, ids[title]}:
                statements.setdefault(property_, []).append(statement(property_, str(target)))
        label = re.sub(r" \(.*\)$", "", title)
        link = {"ltgwiki": {"site": "ltgwiki", "title": title, "badges": []}}
        records.append({"type": "item", "id": ids[title], "labels": term(label), "claims": statements, "sitelinks": link})
    named: dict[str, dict[str, Any]] = {"descriptions": {}, "aliases": {}, "claims": {}, "sitelinks": {}}
    records += [{"type": "item", "id": ids[name], "labels": term(name.removeprefix(BOX).strip() or name), **named} for name in classes]
    return records


def write(folder: Path, dump: Path) -> Path:
    """Write the excerpt, the dump packed as Wikimedia does, and the domain. Returns the domain."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in excerpt(dump))
    (folder / "ltg-entities.json.gz").write_bytes(gzip.compress(f"[\n{lines}\n]\n".encode(), mtime=0))
    (folder / "ltgwiki-pages-articles.xml.bz2").write_bytes(bz2.compress(gzip.decompress(dump.read_bytes())))
    domain = folder / "ltg.toml"
    domain.write_text(DOMAIN, encoding="utf-8")
    return domain


def main() -> None:
    """Make the excerpt and the dataset."""
    sources = data_folder("sources/mediawiki")
    if sources is None:
        sys.exit("The real data are not there; set KGQA_DATA to the folder that holds them.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(temporary)
        report = kgqa.generate(write(folder, sources / DUMP), workspace=folder / "workspace")
        sys.stdout.write(f"{report.counts}\n")


if __name__ == "__main__":
    main()
