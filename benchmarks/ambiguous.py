"""Shared names: the entity that linking chooses beside the one that the name means most often. ``python -m benchmarks.ambiguous``.

The articles of ``benchmarks.hyperlinks``, 8,000 characters each. A place counts if its name belongs to several entities, and the article
links to exactly one of them, which is then right; its own subject counts nowhere. Linking does not see the links. "Most frequent" is the
entity that the same name means most often in other articles, counted on the links of four fifths of them, for each fifth in turn.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import hyperlinks
from benchmarks.linking import read
from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.linking.dictionary import build_dictionary
from kgqa.linking.link import matched
from kgqa.linking.matcher import Spans
from kgqa.linking.resolve import resolve
from kgqa.metrics.wilson import wilson
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.settings.linking import LinkingSettings
from kgqa.sources.tables import frame

TITLE = "Shared names, by context and by frequency"
CHARACTERS = 8000
FOLDS = 5


def main() -> Section:
    """Import, link without the hyperlinks, compare."""
    linked, wikidata = data_folder("sources/linked"), data_folder("wikidata")
    if linked is None or wikidata is None:
        return Section(title=TITLE, skipped=absent("sources/linked"))
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary) / "import"
        hyperlinks.imported(out, linked / hyperlinks.ARTICLES, wikidata, characters=CHARACTERS)
        places = with_frequent(gold_places(out, linked / hyperlinks.ARTICLES))
    first = places.unique(["document", "name"], keep="first", maintain_order=True)
    several = first.filter(pl.col("gold").n_unique().over("name") > 1)
    rows = [
        (what, f"{table.height:,}", choice, *figures(table, column))
        for what, table in (("all", first), ("names with two or more right entities", several))
        for choice, column in (
            ("context alone", "chosen"),
            ("context and links", "learned"),
            ("context and links, no place left out", "learned_everywhere"),
            ("most frequent", "frequent"),
            ("better claim", "prior"),
        )
    ]
    return Section(
        title=TITLE,
        tables=[
            Table(
                title="The first place of a name in an article",
                columns=("places", "number", "choice", "right", "unlinked", "right of the linked"),
                rows=rows,
                notes=[
                    "Intervals are Wilson's, 95%. Better claim: the entity whose kind of name comes first, such as a title before an alias."
                ],
            )
        ],
    )


def gold_places(folder: Path, articles: Path) -> pl.DataFrame:
    """``document, name, gold, chosen, prior``: rows of the tables; ``chosen`` is null where linking leaves the place out."""
    tables, settings = read(folder)
    candidates = possible_candidates(tables, settings.qangaroo)
    dictionary = build_dictionary(
        tables["names"], tables["entities"], settings.linking, candidates, documents=tables["documents"], facts=tables["facts"]
    )
    matches, usage = matched(tables, dictionary, settings.linking)

    everywhere = settings.linking.model_copy(update={"belief": 0.0, "hubs": 1.0, "head_nouns": False})

    def choices(marked: Spans | None, linking: LinkingSettings = settings.linking) -> pl.DataFrame:
        spans, _ = resolve(matches.pairs, dictionary, usage, tables, linking, marked=marked)
        return pl.DataFrame({"document": spans.document, "end": spans.end, "chosen": spans.entity})

    numbers = frame(tables["entities"]).select(about="id").with_row_index("entity").cast({"entity": pl.Int32})
    documents = frame(tables["documents"]).select("id", "about").with_row_index("document").cast({"document": pl.Int32})
    documents = documents.join(numbers, on="about", how="left")
    with lzma.open(articles, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    links = pl.DataFrame(
        [(f"school:{line['title']}", f"school:{target}") for line in lines for target in line["links"]],
        schema=["id", "target"],
        orient="row",
    )
    links = links.join(documents.select("id", "document"), on="id").join(documents.select("entity", target="id"), on="target")
    pairs = matches.pairs
    table = pl.DataFrame(
        {
            "place": np.repeat(np.arange(len(pairs.bounds) - 1), np.diff(pairs.bounds)),
            "document": pairs.document,
            "start": pairs.start,
            "end": pairs.end,
            "entity": pairs.entity,
            "priority": dictionary.priority[pairs.entry],
            "name": dictionary.names["name"].gather(dictionary.name[pairs.entry]),
        }
    )
    table = table.sort("place", "priority", maintain_order=True).unique(["place", "entity"], keep="first", maintain_order=True)
    table = table.filter(pl.len().over("place") > 1)
    table = table.join(
        links.select("document", "entity", linked=True).unique(), on=["document", "entity"], how="left", maintain_order="left"
    )
    table = table.join(documents.select("document", "id", subject="entity"), on="document", how="left", maintain_order="left")
    linked = pl.col("entity").filter(pl.col("linked").fill_null(False))
    places = table.group_by("place", maintain_order=True).agg(
        pl.first("document", "start", "end", "id", "name"),
        prior=pl.first("entity"),
        gold=linked.first(),
        number=linked.len(),
        subject=(pl.col("entity") == pl.col("subject")).any(),
    )
    places = places.filter((pl.col("number") == 1) & ~pl.col("subject").fill_null(False))
    fold = pl.Series([int(hashlib.sha256(id_.encode()).hexdigest()[:8], 16) % FOLDS for id_ in places["id"]], dtype=pl.Int32)
    places = places.with_columns(fold=fold)
    places = places.join(choices(None), on=["document", "end"], how="left", maintain_order="left")
    parts = []
    for number in range(FOLDS):  # the places of the other folds are marked, as hyperlinks mark them
        others = places.filter(pl.col("fold") != number).unique(["document", "name"], keep="first", maintain_order=True)
        columns = (others[name].cast(pl.Int32).to_numpy() for name in ("document", "start", "end", "gold"))
        marked = Spans(**dict(zip(("document", "start", "end", "entity"), columns, strict=True)))
        part = places.filter(pl.col("fold") == number)
        for name, linking in (("learned", settings.linking), ("learned_everywhere", everywhere)):
            choice = choices(marked, linking).rename({"chosen": name})
            part = part.join(choice, on=["document", "end"], how="left", maintain_order="left")
        parts.append(part)
    return pl.concat(parts).sort("place")


def with_frequent(places: pl.DataFrame) -> pl.DataFrame:
    """``frequent``: the entity that the name means in most articles of the other folds; null where it is in none."""
    parts = []
    for number in range(FOLDS):
        counts = places.filter(pl.col("fold") != number).unique(["document", "name"]).group_by("name", "gold").len()
        most = counts.sort("len", "gold", descending=[True, False]).unique("name", keep="first", maintain_order=True)
        parts.append(places.filter(pl.col("fold") == number).join(most.select("name", frequent="gold"), on="name", how="left"))
    return pl.concat(parts).sort("place")


def figures(table: pl.DataFrame, column: str) -> tuple[str, str, str]:
    """Share that is right of all, share without a choice, share that is right of the choices."""
    right, chosen = int((table[column] == table["gold"]).sum()), table.height - table[column].null_count()
    shares = [wilson(count, of) for count, of in ((right, table.height), (right, max(chosen, 1)))]
    among_all, among_chosen = (f"{share.mean:.1%} ({share.low:.1%} to {share.high:.1%})" for share in shares)
    return among_all, f"{1 - chosen / table.height:.1%}", among_chosen


if __name__ == "__main__":
    sys.stdout.write(main().plain() + "\n")
