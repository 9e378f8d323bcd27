"""Rows of RDF statements, column by column (:mod:`kgqa.sources.graphs.statements`)."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from kgqa.sources.graphs.literals import TEXTS, value_of_literal
from kgqa.sources.graphs.rdf_settings import RdfSettings
from kgqa.sources.graphs.vocabulary import ANY, PROPERTIES, SYMMETRIC, TYPE
from kgqa.sources.graphs.words import entity_words, local_part, nfc, relation_words
from kgqa.sources.rows import Rows


class RdfRows:
    """The statements of one piece on their way to rows. An IRI becomes an id at the very end."""

    def __init__(self, options: RdfSettings, rows: Rows) -> None:
        """``options`` selects what becomes ``rows``."""
        self.options, self.rows = options, rows
        self.no_language = 2 * len(options.languages)
        self.spaces = sorted(options.prefixes.items(), key=lambda pair: (-len(pair[1]), pair))

    def read(self, statements: pl.DataFrame) -> None:
        """Make rows of all statements."""
        options = self.options
        parts = statements.with_columns(what=self.what()).partition_by("what", as_dict=True, include_key=False)
        declarations, unwanted, facts, literals, names, kinds = (
            parts.get((name,), statements.clear()) for name in ("declaration", "unwanted", "fact", "literal", "name", "kind")
        )
        self.skip("statement of a relation that is not wanted", unwanted, "property")
        declared = declarations["head"].unique(maintain_order=True)
        if declared.len():
            (about, facts), (more, literals) = (_split(table, pl.col("head").is_in(declared.implode())) for table in (facts, literals))
            self.skip("statement about a relation", pl.concat([about, more]), "head")
        ids = facts.select(self.id("head"), relation=self.id("property"), tail=self.id("tail"))
        self.rows.batch("facts", ids.to_arrow())
        values = self.values(literals)
        labels, aliases, descriptions = self.names(names)
        kind = self.kinds(kinds)
        subjects = [
            facts["head"],
            facts["tail"].rename("head"),
            *(table["head"] for table in (values, labels, aliases, descriptions, kind)),
        ]
        entities = _without(pl.concat(subjects).unique(maintain_order=True).to_frame(), declared)
        self.entities(entities, labels, descriptions, kind)
        properties = [facts["property"], values["property"], declared.rename("property")]
        symmetric = (
            {*options.symmetric, *declarations.filter(pl.col("tail") == SYMMETRIC)["head"]} if declared.len() else set(options.symmetric)
        )
        self.relations(pl.concat(properties).unique(maintain_order=True).to_frame(), labels, symmetric)
        for table, source in ((labels, "label"), (aliases, "alias")):
            if table.height:
                name_rows = _without(table, declared).select(entity=self.id("head"), name="text", source=pl.lit(source))
                self.rows.batch("names", name_rows.to_arrow())

    def what(self) -> pl.Expr:
        """What a statement is: ``declaration`` of a relation, ``kind``, ``name``, ``unwanted``, ``fact`` or ``literal``."""
        options, is_iri, property_ = self.options, pl.col("tail").is_not_null(), pl.col("property")
        naming = [*options.labels, *options.aliases, *options.descriptions]
        cases = [("declaration", is_iri & (property_ == TYPE) & pl.col("tail").is_in(list(PROPERTIES)))]
        if options.kinds:
            cases.append(("kind", is_iri & (property_ == options.kind)))
        cases.append(("name", ~is_iri & property_.is_in(naming)))
        if options.without:
            cases.append(("unwanted", property_.is_in(list(options.without))))
        if options.only:
            cases.append(("unwanted", ~property_.is_in(list(options.only))))
        cases += [("fact", is_iri), ("literal", ~is_iri)]
        return pl.coalesce([pl.when(condition).then(pl.lit(name)) for name, condition in cases])

    def skip(self, reason: str, left: pl.DataFrame, column: str) -> None:
        """Count statements that are left out."""
        if left.height:
            self.rows.skip(reason, left[column][0], left.height)

    def id(self, column: str) -> pl.Expr:
        """The ids of IRIs: themselves, or shortened by the longest prefix that fits."""
        iri = pl.col(column)
        short_id = iri
        for prefix, space in reversed(self.spaces):
            short = pl.lit(f"{prefix}:" if prefix else "") + iri.str.strip_prefix(space)
            short_id = pl.when(iri.str.starts_with(space) & (iri != space)).then(short).otherwise(short_id)
        return short_id.alias(column)

    def rank(self, languages: pl.Series) -> pl.Series:
        """How good languages are, 0 the best: en-GB comes after en, no language after all that are wanted, then any other."""
        preferences = list(enumerate(map(str.lower, self.options.languages)))

        def rank(language: str) -> int:
            fits = (2 * place + (language != name) for place, name in preferences if language == name or language.startswith(f"{name}-"))
            return min(fits, default=self.no_language + 1) if language else self.no_language

        language_tags = languages.fill_null("")
        tags = language_tags.unique().to_list()
        return language_tags.replace_strict(tags, [rank(language) for language in tags]).cast(pl.Int32).rename("rank")

    def names(self, names: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Labels, aliases and descriptions (columns head, text): one label and description each, all other names are aliases."""
        options, is_wanted = self.options, pl.col("rank") <= self.no_language
        if not names.height:
            return (names.select("head", "text"),) * 3
        names = names.with_columns(self.rank(names["language"]), text=clean("text"))
        empty, names = _split(names, pl.col("text") == "")
        self.skip("empty name", empty, "head")
        labels, descriptions = (self.best(names, properties) for properties in (options.labels, options.descriptions))
        other_names = names.filter(pl.col("property").is_in(list(options.labels))).join(labels, on=["head", "text"], how="anti")
        parts = []
        for source, table in (("label", other_names), ("alias", names.filter(pl.col("property").is_in(list(options.aliases))))):
            if table.height:
                wanted_rows, skipped_rows = _split(table, is_wanted)
                self.skip(f"{source} in another language", skipped_rows, "head")
                parts.append(wanted_rows)
        return labels, pl.concat([names.clear(), *parts]).select("head", "text"), descriptions

    def best(self, names: pl.DataFrame, properties: tuple[str, ...]) -> pl.DataFrame:
        """The text of each head in the best language, of the best property."""
        ranked_rows = names.filter(pl.col("property").is_in(list(properties)))
        if not ranked_rows.height:
            return ranked_rows.select("head", "text")
        if not self.options.fall_back:
            ranked_rows = ranked_rows.filter(pl.col("rank") <= self.no_language)
        place = pl.col("property").replace_strict(list(properties), list(range(len(properties)))).cast(pl.Int32)
        return ranked_rows.sort("head", "rank", place, "text").unique("head", keep="first", maintain_order=True).select("head", "text")

    def kinds(self, kinds: pl.DataFrame) -> pl.DataFrame:
        """The kind of each head (columns head, kind): of its classes the one that comes first among those that are wanted."""
        if not kinds.height:
            return kinds.select("head", kind="tail")
        wanted_kinds = list(self.options.kinds)
        place = pl.col("tail").replace_strict(
            wanted_kinds, list(range(len(wanted_kinds))), default=wanted_kinds.index(ANY) if ANY in wanted_kinds else None
        )
        kinds = kinds.with_columns(place=place.cast(pl.Int32))
        skipped_rows, kinds = _split(kinds, pl.col("place").is_null())
        self.skip("kind that is not wanted", skipped_rows, "tail")
        first = kinds.sort("head", "place", "tail").unique("head", keep="first", maintain_order=True)
        return first.select("head", kind=_mapped(first["tail"], local_part))

    def entities(self, entities: pl.DataFrame, labels: pl.DataFrame, descriptions: pl.DataFrame, kinds: pl.DataFrame) -> None:
        """Rows of the entities (column head)."""
        for table, name in (
            (labels.rename({"text": "label"}), "label"),
            (descriptions.rename({"text": "description"}), "description"),
            (kinds, "kind"),
        ):
            if table.height:
                entities = entities.join(table, on="head", how="left", maintain_order="left")
            else:
                entities = entities.with_columns(pl.lit(None, pl.String).alias(name))
        columns = [pl.col("kind").fill_null("entity"), pl.col("label").fill_null(""), pl.col("description").fill_null("")]
        self.rows.batch("entities", entities.select(self.id("head").alias("id"), *columns).to_arrow())
        if self.options.label_from_id:
            bare = entities.filter(pl.col("label").is_null())
            self.rows.batch(
                "names",
                bare.select(
                    entity=self.id("head"), name=_mapped(bare["head"], lambda iri: nfc(entity_words(iri))), source=pl.lit("id")
                ).to_arrow(),
            )

    def relations(self, relations: pl.DataFrame, labels: pl.DataFrame, symmetric: set[str]) -> None:
        """Rows of the relations (column property)."""
        relations = relations.join(labels, left_on="property", right_on="head", how="left", maintain_order="left")
        for iri, label in relations.iter_rows():
            id_ = self.short(iri)
            self.rows.relation(id_, label or "", symmetric=iri in symmetric)
            if not label and self.options.label_from_id:
                self.rows.name(id_, nfc(relation_words(iri)), "id")

    def values(self, literals: pl.DataFrame) -> pl.DataFrame:
        """Rows of the literals; those that became values (columns head, property)."""
        if not literals.height:
            return literals.select("head", "property")
        literals = literals.with_columns(self.rank(literals["language"]))
        is_text = pl.col("datatype").is_null() | pl.col("datatype").is_in(list(TEXTS))
        texts, other_literals = _split(literals, is_text)
        skipped_rows, texts = _split(texts, pl.col("rank") > self.no_language)
        self.skip("text in another language", skipped_rows, "head")
        texts = texts.with_columns(kind=pl.lit("text"), value=clean("text"), unit=pl.col("language").fill_null(""))
        texts = texts.with_columns(
            value=pl.when(pl.col("value") != "").then("value"), precision=pl.lit(None, pl.Int32), calendar=pl.lit("")
        )
        unlike = other_literals.select("text", "datatype").unique(maintain_order=True)
        parsed_values = [value_of_literal(text, datatype, self.short) or {} for text, datatype in unlike.iter_rows()]
        columns = {
            "kind": [row.get("kind") for row in parsed_values],
            "value": [row.get("value") for row in parsed_values],
            "unit": [row.get("unit", "") for row in parsed_values],
            "precision": [row.get("precision") for row in parsed_values],
            "calendar": [row.get("calendar", "") for row in parsed_values],
        }
        schema = {"kind": pl.String, "value": pl.String, "unit": pl.String, "precision": pl.Int32, "calendar": pl.String}
        unlike = pl.concat([unlike, pl.DataFrame(columns, schema=schema)], how="horizontal")
        other_literals = other_literals.join(unlike, on=["text", "datatype"], how="left", maintain_order="left")
        skipped_rows, values = _split(pl.concat([texts, other_literals.select(texts.columns)]), pl.col("value").is_null())
        self.skip("literal that does not fit its datatype", skipped_rows, "head")
        value_columns = values.select(
            self.id("head"),
            "kind",
            "value",
            "unit",
            "precision",
            "calendar",
            relation=self.id("property"),
            lower=pl.lit(""),
            upper=pl.lit(""),
        )
        self.rows.batch("values", value_columns.to_arrow())
        return values.select("head", "property")

    def short(self, iri: str) -> str:
        """The id of one IRI."""
        for prefix, space in self.spaces:
            if iri.startswith(space) and iri != space:
                return (f"{prefix}:" if prefix else "") + iri[len(space) :]
        return iri


def clean(column: str) -> pl.Expr:
    """NFC, without white space around."""
    return pl.col(column).str.normalize("NFC").str.strip_chars()


def _without(table: pl.DataFrame, heads: pl.Series) -> pl.DataFrame:
    """The rows with other heads."""
    return table.filter(~pl.col("head").is_in(heads.implode())) if heads.len() else table


def _split(table: pl.DataFrame, condition: pl.Expr) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows for which the condition is true, and the others."""
    return table.filter(condition), table.filter(~condition)


def _mapped(texts: pl.Series, function: Callable[[str], str]) -> pl.Series:
    return pl.Series([function(text) for text in texts.to_list()], dtype=pl.String)
