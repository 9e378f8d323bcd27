"""Reads dates and quantities out of the articles about entities, by the patterns of the settings.

A pattern is applied to the opening line of an article, to the sentences whose subject is its entity (they begin with one of its names or a
pronoun), or to whole sentences. All sentences are searched for a pattern at once; only those that contain it are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import polars as pl
import pyarrow as pa

from kgqa.arrays.sentences import sentence_starts
from kgqa.recipes.names.kinds import subject_kinds
from kgqa.recipes.values.language import Language
from kgqa.recipes.values.table import DAY, MONTH, SCHEMA, YEAR, with_numbers
from kgqa.settings.values import ValueSettings
from kgqa.sources.tables import frame

OPENING = 400
"""Letters of an article's first line in which its opening is looked for."""
LEAD_IN = 80
NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_COUNTS = re.compile(r"\{\d+(?:,\d*)?\}")
A_YEAR = r"^[12]\d{3}$"
"""A plain number of four figures that could be a year."""
DROPS = {
    "share": "a number is a percentage",
    "year": "a plain number without a comma may be a year",
    "era": "the era of a year is not clear",
    "date": "no such date exists",
}


def read_texts(
    documents: pa.Table, entities: pa.Table, names: pa.Table, language: Language, *, most: int
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Values (``table.SCHEMA``) that articles state, and sentence → number of places that were left out.

    ``documents``: ``id``, ``title``, ``about``, ``text``; ``entities``: ``id``, ``kind``; ``names``: ``entity``, ``name``. The first
    ``most`` sentences of an article are read. O(patterns · bytes), in parallel; memory: the articles about entities, twice.
    """
    articles = frame(documents).with_row_index("row").filter(pl.col("about").is_not_null())
    relations = {
        name: relation for name, relation in language.relations.items() if relation.opening or relation.subject or relation.sentence
    }
    if not articles.height or not relations:
        return pl.DataFrame(schema=SCHEMA), {}
    openings = articles.select(
        "row", entity="about", start=pl.lit(0, pl.Int64),
        text=pl.col("text").str.slice(0, OPENING).str.extract(r"^([^\n]*)"),
    )  # fmt: skip
    sentences = _sentences(documents, articles, most)
    subjects = _after_subject(sentences, names, language)
    place_tables = []
    for name, relation in relations.items():
        for kind, texts, patterns in (
            ("opening", openings, relation.opening),
            ("subject", subjects, relation.subject),
            ("sentence", sentences, relation.sentence),
        ):
            place_tables += [
                _places(texts, expression, name, relation.kind)
                for expression in (_expression(pattern, relation, language) for pattern in patterns)
            ]
            assert kind
    places = pl.concat(place_tables)
    places = _of_kinds(places, documents, entities, relations)
    places = places.sort("row", "relation", "start", "end").unique(["row", "relation", "start"], keep="last", maintain_order=True)
    drops: dict[str, int] = {}
    dates, numbers = (
        _dates(places.filter(pl.col("kind") == "time"), language, drops),
        _numbers(places.filter(pl.col("kind") == "quantity"), language, drops),
    )
    values = pl.concat([dates, numbers])
    ids = frame(documents)["id"]
    return values.with_columns(document=ids.gather(values["row"])).select(
        pl.col(column).cast(kind) for column, kind in SCHEMA.items()
    ), drops


def _sentences(documents: pa.Table, articles: pl.DataFrame, most: int) -> pl.DataFrame:
    """``row``, ``entity``, ``start``, ``text``, ``number`` of the first ``most`` sentences of each article."""
    starts = sentence_starts(documents["text"])
    table = pl.DataFrame({"row": starts.sources(), "start": starts.targets}).cast({"row": pl.UInt32, "start": pl.Int64})
    table = table.with_columns(following=pl.col("start").shift(-1).over("row"), number=pl.int_range(pl.len()).over("row"))
    table = table.filter(pl.col("number") < most).join(articles.select("row", "text", entity="about"), on="row", maintain_order="left")
    length = pl.col("following").fill_null(1 << 30) - pl.col("start")
    return table.select("row", "entity", "start", "number", text=pl.col("text").str.slice("start", length))


def _after_subject(sentences: pl.DataFrame, names: pa.Table, language: Language) -> pl.DataFrame:
    """The rest of each sentence that begins with the entity's name or, but for an article's first sentence, a pronoun."""
    article = f"(?:(?:{_any_of(language.articles)}) )?" if language.articles else ""
    openings = sentences.with_columns(
        skipped=pl.col("text").str.extract(f"^((?:{language.lead_in})?{article})").str.len_chars().fill_null(0)
    )
    openings = openings.with_columns(rest=pl.col("text").str.slice(pl.col("skipped"), LEAD_IN))
    subject_names = frame(names).select("entity", "name", first=pl.lit(0, pl.Int64))
    # After the first sentence an article may use the last word of a name alone: a family name, or the noun of "Lake Orl".
    short = subject_names.select("entity", name=pl.col("name").str.extract(r"\s(\pL{3,})$"), first=pl.lit(1, pl.Int64)).drop_nulls()
    bearers = openings.select("row", "entity", "start", "number", "rest", "skipped").join(
        pl.concat([subject_names, short]).unique(), on="entity"
    )
    bearers = bearers.filter((pl.col("number") >= pl.col("first")) & pl.col("rest").str.starts_with(pl.col("name")))
    bearers = bearers.filter(~pl.col("rest").str.slice(pl.col("name").str.len_chars(), 1).str.contains(r"^\w"))
    at_name = bearers.group_by("row", "start").agg(named=pl.col("name").str.len_chars().max())
    openings = openings.join(at_name, on=["row", "start"], how="left", maintain_order="left")
    pronoun = (
        pl.col("rest").str.extract(f"^({_any_of(language.pronouns)})\\b").str.len_chars() if language.pronouns else pl.lit(None, pl.UInt32)
    )
    openings = openings.with_columns(pronoun=pronoun)
    # A pronoun is the entity as long as no sentence between has another subject; the first sentence introduces the entity.
    is_pronoun = pl.col("named").is_null() & pl.col("pronoun").is_not_null() & (pl.col("number") > 0)
    own = pl.when(~is_pronoun).then(pl.col("named").is_not_null() | (pl.col("number") == 0))
    openings = openings.with_columns(own=own.forward_fill().over("row", order_by="start"))
    used = pl.when((pl.col("number") > 0) & pl.col("own")).then("pronoun")
    openings = openings.with_columns(skip=pl.col("skipped") + pl.coalesce("named", used)).filter(pl.col("skip") > 0)
    return openings.select("row", "entity", start=pl.col("start") + pl.col("skip"), text=pl.col("text").str.slice("skip"))


def _any_of(words: Iterator[str] | tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _expression(pattern: str, relation: ValueSettings, language: Language) -> tuple[str, str, str]:
    """What precedes the slot, the slot, and what follows it."""
    months = "|".join(f"{month}|{month[:3]}\\.?" for month in language.months)
    slots = {
        "{date}": rf"(?:(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?(?:{months}),? |(?:{months}) \d{{1,2}}(?:st|nd|rd|th)?, ?)?"
        rf"(?:\d{{1,4}} (?:{language.before_era})|\d{{3,4}})\b",
        "{number}": rf"(?:{NUMBER})(?: (?:{_any_of(tuple(language.multiples))}))?",
    }
    words = [word for unit in language.units.values() if unit.measure == relation.measure for word in unit.words]
    slots["{quantity}"] = rf"(?:{NUMBER})(?: (?:{_any_of(tuple(language.multiples))}))?[  -]?(?:{_any_of(tuple(words))})" + (
        r"\b" if words else ""
    )
    slot = next(slot for slot in slots if slot in pattern)
    before, _, after = pattern.partition(slot)
    return before, slots[slot], after


def _places(texts: pl.DataFrame, expression: tuple[str, str, str], relation: str, kind: str) -> pl.DataFrame:
    """``row``, ``entity``, ``relation``, ``kind``, ``start``, ``end``, ``written``, ``rest``: the first place in each text."""
    before, slot, after = expression
    lazy = "" if before.startswith("^") else ".*?"
    whole = _in_ascii(f"(?s)^(?P<kgqa_before>{lazy}(?:{before.removeprefix('^')}))(?P<kgqa_value>{slot})(?:{after})")
    # Counted repetitions make large automata, so a pattern without the counts, which matches more, is searched for first.
    matches = texts.filter(pl.col("text").str.contains(_COUNTS.sub("*", whole)))
    matches = matches.filter(pl.col("text").str.contains(whole))
    groups = matches["text"].str.extract_groups(whole).struct
    begin = pl.col("start") + pl.Series(groups.field("kgqa_before").str.len_chars().cast(pl.Int64))
    matches = matches.with_columns(written=groups.field("kgqa_value"), at=begin)
    return matches.select(
        "row", "entity", relation=pl.lit(relation), kind=pl.lit(kind), start="at", end=pl.col("at") + pl.col("written").str.len_chars(),
        written="written", rest=pl.col("text").str.slice(pl.col("at") - pl.col("start") + pl.col("written").str.len_chars(), LEAD_IN),
    )  # fmt: skip


def _in_ascii(expression: str) -> str:
    """The same with the figures and word boundaries of ASCII, for which the engine has a fast path in any text."""
    for unicode, ascii_ in ((r"\b", r"(?-u:\b)"), (r"\d", "[0-9]"), (r"\D", "[^0-9]")):
        expression = expression.replace(unicode, ascii_)
    return expression


def _of_kinds(places: pl.DataFrame, documents: pa.Table, entities: pa.Table, relations: dict[str, ValueSettings]) -> pl.DataFrame:
    """Without the places in articles about things that have no such relation."""
    kinds_of_relations = {name: relation.of for name, relation in relations.items() if relation.of}
    rows = places.filter(pl.col("relation").is_in(list(kinds_of_relations)))["row"].unique().sort()
    sentences = frame(documents.select(["title", "text", "about"]).take(rows.to_arrow()))
    sentences = sentences.join(frame(entities).select("kind", about="id"), on="about", how="left", maintain_order="left")
    openings = sentences.select("kind", "title", pl.col("text").str.slice(0, OPENING))
    kinds = [[part for kind_words in subject_kinds(*row) for part in kind_words[:2]] for row in openings.iter_rows()]
    classes = (
        pl.DataFrame({"row": rows, "kinds": pl.Series(kinds, dtype=pl.List(pl.String))}).explode("kinds", empty_as_null=False).unique()
    )
    allowed_kinds = pl.DataFrame(
        [(name, kind) for name, of in kinds_of_relations.items() for kind in of], schema=["relation", "kinds"], orient="row"
    )
    fitting = places.join(allowed_kinds, on="relation").join(classes, on=["row", "kinds"], how="semi").drop("kinds").unique()
    return pl.concat([places.filter(~pl.col("relation").is_in(list(kinds_of_relations))), fitting])


def _dates(places: pl.DataFrame, language: Language, drops: dict[str, int]) -> pl.DataFrame:
    """Dates with their numbers. A year without an era before the end of a bracket with one may belong to either, so it is left out."""
    written = pl.col("written")
    short = {month[:3]: number for number, month in enumerate(language.months, start=1)}
    era = f"(?:{language.before_era})"
    month = written.str.extract(f"({'|'.join(short)})")
    day = written.str.extract(r"^(\d{1,2})(?:st|nd|rd|th)? (?:of )?\pL").fill_null(
        written.str.extract(r"\pL\.? (\d{1,2})(?:st|nd|rd|th)?,")
    )
    table = places.with_columns(
        year=written.str.replace(f" {era}$", "").str.extract(r"(\d+)$").cast(pl.Int64),
        month=month.replace_strict(short, default=None, return_dtype=pl.Int64),
        day=pl.when(month.is_not_null()).then(day.cast(pl.Int64)),
        before=written.str.contains(f" {era}$"),
        unclear=pl.col("rest").str.contains(f"^[^)]*\\b{era}"),
    )
    unclear = ~pl.col("before") & pl.col("unclear")
    drops[DROPS["era"]] = table.filter(unclear).height
    lengths = pl.col("month").replace_strict(list(range(1, 13)), [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], default=31)
    wrong = (pl.col("day") > lengths) | (pl.col("day") < 1) | (pl.col("year") < 1)
    drops[DROPS["date"]] = table.filter(~unclear & wrong.fill_null(value=False)).height
    table = table.filter(~unclear & ~wrong.fill_null(value=False))
    parts = [pl.col("year").cast(pl.String).str.zfill(4)]
    parts += [("-" + pl.col(name).cast(pl.String).str.zfill(2)).fill_null("") for name in ("month", "day")]
    precision = pl.when(pl.col("day").is_not_null()).then(DAY).when(pl.col("month").is_not_null()).then(MONTH).otherwise(YEAR)
    table = table.with_columns(
        text=pl.concat_str(pl.when(pl.col("before")).then(pl.lit("-")).otherwise(pl.lit("")), *parts), precision=precision,
        calendar=pl.lit("gregorian"), unit=pl.lit(""),
    )  # fmt: skip
    return with_numbers(table).select("row", *(name for name in SCHEMA if name != "document"))


def _numbers(places: pl.DataFrame, language: Language, drops: dict[str, int]) -> pl.DataFrame:
    table = places.with_columns(
        amount=pl.col("written").str.extract(f"^({NUMBER})"),
        multiple=pl.col("written")
        .str.extract(f" ({_any_of(tuple(language.multiples))})\\b")
        .replace_strict(language.multiples, default=1.0, return_dtype=pl.Float64),
        word=pl.col("written")
        .str.replace(f"^(?:{NUMBER})", "")
        .str.replace(f"^ (?:{_any_of(tuple(language.multiples))})\\b", "")
        .str.strip_chars("  -"),
    )
    is_share = pl.col("rest").str.contains(r"^ ?(?:%|per ?cent)")
    is_year = (pl.col("word") == "") & pl.col("amount").str.contains(A_YEAR) & (pl.col("multiple") == 1)
    drops[DROPS["share"]] = table.filter(is_share).height
    drops[DROPS["year"]] = table.filter(is_year & ~is_share).height
    table = table.filter(~is_year & ~is_share)
    return table.select(
        "row", "entity", "relation", "kind",
        number=pl.col("amount").str.replace_all(",", "").cast(pl.Float64) * pl.col("multiple"),
        text="written", unit=pl.col("word").replace_strict({"": "", **language.symbols}, default=pl.col("word")),
        precision=pl.lit(None, pl.Int32), calendar=pl.lit(""), start="start", end="end",
    )  # fmt: skip
