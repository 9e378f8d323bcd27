"""The linking stage: names and texts → mentions, occurrences, links, and the documents that are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.rows import paired
from kgqa.errors import EmptyResult, UnknownId
from kgqa.linking.annotations import marked_mentions, merged_places, taken, with_marked
from kgqa.linking.dictionary import Dictionary, build_dictionary
from kgqa.linking.matcher import Matches, Spans, match
from kgqa.linking.measures import word_flags
from kgqa.linking.resolve import resolve
from kgqa.linking.spellings import spellings
from kgqa.linking.usage import Usage, usage
from kgqa.settings.linking import LinkingSettings
from kgqa.settings.source import DocumentSettings
from kgqa.sources.tables import arrow, frame

WORD_OR_SIGN = r"[\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{L}\p{N}]+(?:[-'./][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]"
"""A token for the length of a text: a word with its hyphens, or a single sign, as in the published MedHop texts; in scripts without
spaces a letter."""
UNUSED_REASONS = {
    "excluded article": "the settings leave out the article about this entity (documents.exclude_about)",
    "too long": "the text has more tokens than allowed (documents.max_tokens)",
}
"""Reason → the sentence in the funnel for a document that is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """The tables that linking produces from a corpus."""

    mentions: pa.Table
    """``document, entity, start, end``: without overlap, offsets in characters; sorted."""
    occurrences: pa.Table
    """The same columns: all names of possible candidates, also inside longer names and shared by several entities."""
    title_occurrences: pa.Table
    """The same for the documents' titles."""
    links: pa.Table
    """``document, entity, count``: each pair that has a mention."""
    unused: pa.Table
    """``document, reason``: documents that take no part in the traversal."""
    report: dict[str, int]
    """Names that each rule removed, and places that each rule left out."""
    annotated: int
    """Mentions that the source marks."""
    endings: tuple[str, ...]
    """The endings of inflected names that were learned from the texts."""


def link_mentions(
    tables: Mapping[str, pa.Table],
    linking: LinkingSettings,
    documents: DocumentSettings,
    *,
    candidates: npt.NDArray[np.bool_],
    engine: Engine | None = None,
    advance: Callable[[int], None] | None = None,
) -> Linked:
    """Link the ``names`` of ``tables`` in its ``documents``; both entities and documents are sorted by id. ``annotations`` may be missing.

    ``candidates`` says which rows of ``entities`` can be a candidate.

    Raises EmptyResult where no name is found in any text, UnknownId where ``documents.exclude_about`` names an unknown entity.
    """
    unused_table = unused_documents(tables, documents)
    if linking.spellings:
        names = frame(tables["names"])
        further = spellings(names, frame(tables["documents"].select(["text"]))["text"])
        tables = {**tables, "names": arrow(pl.concat([names, further.select(names.columns).cast(dict(names.schema))]))}  # type: ignore[arg-type]
    dictionary = build_dictionary(
        tables["names"], tables["entities"], linking, candidates, documents=tables["documents"], facts=tables.get("facts")
    )
    matches, word_usage = matched(tables, dictionary, linking, engine=engine, advance=advance)
    source_spans = _marked(tables, linking)
    pairs, occurrence_places = matches.pairs, matches.occurrences
    del matches  # and with it the mentions that priority alone would choose
    if not len(pairs.entity) and source_spans is None:
        raise EmptyResult("no name of any entity occurs in any document; check the names, or relax the rules under [linking].")
    ids = tables["documents"]["id"].combine_chunks(), tables["entities"]["id"].combine_chunks()

    def stated() -> tuple[pa.Table, pa.Table]:
        titles = match(tables["documents"]["title"], dictionary, engine=Threads(1), before_number=linking.before_number)
        places = occurrence_places
        if source_spans is not None:
            answers = np.flatnonzero(candidates[source_spans.entity])
            places = merged_places(places, taken(source_spans, answers))
        return _table(places, *ids), _table(titles.occurrences, *ids)

    # Disambiguation uses one thread, so a second core can make the tables that need none.
    with ThreadPoolExecutor(1) as pool:
        occurrences = pool.submit(stated)
        spans, rejection_counts = resolve(pairs, dictionary, word_usage, tables, linking, marked=source_spans)
        if source_spans is not None:
            spans = source_spans if linking.annotations == "only" else with_marked(source_spans, spans)
        mentions = _table(spans, *ids)
        places, title_places = occurrences.result()
    keys, counts = np.unique(paired(spans.document, spans.entity), return_counts=True)
    links = pa.table({"document": ids[0].take(pa.array(keys >> 32)), "entity": ids[1].take(pa.array(keys & 0xFFFFFFFF)), "count": counts})
    return Linked(
        mentions=mentions,
        occurrences=places,
        title_occurrences=title_places,
        links=links,
        unused=unused_table,
        report={
            **{f"names: {rule}": count for rule, count in dictionary.removed.items()},
            **{f"places: {rule}": count for rule, count in rejection_counts.items()},
        },
        annotated=0 if source_spans is None else len(source_spans.entity),
        endings=dictionary.endings,
    )


def _marked(tables: Mapping[str, pa.Table], linking: LinkingSettings) -> Spans | None:
    """The mentions that the source marks, if there are any and they are wanted."""
    annotations = tables.get("annotations")
    if linking.annotations == "without" or annotations is None or not annotations.num_rows:
        if linking.annotations == "only":
            raise EmptyResult('the source has no marked mentions; set linking.annotations to "with" to link by names.')
        return None
    return marked_mentions(tables)


def matched(
    tables: Mapping[str, pa.Table],
    dictionary: Dictionary,
    linking: LinkingSettings,
    *,
    engine: Engine | None = None,
    advance: Callable[[int], None] | None = None,
) -> tuple[Matches, Usage]:
    """All places of the names, with their contexts, and the letter case of the names' words in the texts."""
    texts = tables["documents"]["text"]
    word_usage = usage(dictionary.trie, texts)
    flags = word_flags(dictionary, word_usage, linking)
    return match(texts, dictionary, engine=engine, before_number=linking.before_number, words=flags, advance=advance), word_usage


def unused_documents(tables: Mapping[str, pa.Table], settings: DocumentSettings) -> pa.Table:
    """Documents that the settings leave out of the traversal, with the reason."""
    documents = frame(tables["documents"].select(["id", "about"]))
    for entity in settings.exclude_about:
        if pc.index(tables["entities"]["id"], entity).as_py() < 0:
            raise UnknownId(
                f"documents.exclude_about: the entity {entity!r} is not in the entity table; write a TOML file that extends this domain "
                "and sets documents.exclude_about to ids of your data, or to []."
            )
    left_out = documents.filter(pl.col("about").is_in(settings.exclude_about)).select(document="id", reason=pl.lit("excluded article"))
    if not settings.max_tokens:
        return arrow(left_out.sort("document"))
    texts = frame(tables["documents"].select(["title", "text"]))
    text, title = (texts[column].str.count_matches(WORD_OR_SIGN).cast(pl.Int64) for column in ("text", "title"))
    # A text that begins with its title may be longer by the title (MedHop: "300 tokens plus title").
    title = title * texts.select(pl.col("text").str.starts_with(pl.col("title"))).to_series().cast(pl.Int64)
    long_documents = documents.filter(text - title > settings.max_tokens).select(document="id", reason=pl.lit("too long"))
    return arrow(pl.concat([left_out, long_documents]).unique("document", keep="first", maintain_order=True).sort("document"))


def _table(spans: Spans, documents: pa.Array, entities: pa.Array) -> pa.Table:
    return pa.table(
        {
            "document": documents.take(pa.array(spans.document)),
            "entity": entities.take(pa.array(spans.entity)),
            "start": spans.start,
            "end": spans.end,
        }
    )
