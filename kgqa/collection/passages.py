"""Passages with links to articles, drawn from a corpus: an import's folder, a workspace, or a file of JSON lines (IIRC, section 2.1).

In tables a passage is a paragraph of a document, and a link is a mention of an entity that another document is the article of. Links that
the source marks count if there are any, else those that kgqa found. In a file each record is a passage: ``title``, ``text``, ``links``
(``target``, a title, and ``indices``), and optionally ``id``, as in IIRC's official files; the texts are in a file of articles beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired

import polars as pl
import pyarrow as pa
from pydantic import TypeAdapter

from kgqa.arrays.draws import Reservoir, draw
from kgqa.arrays.hashes import text_hashes
from kgqa.errors import BrokenInput, EmptyResult, MissingInput, storage_errors
from kgqa.formats.iirc import articles
from kgqa.formats.iirc.records import Link as FileLink
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids, Open
from kgqa.runs.files import key_of
from kgqa.runs.graph import STAGES
from kgqa.runs.importing import check_import
from kgqa.runs.workspace import Workspace
from kgqa.sources import imported

MOST_CHARACTERS = 20_000
"""Longer passages are not drawn: a person cannot survey them."""
MOST_ID = 180
"""Longer ids are hashed, so that an id with a suffix has at most 200 characters."""
PURPOSE = "iirc passage"
"""Of the random draws."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link of a passage."""

    start: int
    """In characters of the passage; so is ``end``, which is exclusive."""
    end: int
    title: str
    """The article's title; different articles of a passage have different titles."""
    document: str
    """The article's id in the corpus."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text with links."""

    id: str
    title: str
    text: str
    links: tuple[Link, ...]
    """Sorted, without overlaps."""
    document: str
    """What it is a part of: passages of one document must be in one split."""

    @property
    def documents(self) -> dict[str, str]:
        """Title → id of each article that it links to, in the order of the links."""
        return {link.title: link.document for link in self.links}


class _FilePassage(Open):
    """A record of a file of passages."""

    title: str
    text: str
    links: list[FileLink]
    id: NotRequired[str]
    pid: NotRequired[str]


_FILE_PASSAGE = TypeAdapter(_FilePassage)


def draw_passages(path: Path, *, links: int, sample: int, seed: int) -> tuple[Passage, ...]:
    """At most ``sample`` passages with links to ``links`` or more articles, at most one of a document, in random order.

    Memory: ids, titles and mentions of the corpus, and the texts of some documents. Raises MissingInput, BrokenInput, and EmptyResult if
    there is no such passage.
    """
    with _readable(path):
        passages = tuple(_from_file(path, links, sample, seed) if path.is_file() else _from_tables(path, links, sample, seed))
    if not passages:
        raise EmptyResult(f"{path}: no passage links to {links} articles; lower links under [options], or give another corpus.")
    return passages


def read_texts(path: Path, documents: Collection[str]) -> dict[str, str]:
    """Id → text of those of the ``documents`` that the corpus has. Memory: these texts. Raises as :func:`draw_passages` does."""
    return _texts(path, "id", documents)


def read_articles(path: Path, titles: Collection[str]) -> dict[str, str]:
    """Title in lower case → text of those of the articles that the corpus, or a file of articles, has; the first of equal titles."""
    return {title.lower(): text for title, text in _texts(path, "title", titles).items()}


def _texts(path: Path, column: str, names: Collection[str]) -> dict[str, str]:
    with _readable(path):
        if path.is_file():
            # A record of JSON lines looks like the beginning of a file of articles.
            file = path if path.suffix != ".jsonl" and articles.fits(path) else articles.file(path)
            return {} if file is None else articles.read(file, {name.lower() for name in names})
        rows = pl.scan_parquet(_tables(path)[0]).filter(pl.col(column).is_in(sorted(names))).select("id", "text", name=column).collect()
    return {row["name"]: row["text"] for row in rows.sort("id", descending=True).iter_rows(named=True)}


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn what polars says of a table into one sentence; MissingInput if ``path`` does not exist."""
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such file or folder; give a workspace, an import's folder, or a file.")
        try:
            yield
        except pl.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0]
            raise BrokenInput(f"{path}: its tables cannot be read ({reason}); make them again.") from None


def _tables(folder: Path) -> tuple[Path, Path]:
    """The tables of documents and of links."""
    if imported.read_manifest(folder) is not None:
        check_import(folder)
        return folder / "documents.parquet", folder / "mentions.parquet"
    workspace = Workspace(folder)
    workspace.check_tables(*filter(workspace.has_record, STAGES))
    documents, annotations, mentions = (folder / "tables" / f"{name}.parquet" for name in ("documents", "annotations", "mentions"))
    if not documents.is_file():
        raise MissingInput(f"{folder}: this is neither a workspace nor an import's folder; give one, or a file of JSON lines.")
    if annotations.is_file() and pl.scan_parquet(annotations).select(pl.len()).collect().item():
        return documents, annotations
    if not mentions.is_file():
        raise MissingInput(f"{mentions}: this table is missing; run kgqa generate in this workspace first.")
    return documents, mentions


def _from_tables(folder: Path, least: int, sample: int, seed: int) -> Iterator[Passage]:
    document_file, mention_file = _tables(folder)
    documents = pl.scan_parquet(document_file).select("id", "title", "about").collect()
    about = documents.filter(pl.col("about").is_not_null()).unique("about", keep="first", maintain_order=True)
    targets = about.select(entity="about", target="id", target_title="title")
    links = pl.scan_parquet(mention_file).select("document", "entity", "start", "end").collect().join(targets, on="entity")
    links = links.filter(pl.col("document") != pl.col("target"))
    rich = links.group_by("document").agg(pl.col("target").n_unique()).filter(pl.col("target") >= least)["document"].sort()
    order = pl.Series(text_hashes(pa.array(rich.to_list(), pa.string()), seed=seed)).arg_sort()
    count, size = 0, max(256, 4 * sample)
    for begin in range(0, len(rich), size):
        batch = rich.gather(order.slice(begin, size))
        rows = links.filter(pl.col("document").is_in(batch.implode())).sort("document", "start", -pl.col("end"), "target")
        links_of = {key[0]: part.select("start", "end", "target", "target_title").rows() for key, part in rows.group_by(["document"])}
        rows_of_documents = pl.scan_parquet(document_file).filter(pl.col("id").is_in(batch.implode()))
        titles = rows_of_documents.select("id", pl.coalesce("title", "id"), "text").collect()
        texts = {name: (title, text) for name, title, text in titles.iter_rows()}
        for document in batch:
            passages = list(_paragraphs(document, *texts[document], links_of[document], least))
            if passages:
                yield passages[draw(purpose=PURPOSE, seed=seed, id=document) % len(passages)]
                count += 1
                if count == sample:
                    return


def _paragraphs(document: str, title: str, text: str, rows: Iterable[tuple[int, int, str, str | None]], least: int) -> Iterator[Passage]:
    """The paragraphs of a document, which line breaks divide, with links to ``least`` articles."""
    rows, begin = list(rows), 0
    for number, line in enumerate(text.split("\n"), start=1):
        left = begin + len(line) - len(line.lstrip())
        right = begin + len(line.rstrip())
        inside = [(start - left, end - left, target, name or target) for start, end, target, name in rows if left <= start and end <= right]
        begin += len(line) + 1
        if len({target for _, _, target, _ in inside}) >= least and right - left <= MOST_CHARACTERS:
            links = _apart(inside)
            if len({link.document for link in links}) >= least:
                yield Passage(id=_short(f"{document}/{number}"), title=title, text=text[left:right], links=links, document=document)


def _from_file(path: Path, least: int, sample: int, seed: int) -> Iterator[Passage]:
    reservoir: Reservoir[Passage] = Reservoir(sample, purpose=PURPOSE, seed=seed)
    ids = Ids()
    for number, (location, record) in enumerate(stream.records(path, _FILE_PASSAGE), start=1):
        name, text = record.get("id") or record.get("pid") or str(number), record["text"]
        ids.add(name, location)
        rows = sorted((*link["indices"], link["target"].lower(), link["target"]) for link in record["links"])
        for start, end, *_ in rows:
            if not 0 <= start < end <= len(text):
                raise BrokenInput(f"{location}, links: a link at {start} to {end} is outside the text of {len(text):,} characters; fix it.")
        links = _apart(rows)
        if len({link.document for link in links}) >= least and len(text) <= MOST_CHARACTERS:
            reservoir.add(name, Passage(id=_short(name), title=record["title"], text=text, links=links, document=record["title"] or name))
    yield from reservoir.values()


def _apart(rows: Iterable[tuple[int, int, str, str]]) -> tuple[Link, ...]:
    """Links without overlaps, the first and longest of each group; the title of a second article of one name gets its id."""
    links: list[Link] = []
    owners: dict[str, str] = {}
    end = 0
    for start, stop, target, title in sorted(rows, key=lambda row: (row[0], -row[1], row[2])):
        if start < end or start >= stop:
            continue
        name = title if owners.setdefault(title, target) == target else f"{title} ({target})"
        links.append(Link(start=start, end=stop, title=name, document=target))
        end = stop
    return tuple(links)


def _short(name: str) -> str:
    return name if len(name) <= MOST_ID else key_of(name)
