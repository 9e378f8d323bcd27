"""Surface forms: all expressions that may tell a reader an entity, including those that are too ambiguous for linking.

This is not the linker's dictionary and follows none of its rules: all names from all sources count, with their inflected and derived forms.
Inflection and derivation follow English endings; in other languages they rarely apply.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np
import polars as pl
import pyarrow as pa

from kgqa.arrays.rows import row_bounds
from kgqa.formats.qangaroo import PLACEHOLDER
from kgqa.linking.dictionary import EXACT, FREE, INITIAL
from kgqa.linking.words import plain_words
from kgqa.recipes.qangaroo.corpus import Places, places
from kgqa.recipes.qangaroo.samples import BoolArray
from kgqa.settings.linking import is_english
from kgqa.sources.tables import frame

NAME, INFLECTED, DERIVED = 0, 1, 2
"""Kinds of form; among equally long forms at the same place, a lower kind has priority."""
FUNCTION_WORD = 6.0
"""Minimum Zipf frequency of function words, one in a thousand words. In lower case they are no names unless they link somewhere: "in" is a
name of India in the table, because Internet addresses there end with it."""
QUALIFIED = r"^(.*\S) \([^()]+\)$"
"""A title with a qualifier in brackets; texts write only the name before it."""
LAST_WORD = r"(\p{L}{3,})$"
LAST_PROPER = r"(\p{Lu}\p{Ll}{2,})$"
_PEOPLE = ("an", "ian", "ean", "ese", "ish", "i", "ic", "ite", "ine", "er", "ist")
DERIVATIONS: dict[str, tuple[str, ...]] = {
    "": ("n", *_PEOPLE),
    **dict.fromkeys(("a", "e", "i", "o", "u", "y", "s", "as", "es", "ey", "ia", "us", "ium"), _PEOPLE),
    "en": ("ish",), "ain": ("ish", "anish"), "and": ("ish",), "land": ("ish", "tish", "nish"), "eland": ("ish",),
    "any": ("an",), "istan": ("",), "ity": ("",), "ism": ("", "ist"), "o": (*_PEOPLE, "onian"), "ce": ("tine", "k"), "a": (*_PEOPLE, "e"),
}  # fmt: skip
"""Ending of a proper noun → endings that replace it in adjectives and names of people: Scotland, Scot-tish; Italy, Ital-ian."""
SHORTEST = 3
"""Minimum number of letters before an ending of one or two letters; before a longer ending, one less is enough (Ireland, Ir-ish)."""


def surface_forms(tables: Mapping[str, pa.Table], mask: BoolArray, *, language: str) -> pl.DataFrame:
    """The surface forms of the entities with a true entry in ``mask``: ``entity`` (row), ``form``, ``kind``, ``case``; distinct and sorted.

    ``tables``: ``entities, names, documents, mentions``. Numbers, single characters and texts like a placeholder are excluded. In a
    ``language`` (``linking.language``) other than English, only names are forms, and no word is a function word.
    """
    rows = frame(tables["entities"]).select("id", "label").with_row_index("entity").filter(pl.Series(mask, dtype=pl.Boolean))
    aliases = frame(tables["names"]).select(id="entity", form="name").join(rows.select("id", "entity"), on="id")
    names = pl.concat([rows.select("entity", form="label"), aliases.select("entity", "form")])
    short = names.select("entity", form=pl.col("form").str.extract(QUALIFIED)).drop_nulls()
    names = pl.concat([names, short]).filter(_can_be_sought()).unique()
    kinds = [(NAME, names)]
    if is_english(language):
        names = names.join(_function_words(names, tables), on=["entity", "form"], how="anti")
        kinds = [(NAME, names), (INFLECTED, _inflected(names)), (DERIVED, _derived(names))]
    forms = pl.concat([part.select("entity", "form", kind=pl.lit(kind, pl.UInt8)) for kind, part in kinds])
    forms = forms.group_by("entity", "form").agg(pl.col("kind").min()).sort("kind", "entity", "form")
    return forms.with_columns(case=_case())


def _can_be_sought() -> pl.Expr:
    """Whether a form has more than one character, among them a letter or a symbol such as a flag, and is not like a placeholder."""
    form = pl.col("form")
    length = form.str.replace_all(r"[^\p{L}\p{N}\p{So}]", "").str.len_chars()
    placeholder = form.str.contains(rf"(?i)^[_\s]*{PLACEHOLDER.strip('_')}\d*[_\s]*$")
    return form.str.contains(r"[\p{L}\p{So}]") & (length > 1) & ~placeholder


def _function_words(names: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """The ``entity`` and ``form`` of names that are function words and never link to the entity in the texts."""
    common = names.filter(pl.col("form").is_in(sorted(plain_words(FUNCTION_WORD))))
    if common.is_empty():
        return common
    linked = _expressions(places(tables["mentions"], tables), tables["documents"]["text"])
    linked = linked.select(entity=pl.col("entity").cast(pl.UInt32), form=pl.col("word").str.to_lowercase())
    return common.join(linked, on=["entity", "form"], how="anti")


def _expressions(spans: Places, texts: pa.ChunkedArray) -> pl.DataFrame:
    """The ``spans`` that are no longer than a function word: ``place`` (row), ``entity`` and ``word``, as the text has it."""
    lengths = spans.end - spans.start
    short = np.flatnonzero(lengths <= max(map(len, plain_words(FUNCTION_WORD))))
    text = np.repeat(np.arange(len(texts)), np.diff(spans.offsets))[short]
    table = pl.DataFrame({"place": short, "entity": spans.entity[short], "start": spans.start[short], "length": lengths[short]})
    table = table.with_columns(text=pl.Series(texts).gather(text))
    return table.select("place", "entity", word=pl.col("text").str.slice("start", "length"))


def function_words_at(spans: Places, texts: pa.ChunkedArray) -> pl.DataFrame:
    """The ``spans`` that are function words in lower case: ``place`` (row), ``entity`` and ``word``."""
    return _expressions(spans, texts).filter(pl.col("word").is_in(sorted(plain_words(FUNCTION_WORD))))


def without_function_words(spans: Places, texts: pa.ChunkedArray, *, linked: pl.DataFrame) -> Places:
    """The ``spans`` without function words, except those with the entity and word of a row of ``linked``."""
    unlinked = function_words_at(spans, texts).join(linked, on=["entity", "word"], how="anti")["place"].to_numpy()
    text = np.delete(np.repeat(np.arange(len(texts)), np.diff(spans.offsets)), unlinked)
    entity, start, end = (np.delete(column, unlinked) for column in (spans.entity, spans.start, spans.end))
    return Places(offsets=row_bounds(text, len(texts)), entity=entity, start=start, end=end)


def _inflected(names: pl.DataFrame) -> pl.DataFrame:
    """Plurals and singulars of the last word. Possessives need no form: the tokeniser splits off the apostrophe and the letter."""
    form, word = pl.col("form"), pl.col("form").str.extract(LAST_WORD)
    hissing, after_consonant = word.str.contains(r"(?:s|x|z|ch|sh|o)$"), word.str.contains(r"[^aeiouAEIOU]y$")
    plural = pl.when(after_consonant).then(form.str.replace(r"y$", "ies")).when(hissing).then(form + "es").otherwise(form + "s")
    plain = pl.when(hissing & ~word.str.ends_with("o")).then(None).otherwise(form + "s")
    men = pl.when(word.str.ends_with("man")).then(form.str.replace(r"man$", "men"))
    ies = word.str.ends_with("ies")
    no_plural = word.str.contains(r"(?:ss|us|is)$") | (word.str.len_chars() < 5)
    with_s = word.str.ends_with("s") & ~no_plural
    singular = pl.when(ies).then(form.str.replace(r"ies$", "y")).when(with_s).then(form.str.replace(r"s$", ""))
    from_es = pl.when(word.str.contains(r"(?:s|x|z|ch|sh)es$")).then(form.str.replace(r"es$", ""))
    from_men = pl.when(word.str.ends_with("men")).then(form.str.replace(r"men$", "man"))
    inflections = (plural, plain, men, singular, from_es, from_men)
    return pl.concat([names.select("entity", form=pl.when(word.is_not_null()).then(inflected)).drop_nulls() for inflected in inflections])


def _derived(names: pl.DataFrame) -> pl.DataFrame:
    """Adjectives and names of people that derive from a proper noun at the end of a name, and their plurals."""
    proper = names.with_columns(word=pl.col("form").str.extract(LAST_PROPER)).drop_nulls("word")
    parts = []
    for ending, replacements in DERIVATIONS.items():
        stem = len(ending) + SHORTEST - (len(ending) > 2)
        fitting = proper.filter(pl.col("word").str.ends_with(ending) & (pl.col("word").str.len_chars() >= stem))
        stems = fitting.select("entity", stem=pl.col("form").str.head(pl.col("form").str.len_chars().cast(pl.Int64) - len(ending)))
        parts += [stems.select("entity", form=pl.col("stem") + replacement) for replacement in replacements]
    derived = reduce(lambda first, second: first.vstack(second), parts)
    people = derived.filter(pl.col("form").str.contains(r"(?:an|i|er|ite|ist|ine)$"))
    return pl.concat([derived, people.with_columns(form=pl.col("form") + "s")])


def _case() -> pl.Expr:
    """How a text must match the case of a form: several words in any case; one word exactly, except that an initial may be capitalised."""
    form = pl.col("form")
    several, small = form.str.contains(r"\S\s+\S"), form.str.contains(r"^\p{Ll}")
    return pl.when(several).then(pl.lit(FREE, pl.UInt8)).when(small).then(pl.lit(INITIAL, pl.UInt8)).otherwise(pl.lit(EXACT, pl.UInt8))
