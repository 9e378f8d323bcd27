"""Values of the graph, as an import wrote them, and where articles state them."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from kgqa.recipes.values.language import Language
from kgqa.recipes.values.table import DAY, MONTH, SCHEMA, YEAR, with_numbers
from kgqa.sources.tables import frame

DROPS = {"kind": "a value is a place on a globe or a text", "number": "a date or number cannot be read"}


def from_graph(source: pa.Table, documents: pa.Table, language: Language) -> tuple[pl.DataFrame, dict[str, int]]:
    """Values (``table.SCHEMA``) of the graph, and sentence → how many were left out.

    ``source``: the table ``values`` of an import (:mod:`kgqa.sources.rows`). A value has a document where the article about its entity has
    the date, or the number, in one of the usual spellings.
    """
    rows = frame(source)
    value_facts = rows.filter(pl.col("kind").is_in(["time", "quantity"]))
    drops = {DROPS["kind"]: rows.height - value_facts.height}
    value_facts = value_facts.select(
        "kind", "precision", "calendar", entity="head", relation=pl.col("relation").replace(language.names), text="value",
        unit=pl.when(pl.col("kind") == "time").then(pl.lit("")).otherwise(pl.col("unit").replace(language.symbols)),
    )  # fmt: skip
    dates = with_numbers(value_facts.filter(pl.col("kind") == "time"))
    numbers = value_facts.filter(pl.col("kind") == "quantity").with_columns(number=pl.col("text").cast(pl.Float64, strict=False))
    values = pl.concat([dates, numbers.with_columns(precision=pl.lit(None, pl.Int32), calendar=pl.lit(""))])
    readable = values.filter(pl.col("number").is_finite())
    drops[DROPS["number"]] = values.height - readable.height
    located = _located(readable, documents, language)
    return located.select(pl.col(column).cast(kind) for column, kind in SCHEMA.items()), drops


def _located(values: pl.DataFrame, documents: pa.Table, language: Language) -> pl.DataFrame:
    """Adds ``document``, ``start`` and ``end``: the first place in the article with the first spelling that it has."""
    articles = frame(documents).filter(pl.col("about").is_not_null()).select(document="id", entity="about", article="text")
    table = values.with_row_index("row").join(articles, on="entity", how="left", maintain_order="left")
    year, month, day = (
        table["text"].str.extract(r"^-?(\d+)(?:-(\d+))?(?:-(\d+))?", group).cast(pl.Int64, strict=False) for group in (1, 2, 3)
    )
    name = month.replace_strict(dict(enumerate(language.months, start=1)), default=None, return_dtype=pl.String)
    number = table["number"].cast(pl.Int64, strict=False).cast(pl.String)
    commas = number.str.reverse().str.replace_all(r"(\d{3})", "$1,").str.strip_chars(",").str.reverse()
    table = table.with_columns(year=year, name=name, day=day, whole=number, commas=commas)
    table = table.with_columns(era=pl.when(pl.col("text").str.starts_with("-")).then(pl.lit(" BC")).otherwise(pl.lit("")))
    is_time, precision = pl.col("kind") == "time", pl.col("precision")
    written_year = pl.col("year").cast(pl.String) + pl.col("era")
    plain = pl.col("number") == pl.col("number").floor()
    spellings = [
        pl.when(is_time & (precision == DAY)).then(pl.format("{} {} {}", "day", "name", written_year))
        .when(is_time & (precision == MONTH)).then(pl.format("{} {}", "name", written_year))
        .when(is_time & (precision == YEAR)).then(written_year)
        .when(~is_time & plain & (pl.col("number") >= 1000)).then(pl.col("commas")),
        pl.when(is_time & (precision == DAY)).then(pl.format("{} {}, {}", "name", "day", written_year))
        .when(~is_time & plain & (pl.col("number") >= 100)).then(pl.col("whole"))
        .when(~is_time & ~plain).then(pl.col("text")),
    ]  # fmt: skip
    for number_, spelling in enumerate(spellings):
        table = table.with_columns(spelling.alias(f"spelling_{number_}"))
        # Word boundaries, so that 1912 is not found in 11,912. The spelling has letters, figures, commas, points and spaces alone.
        table = table.with_columns(_place(f"spelling_{number_}").alias(f"at_{number_}"))
    best_spelling = pl.when(pl.col("at_0").is_not_null()).then("spelling_0").otherwise("spelling_1")
    table = table.with_columns(start=pl.coalesce("at_0", "at_1"), spelled=best_spelling)
    is_stated = pl.col("start").is_not_null()
    return table.sort("row").with_columns(
        document=pl.when(is_stated).then("document"), end=pl.when(is_stated).then(pl.col("start") + pl.col("spelled").str.len_chars())
    )


def _place(spelling: str) -> pl.Expr:
    """Where the article has the spelling as whole words, in characters; null where it does not."""
    byte = pl.col("article").str.find(
        r"(?:^|[^\w,.])" + pl.col(spelling).str.replace_all(".", r"\.", literal=True) + r"(?:$|[^\w,.]|[,.](?:\D|$))", strict=False
    )
    before = pl.col("article").cast(pl.Binary).bin.slice(0, byte).cast(pl.String).str.len_chars().cast(pl.Int64)
    # The match begins with the character before the spelling, but for a text's first.
    return pl.when(byte.is_not_null()).then(before + pl.when(pl.col("article").str.starts_with(pl.col(spelling))).then(0).otherwise(1))
