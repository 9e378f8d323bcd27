"""Hyperlinks as mentions: WikiHop from 4,598 linked articles, with the links, without, and with them alone.

``python -m benchmarks.hyperlinks`` prints a table. The articles name the targets of their links but not the places, so a link is placed at
the first occurrence of its target's title; links whose title is not in the text are left out and counted. Facts and names are those of
``data/wikidata``, joined by titles.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import kgqa
from benchmarks.measure import data_folder
from kgqa.arrays.parallel import Threads
from kgqa.progress import Silent
from kgqa.runs.importing import Imported, Origin, run_import
from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import line_pieces

ARTICLES = "wikispeedia-2007-first8000.jsonl.xz"
CHARACTERS = 2000
HEADER = re.compile(r"(?s)^.*?Related subjects:.*?\n\n")
DOMAIN = """extends = "wikidata"
name = "linked"
dataset = "linked"
[linking]
annotations = "{annotations}"
"""


class Articles(Settings):
    """JSON lines with title, text and the titles of the links' targets."""

    characters: int = CHARACTERS
    """Length of the texts."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """Some MiB of whole lines."""
        return line_pieces(text, start)

    def parse(self, piece: Piece) -> Rows:
        """The beginning of each article as running text, with the links that can be placed."""
        rows = Rows()
        for line in piece.data.splitlines():
            article = json.loads(line)
            title = article["title"].replace("_", " ")
            text = re.sub(r"\s*\n\s+", " ", HEADER.sub("", article["text"], count=1)).strip()[: self.characters]
            rows.document(f"school:{article['title']}", title, text)
            rows.page("school", title, document=f"school:{article['title']}")
            for target in article["links"]:
                name = target.replace("_", " ")
                place = re.search(rf"(?<!\w){re.escape(re.sub(r' [(].*', '', name))}(?!\w)", text)
                if place is None:
                    rows.skip("link whose title is not in the text", title)
                else:
                    rows.link(f"school:{article['title']}", place.start(), place.end(), "school", name)
        return rows


class Facts(Settings):
    """Entities and facts of ``data/wikidata``, one file at a time."""

    columns: int
    """4 in the table of entities, 3 in that of facts, 2 in that of relations."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """Some MiB of whole lines."""
        return line_pieces(text, start)

    def parse(self, piece: Piece) -> Rows:
        """A row for each line but the header."""
        rows = Rows()
        for cells in csv.reader(io.StringIO(piece.data.decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
            if cells[0] == "id":
                continue
            if self.columns == 3:
                rows.fact(*cells)
            elif self.columns == 2:
                rows.relation(cells[0], cells[1])
            elif not cells[0].startswith("simple:"):
                rows.entity(cells[0], cells[1], description=cells[3])
                rows.page("school", cells[4] or cells[1], cells[0])
                for alias in filter(None, cells[2].split("|")):
                    rows.name(cells[0], alias)
        return rows


def imported(out: Path, articles: Path, wikidata: Path, *, characters: int = CHARACTERS) -> Imported:
    """Import facts, names and articles into ``out``."""
    origin = Origin(format="linked", licence="cc-by-sa-3.0", attribution="")
    for parser, path in (
        (Facts(columns=4), wikidata / "entities.tsv.gz"),
        (Facts(columns=3), wikidata / "triples.tsv.gz"),
        (Facts(columns=2), wikidata / "relations.tsv.gz"),
        (Articles(characters=characters), articles),
    ):
        result = run_import(parser, [path], out, origin, engine=Threads(1), partial=False, progress=Silent())
    return result


def main() -> None:
    """Import once, generate three times."""
    linked, wikidata = data_folder("sources/linked"), data_folder("wikidata")
    if linked is None or wikidata is None:
        sys.exit("The real data are not there; set KGQA_DATA to the folder that holds them.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        out = folder / "import"
        result = imported(out, linked / ARTICLES, wikidata)
        sys.stdout.write(f"{result.rows}\n{[(row['reason'], row['count']) for row in result.skipped]}\n")
        for annotations in ("without", "with", "only"):
            domain = folder / "linked.toml"
            domain.write_text(DOMAIN.format(annotations=annotations), encoding="utf-8")
            workspace = folder / annotations
            try:
                report = kgqa.generate(domain, source=out, workspace=workspace)
            except kgqa.KgqaError as error:
                sys.stdout.write(f"{annotations}: {error}\n")
                continue
            mentions = pl.read_parquet(workspace / "tables" / "mentions.parquet")
            marked = pl.read_parquet(workspace / "tables" / "annotations.parquet")
            both = mentions.join(marked, on=["document", "entity"], how="semi").select("document", "entity").unique().height
            counts = f"{mentions.height:,} mentions, {both / marked.select('document', 'entity').unique().height:.1%} of the linked pairs"
            sys.stdout.write(f"{annotations}: {report.counts}, {counts}; {report.dataset}\n")
            keep = Path(sys.argv[1]) / annotations if len(sys.argv) > 1 else None
            if keep is not None:
                keep.parent.mkdir(parents=True, exist_ok=True)
                report.dataset.rename(keep)


if __name__ == "__main__":
    main()
