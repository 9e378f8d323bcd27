"""Surface forms: the expressions by which a reader recognises an entity, be they good enough to link or not.

This is not the linker's dictionary, and knows none of its rules: all names of all sources count, and their inflected and derived forms. The
rules of inflection and derivation are those of English endings; in texts of other languages they find next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import polars as pl
import pyarrow as pa

from kgqa.formats.qangaroo import PLACEHOLDER
from kgqa.linking.dictionary import EXACT, FREE, INITIAL
from kgqa.linking.words import plain_words
from kgqa.recipes.qangaroo.samples import BoolArray
from kgqa.sources.tables import frame

ENGLISH = "en"
NAME, INFLECTED, DERIVED = 0, 1, 2
"""Kinds of form; where several begin at one place and are equally long, the lower kind has the better claim."""
FUNCTION_WORD = 6.0
"""A word of at least this Zipf frequency, one in a thousand of all words, is nobody's name where it stands in small letters and never
links: "in" is a name of India in the table, as its addresses end with it."""
QUALIFIED = r"^(.*\S) \([^()]+\)$"
"""A title with a qualifier; the name before it is what texts write."""
LAST_WORD = r"(\p{L}{3,})$"
LAST_PROPER = r"(\p{Lu}\p{Ll}{2,})$"
_PEOPLE = ("an", "ian", "ean", "ese", "ish", "i", "ic", "ite", "ine", "er", "ist")
DERIVATIONS: dict[str, tuple[str, ...]] = {
    "": ("n", *_PEOPLE),
    **dict.fromkeys(("a", "e", "i", "o", "u", "y", "s", "as", "es", "ey", "ia", "us", "ium"), _PEOPLE),
    "en": ("ish",), "ain": ("ish", "anish"), "and": ("ish",), "land": ("ish", "tish", "nish"), "eland": ("ish",),
    "any": ("an",), "istan": ("",), "ity": ("",), "ism": ("", "ist"), "o": (*_PEOPLE, "onian"), "ce": ("tine", "k"), "a": (*_PEOPLE, "e"),
}  # fmt: skip
"""Ending of a proper noun → what stands in its place in adjectives and names of people: Scotland, Scot-tish; Italy, Ital-ian."""
SHORTEST = 3
"""Letters that must be left before an ending of one or two letters; before a longer one, one less suffices (Ireland, Ir-ish)."""


def surface_forms(tables: Mapping[str, pa.Table], mask: BoolArray, *, language: str) -> pl.DataFrame:
    """``entity`` (row), ``form``, ``kind``, ``case`` of the entities for which ``mask`` holds; each form once, in a fixed order.

    ``tables`` has entities, names, documents and mentions. Numbers, single characters, and what reads like a placeholder are no forms.
    With another ``language`` (``linking.language``) than English names are the only forms, and no word is a function word.
    """
    rows = frame(tables["entities"]).select("id", "label").with_row_index("entity").filter(pl.Series(mask, dtype=pl.Boolean))
    aliases = frame(tables["names"]).select(id="entity", form="name").join(rows.select("id", "entity"), on="id")
    names = pl.concat([rows.select("entity", form="label"), aliases.select("entity", "form")])
    short = names.select("entity", form=pl.col("form").str.extract(QUALIFIED)).drop_nulls()
    names = pl.concat([names, short]).filter(_can_be_sought()).unique()
    kinds = [(NAME, names)]
    if language == ENGLISH:
        names = names.join(_function_words(names, tables), on=["entity", "form"], how="anti")
        kinds = [(NAME, names), (INFLECTED, _inflected(names)), (DERIVED, _derived(names))]
    forms = pl.concat([part.select("entity", "form", kind=pl.lit(kind, pl.UInt8)) for kind, part in kinds])
    forms = forms.group_by("entity", "form").agg(pl.col("kind").min()).sort("kind", "entity", "form")
    return forms.with_columns(case=_case())


def _can_be_sought() -> pl.Expr:
    """Names of more than one character that have a letter or a sign such as a flag, and that no placeholder contains."""
    form = pl.col("form")
    length = form.str.replace_all(r"[^\p{L}\p{N}\p{So}]", "").str.len_chars()
    placeholder = form.str.contains(rf"(?i)^[_\s]*{PLACEHOLDER.strip('_')}\d*[_\s]*$")
    return form.str.contains(r"[\p{L}\p{So}]") & (length > 1) & ~placeholder


def _function_words(names: pl.DataFrame, tables: Mapping[str, pa.Table]) -> pl.DataFrame:
    """The ``entity`` and ``form`` of names that are function words and by which the texts never mean the entity."""
    common = names.filter(pl.col("form").is_in(sorted(plain_words(FUNCTION_WORD))))
    if common.is_empty():
        return common
    ids = frame(tables["entities"]).select(id="id").with_row_index("row").select(pl.col("id"), pl.col("row"))
    candidates = common.join(ids, left_on="entity", right_on="row").with_columns(length=pl.col("form").str.len_chars().cast(pl.Int32))
    mentions = frame(tables["mentions"]).with_columns(length=pl.col("end") - pl.col("start"))
    mentions = mentions.join(candidates, left_on=["entity", "length"], right_on=["id", "length"])
    texts = frame(tables["documents"]).select(document="id", text="text")
    mentions = mentions.join(texts, on="document", how="left")
    linked = mentions.filter(pl.col("text").str.slice(pl.col("start"), pl.col("length")).str.to_lowercase() == pl.col("form"))
    return common.join(linked.select(entity="entity_right", form="form"), on=["entity", "form"], how="anti")


def _inflected(names: pl.DataFrame) -> pl.DataFrame:
    """Plurals of the last word, and what it is the plural of; a possessive is the same word, with a sign and a letter behind it."""
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
    """Adjectives and names of people made from a proper noun at the end of a name, and their plurals."""
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
    """Several words in any case; one word as it is written, but that a small first letter may be a capital."""
    form = pl.col("form")
    several, small = form.str.contains(r"\S\s+\S"), form.str.contains(r"^\p{Ll}")
    return pl.when(several).then(pl.lit(FREE, pl.UInt8)).when(small).then(pl.lit(INITIAL, pl.UInt8)).otherwise(pl.lit(EXACT, pl.UInt8))
