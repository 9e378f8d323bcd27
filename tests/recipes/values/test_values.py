"""Dates and quantities: read out of articles, taken from a graph, converted, and one for each fact."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pydantic import ValidationError

from kgqa.recipes.values.graph import from_graph
from kgqa.recipes.values.language import language_of
from kgqa.recipes.values.table import SCHEMA, days, one_each
from kgqa.recipes.values.texts import read_texts
from kgqa.settings.values import ValueSettings, ValuesSettings
from kgqa.sources.rows import SCHEMAS

ENGLISH = language_of(ValuesSettings(), "en")


def articles(*texts: tuple[str, str]) -> tuple[pa.Table, pa.Table, pa.Table]:
    """One article for each title and text, their entities, and the titles as names."""
    ids = [f"e{number}" for number in range(len(texts))]
    documents = pa.table(
        {"id": [f"d{id_}" for id_ in ids], "title": [title for title, _ in texts], "about": ids, "text": [text for _, text in texts]}
    )
    entities = pa.table({"id": ids, "kind": ["entity"] * len(ids)})
    return documents, entities, pa.table({"entity": ids, "name": [title for title, _ in texts]})


def read(*texts: tuple[str, str], settings: ValuesSettings | None = None) -> list[tuple[str, str, str]]:
    """Entity, relation and the value as written, of what is read."""
    documents, entities, names = articles(*texts)
    language = ENGLISH if settings is None else language_of(settings, "en")
    values, _ = read_texts(documents, entities, names, language, most=12)
    for document, start, end, written in values.select("document", "start", "end", "text").iter_rows():
        text = documents["text"][documents["id"].to_pylist().index(document)].as_py()
        assert set(written.split("-")[-1].lstrip("0")) <= set(text[start:end]), "the offsets point at the value"
    return list(values.sort("entity", "relation").select("entity", "relation", "text").iter_rows())


def test_values_are_read_out_of_articles() -> None:
    found = read(
        ("Ada Norwell", "Ada Mary Norwell (; September 1, 1862 – 5 August 1914) was an Orlish engineer. She was born in Halden."),
        ("Tom Quill", "Tom Quill was a painter. He was born in Pellworth on 3 May 1901 and painted ships. Quill died in 1970."),
        ("Halden", "Halden is a town in Orlind. It has an area of 4.5 square miles (11.7 km2). In 2010, 12,345 people lived there."),
        ("Glass Run", "Glass Run is a 1994 Orlish film. It was made in 1993."),
        ("Orl", "The Orl (Old Orlish: Örl) is a 120 km long river."),
    )
    assert found == [
        ("e0", "date of birth", "1862-09-01"), ("e0", "date of death", "1914-08-05"), ("e1", "date of birth", "1901-05-03"),
        ("e1", "date of death", "1970"), ("e2", "area", "4.5 square miles"), ("e2", "population", "12,345"),
        ("e3", "release date", "1994"), ("e4", "length", "120 km"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "article", "values"),
    [
        ("museum", "", ["1901"]), ("college", "", ["1901"]), ("village", "", []), ("house", "", []), ("entity", "", []),
        ("entity", "Quay 9 is a museum in Orlind. ", ["1901"]), ("village", "Quay 9 is a museum in Orlind. ", []),
    ],
)  # fmt: skip
def test_the_graph_decides_on_the_kind_and_else_the_article(kind: str, article: str, values: list[str]) -> None:
    documents, entities, names = articles(("Quay 9", f"{article}Quay 9 was founded in 1901."))
    entities = entities.set_column(1, "kind", pa.array([kind]))
    read_values, _ = read_texts(documents, entities, names, ENGLISH, most=12)
    assert read_values["text"].to_list() == values


def test_a_pronoun_is_the_entity_while_no_sentence_has_another_subject() -> None:
    kay = "Kay is a town in Orlind. It is near Mount Orl. Mount Orl is a volcano. It is 3917 m high. Kay is 20 m high. It is old. "
    kay += "It has a population of 900."
    assert read(("Kay", kay)) == [("e0", "height", "20 m"), ("e0", "population", "900")]


def test_what_is_not_clear_is_left_out() -> None:
    documents, entities, names = articles(
        ("Gaius Orl", "Gaius Orl (63–14 BC) was a poet."), ("Livia Orl", "Livia Orl (63 BC – 14 BC) was a poet."),
        ("Wend", "Wend is a village in Orlind. The population is 1995."), ("Rill", "Rill (born 31 April 1950) is a singer."),
        ("Uist", "Uist is an island. The population is about 90% Orlish."),
    )  # fmt: skip
    values, drops = read_texts(documents, entities, names, ENGLISH, most=12)
    assert values.select("entity", "relation", "text").rows() == [
        ("e0", "date of death", "-0014"), ("e1", "date of birth", "-0063"), ("e1", "date of death", "-0014")
    ]  # fmt: skip
    assert {reason: count for reason, count in drops.items() if count} == {
        "no such date exists": 1, "a plain number without a comma may be a year": 1, "a number is a percentage": 1
    }  # fmt: skip
    assert (values["number"] < 0).all()


def test_a_users_pattern_is_data() -> None:
    depth = ValueSettings(kind="quantity", measure="length", subject=("^ is (?:up to )?{quantity} deep",))
    assert read(("Lake Orl", "Lake Orl is a lake. It is up to 48 m deep."), settings=ValuesSettings(relations={"depth": depth})) == [
        ("e0", "depth", "48 m")
    ]
    for wrong in ("^ is deep", "{number} and {number}", "(^ is {quantity}", "{date}"):
        with pytest.raises(ValidationError):
            ValueSettings(kind="quantity", measure="length", subject=(wrong,))


def test_values_of_a_graph_find_the_place_that_states_them() -> None:
    rows = [
        ("e0", "P569", "time", "1912-06-23", "", 11, "gregorian", "", ""), ("e0", "P570", "time", "-0044-03-15", "", 11, "julian", "", ""),
        ("e0", "P2048", "quantity", "1.85", "Q11573", None, "", "", ""), ("e0", "P1082", "quantity", "12345", "", None, "", "", ""),
        ("e0", "P625", "coordinate", "1,2", "", None, "", "", ""),
    ]  # fmt: skip
    source = pa.Table.from_pylist([dict(zip(SCHEMAS["values"].names, row, strict=True)) for row in rows], schema=SCHEMAS["values"])
    documents, _, _ = articles(("Ada", "Ada (born June 23, 1912; 12,345.5) was 1.85 m tall. É 12,345."))
    values, drops = from_graph(source, documents, ENGLISH)
    text = documents["text"][0].as_py()
    found = {row["relation"]: row for row in values.iter_rows(named=True)}
    assert set(found) == {"date of birth", "date of death", "height", "population"}
    assert {name: text[row["start"] : row["end"]] for name, row in found.items() if row["document"]} == {
        "date of birth": "June 23, 1912", "height": "1.85", "population": "12,345"
    }  # fmt: skip
    assert found["population"]["start"] == text.index("É 12,345.") + 2
    assert found["height"]["unit"] == "m"
    assert found["date of birth"]["number"] == 698152
    assert drops["a value is a place on a globe or a text"] == 1
    gregorian = days(*(np.array([part]) for part in (-44, 3, 13)))
    assert found["date of death"]["number"] == gregorian[0]  # the Ides of March were 13 March in the Gregorian calendar


def test_one_value_for_each_fact() -> None:
    def value(entity: str, kind: str, number: float, *, unit: str = "", precision: int | None = None) -> dict[str, object]:
        row = dict.fromkeys(SCHEMA) | {"entity": entity, "relation": "r", "kind": kind, "number": number, "text": str(number), "unit": unit}
        return row | {"precision": precision, "calendar": "gregorian"}

    table = pl.DataFrame(
        [
            value("agree", "time", 698152.0, precision=11), value("agree", "time", 697978.0, precision=9),
            value("differ", "time", 698152.0, precision=11), value("differ", "time", 700000.0, precision=9),
            value("rounded", "quantity", 4.5, unit="sq mi"), value("rounded", "quantity", 11.7, unit="km²"),
            value("strange", "quantity", 4.5, unit="furlong"), value("coarse", "time", 1.0, precision=7),
        ],
        schema=SCHEMA,
    )  # fmt: skip
    kept, drops = one_each(table, ENGLISH.factors)
    assert sorted(zip(kept["entity"], kept["number"], strict=True)) == [("agree", 698152.0), ("rounded", 11.7)]
    assert list(drops.values()) == [1, 1, 1]
