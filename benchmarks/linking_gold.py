"""How often linking is right, against mentions that others made: ``python -m benchmarks.linking_gold``.

The paragraphs of HotpotQA and 2WikiMultihopQA come from an encyclopedia that is not the corpus of the wikidata domain. In the paragraphs
of one
question a title of another of its paragraphs, or an entity of its evidence, that stands there word for word is taken for a mention of that
entity, if the domain's dictionary has the title as a name of it; a year is no name. "Chicago (2002 film)" does not stand anywhere word
for word,
so it is asked for nowhere. The evidence of 2WikiMultihopQA has nationalities ("Italian"), which linking takes for adjectives on purpose;
the
table counts them apart. The rules are made on other texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from benchmarks.linking import read
from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.link import link_mentions
from kgqa.linking.matcher import match
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.settings.domain import DomainSettings
from kgqa.sources.tables import arrow, frame

TITLE = "Linking against gold mentions"
FILES = {"hotpotqa": "hotpot_dev_distractor_200.json", "2wikimultihopqa": "2wiki_dev_200.json"}


def main() -> Section:
    """Measure on both sets together with the texts of the wikidata domain."""
    source = data_folder("wikidata")
    folders = {name: data_folder(name) for name in FILES}
    missing = [name for name, folder in {"wikidata": source, **folders}.items() if folder is None]
    if source is None or missing:
        return Section(title=TITLE, skipped=absent(missing[0]))
    tables, settings = read(source)
    rows = [row for name, folder in folders.items() if folder for row in paragraphs(name, folder / FILES[name])]
    return Section(title=TITLE, tables=[measured(tables, settings, pl.DataFrame(rows))])


def paragraphs(name: str, path: Path) -> list[dict[str, Any]]:
    """``set, id, title, text, wanted``: each paragraph with the titles and evidence that may be mentioned there."""
    rows = []
    for number, record in enumerate(record for record in json.loads(path.read_text("utf-8")) if "context" in record):
        titles = [title for title, _ in record["context"]]
        wanted = {*titles, *(part for fact in record.get("evidences", []) for part in (fact[0], fact[2]))}
        for at, (title, sentences) in enumerate(record["context"]):
            text = "".join(sentences) if name == "hotpotqa" else " ".join(sentences)
            rows.append({"set": name, "id": f"{name}:{number}:{at}", "title": title, "text": text, "wanted": sorted(wanted - {title})})
    return rows


def gold_mentions(tables: Mapping[str, pa.Table], rows: pl.DataFrame) -> pl.DataFrame:
    """``set, document, entity, start, end``: the longest where two overlap; a title that names several entities is none."""
    names = frame(tables["names"])
    titled = names.filter(pl.col("source") == "title").select(wanted="name", entity="entity")
    labelled = names.filter(pl.col("source") == "label").select(wanted="name", entity="entity")
    known = pl.concat([titled, labelled.join(titled, on="wanted", how="anti")]).filter(pl.len().over("wanted") == 1)
    asked = rows.select("set", "id", "text", "wanted").explode("wanted").join(known, on="wanted")
    asked = asked.with_columns(surface="wanted").filter(pl.col("wanted").str.contains(r"\p{L}"))
    asked = asked.join(names.select(entity="entity", surface="name").unique(), on=["entity", "surface"])
    found = [
        {"set": row["set"], "document": row["id"], "entity": row["entity"], "start": at, "end": at + len(row["surface"])}
        for row in asked.iter_rows(named=True)
        for at in _places(row["text"], row["surface"])
    ]
    table = pl.DataFrame(found).unique().sort("document", "start", "end", "entity", descending=[False, False, True, False])
    covered = table.with_columns(reach=pl.col("end").cum_max().shift(1).over("document").fill_null(0))
    return covered.filter((pl.col("start") >= pl.col("reach")) & (pl.len().over("document", "start", "end") == 1)).drop("reach")


def _places(text: str, surface: str) -> list[int]:
    places, at = [], text.find(surface)
    while at >= 0:
        end = at + len(surface)
        if not (at and text[at - 1].isalnum()) and not text[end : end + 1].isalnum():
            places.append(at)
        at = text.find(surface, end)
    return places


def measured(tables: Mapping[str, pa.Table], settings: DomainSettings, rows: pl.DataFrame) -> Table:
    """Precision and recall of the plain longest match and of linking."""
    gold = gold_mentions(tables, rows)
    schema = frame(tables["documents"]).schema
    own = rows.select(pl.col("id"), pl.col("title"), pl.lit(None, pl.String).alias("about"), pl.col("text"))
    own = own.cast(dict(schema))  # type: ignore[arg-type]
    everything = {**tables, "documents": arrow(pl.concat([frame(tables["documents"]), own]))}
    candidates = possible_candidates(tables, settings.qangaroo)
    linked = frame(link_mentions(everything, settings.linking, settings.documents, candidates=candidates).mentions)
    dictionary = build_dictionary(tables["names"], tables["entities"], settings.linking, candidates, documents=tables["documents"])
    spans = match(arrow(own)["text"], dictionary, before_number=settings.linking.before_number).mentions
    plain = pl.DataFrame(
        {
            "document": own["id"].gather(spans.document),
            "entity": frame(tables["entities"])["id"].gather(spans.entity),
            "start": spans.start,
            "end": spans.end,
        }
    )
    table = []
    places = frame(everything["documents"]).select(document="id", text="text")
    gold = gold.join(places, on="document").with_columns(
        surface=pl.struct("text", "start", "end").map_elements(lambda row: row["text"][row["start"] : row["end"]], return_dtype=pl.String)
    )
    adjective = pl.col("surface").str.contains(r"^\p{Lu}\p{Ll}+(?:ish|ese|an|ch)$")
    parts = {name: gold.filter((pl.col("set") == name) & ~adjective) for name in FILES}
    for name, part in {**parts, "nationalities": gold.filter(adjective), "all but these": gold.filter(~adjective)}.items():
        table += [(name, what, *figures(part, found)) for what, found in (("longest match", plain), ("kgqa", linked))]
    return Table(
        title="Gold mentions found, and mentions at their places that are right",
        columns=("set", "linking", "gold", "recall", "95%", "mentions there", "precision", "95%"),
        rows=[tuple(map(str, row)) for row in table],
        notes=["Precision: of the mentions that overlap a gold one, those of the same entity at the same place. Intervals are Wilson's."],
    )


def figures(gold: pl.DataFrame, found: pl.DataFrame) -> tuple[str, ...]:
    """Gold mentions, recall, mentions that overlap them and precision, with intervals."""
    found = found.with_columns(pl.col("start", "end").cast(pl.Int64))
    gold = gold.with_columns(pl.col("start", "end").cast(pl.Int64))
    right = len(gold.join(found, on=["document", "entity", "start", "end"], how="semi"))
    beside = found.join(gold.select("document", first="start", last="end"), on="document")
    there = len(beside.filter((pl.col("start") < pl.col("last")) & (pl.col("end") > pl.col("first"))).unique(["document", "start", "end"]))
    return f"{len(gold):,}", *_share(right, len(gold)), f"{there:,}", *_share(right, there)


def _share(right: int, number: int) -> tuple[str, str]:
    share, z = right / max(number, 1), 1.96
    middle, half = share + z * z / (2 * number), z * np.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    scale = 1 + z * z / number
    return f"{share:.1%}", f"{(middle - half) / scale:.1%} to {(middle + half) / scale:.1%}"


if __name__ == "__main__":
    print(main().plain())
