"""How often the text model of pairs is right, against gold relations: ``python -m benchmarks.statements``.

DrugProt (Miranda et al. 2021) says of the chemicals and genes of an abstract which are in which relation. The development abstracts are
among those of ``medline``; a model learns from the facts and all other abstracts, then scores the pairs of a drug and a protein that a
sentence of a development abstract mentions. A pair is right if two gold mentions that ours overlap are in any relation. Pairs of which
DrugProt has an end as no chemical or no gene cannot be right; a second row counts them as wrong.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.measure import Section, Table, absent, data_folder
from kgqa.arrays.hashes import text_hashes
from kgqa.arrays.sentences import sentence_starts
from kgqa.domains import load_domain
from kgqa.linking.link import link_mentions
from kgqa.recipes.qangaroo.corpus import possible_candidates, row_numbers
from kgqa.recipes.qangaroo.mining import fact_graph
from kgqa.recipes.qangaroo.pair_reading import joined_by_facts, pairs_in_sentences, stated_by_words
from kgqa.sources.layouts import LAYOUTS
from kgqa.sources.tables import frame

TITLE = "What sentences state, against gold relations"
RECALLS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def main() -> Section:
    """Measure on the development abstracts of DrugProt."""
    source, gold = data_folder("medline"), data_folder("sources/bio/drugprot")
    if source is None or gold is None:
        return Section(title=TITLE, skipped=absent("medline" if source is None else "sources/bio/drugprot"))
    return Section(title=TITLE, tables=[measured(source, gold)])


def measured(source: Path, gold: Path) -> Table:
    """Precision at several recalls."""
    domain = load_domain("medline", source=source)
    tables, settings = dict(LAYOUTS[domain.settings.source.layout].read(domain.source)), domain.settings
    candidates = possible_candidates(tables, settings.qangaroo)
    linked = link_mentions(tables, settings.linking, settings.documents, candidates=candidates)
    tables = {**tables, "mentions": linked.mentions}
    entities = tables["entities"]
    ends = np.asarray(pc.equal(entities["kind"], settings.qangaroo.endpoint_kind))
    pairs, facts = pairs_in_sentences(tables, ends), fact_graph(tables)
    true, _ = joined_by_facts(pairs, facts)
    spans = frame_of(gold / "drugprot_development_entities.tsv.gz", ("id", "span", "type", "start", "end", "text")).with_columns(
        pl.col("start", "end").cast(pl.Int32)
    )
    texts = frame_of(gold / "drugprot_development_abstracs.tsv.gz", ("id", "title", "abstract"))
    there = frame(tables["documents"]).with_row_index("document").with_columns(id=pl.col("id").str.strip_prefix("PMID:"))
    there = there.join(texts, on="id", suffix="_gold")
    held_out = np.isin(pairs.document, there["document"].to_numpy())
    hashes = text_hashes(entities["id"])
    probability, _ = stated_by_words(pairs, true, facts, hashes, ~held_out)
    same = there.filter(pl.col("text").str.len_chars() == (pl.col("title_gold") + " " + pl.col("abstract")).str.len_chars())
    relations = frame_of(gold / "drugprot_development_relations.tsv", ("id", "relation", "one", "other")).select(
        "id", chemical=pl.col("one").str.strip_prefix("Arg1:"), gene=pl.col("other").str.strip_prefix("Arg2:"), stated=pl.lit(True)
    )
    stated = stated_pairs(tables, ends, same.select("document", "id"), spans, relations)
    rows = pl.DataFrame(
        {"document": pairs.document, "one": pairs.one, "other": pairs.other, "fact": true, "probability": probability}
    ).filter(pl.Series(held_out, dtype=pl.Boolean))  # fmt: skip
    rows = rows.join(same.select(pl.col("document").cast(pl.Int32)), on="document", how="semi")
    rows = rows.join(stated, on=["document", "one", "other"], how="left")
    drawn = []
    for name, part in (
        ("drug and target, both gold mentions", rows.filter(pl.col("fact") & pl.col("stated").is_not_null())),
        ("drug and target", rows.filter("fact")),
        ("no fact, both gold mentions", rows.filter(~pl.col("fact") & pl.col("stated").is_not_null())),
    ):
        right = part["stated"].fill_null(False).to_numpy()
        drawn.append((name, f"{len(part):,}", f"{right.mean():.2f}", *precisions(part["probability"].to_numpy(), right)))
    return Table(
        title="Precision of the text model of pairs on DrugProt's development abstracts, by recall",
        columns=("pairs in one sentence", "pairs", "co-occurrence", *(f"at {recall:g}" for recall in RECALLS)),
        rows=drawn,
    )  # fmt: skip


def precisions(probability: npt.NDArray[np.floating], right: npt.NDArray[np.bool_]) -> Iterator[str]:
    """The precision of the most probable pairs that reach each of ``RECALLS``; equal ones go together."""
    order = np.argsort(-probability, kind="stable")
    last = np.append(probability[order][1:] != probability[order][:-1], True)
    found, count = np.cumsum(right[order])[last], np.flatnonzero(last) + 1
    for recall in RECALLS:
        at = np.searchsorted(found, recall * right.sum() - 1e-9)
        yield f"{found[at] / count[at]:.2f}"


def stated_pairs(
    tables: dict[str, pa.Table], ends: npt.NDArray[np.bool_], documents: pl.DataFrame, spans: pl.DataFrame, relations: pl.DataFrame
) -> pl.DataFrame:
    """``document, one, other, stated``: the pairs of our mentions in one sentence that both overlap a gold mention, and whether any two
    of these are in a relation."""
    mentions = frame(tables["mentions"]).select(
        document=pl.Series(row_numbers(tables["mentions"]["document"], tables["documents"]["id"])),
        entity=pl.Series(row_numbers(tables["mentions"]["entity"], tables["entities"]["id"])), start="start", end="end",
    )  # fmt: skip
    sentences = sentence_starts(tables["documents"]["text"])
    starts = pl.DataFrame({"document": sentences.sources(), "start": sentences.targets, "sentence": np.arange(len(sentences.targets))})
    mentions = mentions.sort("start").join_asof(
        starts.sort("start"), on="start", by="document", strategy="backward", check_sortedness=False
    )
    gold = spans.join(documents.with_columns(pl.col("document").cast(pl.Int32)), on="id")
    both = mentions.join(gold, on="document", suffix="_gold").filter(
        (pl.col("start_gold") < pl.col("end")) & (pl.col("end_gold") > pl.col("start"))
    )
    is_end = pl.Series(ends[both["entity"].to_numpy()], dtype=pl.Boolean)
    chemicals = both.filter(is_end & both["type"].str.starts_with("CHEM")).select(
        "id", "document", "sentence", one="entity", chemical="span"
    )
    genes = both.filter(~is_end & both["type"].str.starts_with("GENE")).select("document", "sentence", other="entity", gene="span")
    found = chemicals.join(genes, on=["document", "sentence"]).join(relations.unique(), on=["id", "chemical", "gene"], how="left")
    return found.group_by("document", "one", "other").agg(stated=pl.col("stated").fill_null(False).any())


def frame_of(path: Path, columns: tuple[str, ...]) -> pl.DataFrame:
    """A tab-separated file without a header."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") if path.suffix == ".gz" else path.open(encoding="utf-8", newline="") as lines:
        rows = [line[: len(columns)] for line in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return pl.DataFrame(rows, schema=list(columns), orient="row")


if __name__ == "__main__":
    print(main().plain())
