"""The table ``values``: facts whose objects are dates or quantities.

===========  ==========================================================================================================================
entity       id of the subject
relation     name of the relation in the settings (``date of birth``), else its id in the graph
kind         ``time`` or ``quantity``
number       float64. A quantity in its ``unit``; a date in days, 1 for 1 January of the year 1 (proleptic Gregorian, as Python's ordinals),
             negative before the common era. Where month or day is unknown, the first day that it can be. All integers, so exact
text         the value as written: a date in ISO 8601 (``1912-06-23``, ``1912``; ``-0044`` is 44 BC), a quantity as the source spells it
unit         symbol of the unit; empty for dates and plain numbers. An id that the settings do not know stays as it is
precision    of a date: 11 day, 10 month, 9 year, less: coarser; null for quantities
calendar     ``gregorian`` or ``julian``, the calendar of ``text``; empty for quantities. ``number`` is converted
document     a document that states the value, else null
start, end   where it does, in characters of the document's text, else null
===========  ==========================================================================================================================

Sorted by entity, relation, document, start, text. An entity may have several values of a relation (:func:`one_each`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

SCHEMA = {
    "entity": pl.String, "relation": pl.String, "kind": pl.String, "number": pl.Float64, "text": pl.String, "unit": pl.String,
    "precision": pl.Int32, "calendar": pl.String, "document": pl.String, "start": pl.Int64, "end": pl.Int64,
}  # fmt: skip
DAY, MONTH, YEAR = 11, 10, 9
LENGTHS = {DAY: 0, MONTH: 30, YEAR: 365}
"""Precision → how many days after the first the last day can be."""
SAME = 0.02
"""Relative difference up to which two quantities are one that is rounded differently."""


def days(
    year: npt.NDArray[np.int64], month: npt.NDArray[np.int64], day: npt.NDArray[np.int64], *, julian: bool = False
) -> npt.NDArray[np.int64]:
    """Ordinals of dates, vectorised; years without a year 0: -44 is 44 BC.

    >>> [int(days(*(np.array([part]) for part in date))[0]) for date in ((1, 1, 1), (1970, 1, 1), (-1, 12, 31))]
    [1, 719163, 0]
    """
    # Years begin in March, so that a leap day is the last day of its year.
    shifted = np.where(year < 0, year + 1, year) - (month <= 2)
    in_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    whole = 365 * shifted + shifted // 4
    return whole + in_year - 307 if julian else whole - shifted // 100 + shifted // 400 + in_year - 305


def with_numbers(dates: pl.DataFrame) -> pl.DataFrame:
    """Sets ``number`` from ``text`` and ``calendar`` of dates; null where ``text`` is no date."""
    parts = dates["text"].str.extract_groups(r"^(-?\d+)(?:-(\d+))?(?:-(\d+))?").struct.unnest()
    year, month, day = (parts[name].cast(pl.Int64, strict=False) for name in parts.columns)
    is_date = (year.is_not_null() & (year != 0)).to_numpy()
    numbers = [column.fill_null(1).clip(lower_bound=least).to_numpy() for column, least in ((year, None), (month, 1), (day, 1))]
    day_numbers = np.where((dates["calendar"] == "julian").to_numpy(), days(*numbers, julian=True), days(*numbers))
    column = pl.Series(day_numbers.astype(np.float64))
    return dates.with_columns(number=pl.when(pl.Series(is_date)).then(column))


def last_day() -> pl.Expr:
    """The last day that a date with this ``number`` and ``precision`` can be; null where it is coarser than a year."""
    return pl.col("number") + pl.col("precision").replace_strict(list(LENGTHS), list(LENGTHS.values()), default=None, return_dtype=pl.Int64)


def one_each(values: pl.DataFrame, factors: dict[str, float]) -> tuple[pl.DataFrame, dict[str, int]]:
    """One value for each entity and relation, and what was dropped. Of dates that agree it is the most precise, of quantities the first.

    Prefers values that a document states. ``factors``: unit → base units. The drops are sentences with the number of facts.
    """
    keys = ["entity", "relation"]
    spans = values.with_columns(
        last=pl.when(pl.col("kind") == "time").then(last_day()),
        base=pl.when(pl.col("kind") == "quantity").then(
            pl.col("number") * pl.col("unit").replace_strict(factors, default=None, return_dtype=pl.Float64)
        ),
    )
    coarse = (pl.col("kind") == "time") & pl.col("last").is_null()
    odd = (pl.col("kind") == "quantity") & pl.col("base").is_null()
    drops = {
        "a date is not known to the year": spans.filter(coarse).height,
        "the unit of a quantity is not known, so it cannot be converted": spans.filter(odd).height,
    }
    spans = spans.filter(~coarse & ~odd)
    agrees = (
        pl.when(pl.col("kind").first() == "time")
        .then(pl.col("number").max() <= pl.col("last").min())
        .otherwise(pl.col("base").max() - pl.col("base").min() <= SAME * pl.col("base").abs().max())
    )
    spans = spans.with_columns(agrees=agrees.over(keys))
    drops["several values of one fact differ"] = spans.filter(~pl.col("agrees")).select(keys).n_unique()
    order = [*keys, pl.col("document").is_null(), pl.col("precision").fill_null(0) * -1, "document", "start", "text"]
    most_precise = spans.filter("agrees").sort(order).unique(keys, keep="first", maintain_order=True)
    return most_precise.drop("agrees"), drops
