"""Tables of edges, nodes and relations: comma- or tab-separated files with any columns in any order.

A column is given by its name in the header or by its number from 1. A file whose columns are separated by commas is read as Python's
``csv`` reads it (a cell in quotation marks may hold the separator, line feeds and doubled quotation marks); in one with tabs a quotation
mark is a character like any other.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Literal

import polars as pl
import pyarrow as pa
import pyarrow.csv
from pydantic import Field

from kgqa.errors import BrokenInput, MissingInput, shortened, suggestion
from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.graphs.cutting import first_bytes, record_pieces
from kgqa.sources.graphs.quoted_rows import last_row_end, open_quote
from kgqa.sources.graphs.words import entity_words, relation_words
from kgqa.sources.rows import SCHEMAS, Rows
from kgqa.sources.streams import line_pieces, unpacked_name
from kgqa.sources.tables import frame, normalised

Column = str | int
"""Name of a column, or its number from 1 (also as text, where no column has that name); empty: there is none."""
ValueKind = Literal["time", "quantity", "coordinate", "text"]
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
ENOUGH_ROWS = 1_000
"""Rows from which a piece after the first shows what share of a file is ragged."""


class DelimitedTable(Settings):
    """What edges, nodes and relations have in common: the form of the file."""

    delimiter: str = Field(default="", max_length=1)
    """Character between two cells; empty: a comma for ``.csv``, a tab for ``.tsv``, ``.tab`` and ``.txt``."""
    header: bool = True
    """Whether the first line has the column names; otherwise columns are given by number."""
    quoting: Literal["auto", "yes", "no"] = "auto"
    """Whether cells may be in quotation marks; auto: only if the cells are not separated by tabs."""
    label_from_id: bool = True
    """Derive missing labels from the id: the local part of an IRI, with spaces for underscores."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The rows after the header. Raises MissingInput for a column that the file does not have."""
        head = first_bytes(text).partition(b"\n")[0] + b"\n"
        names = self._names(text.name, head)
        self._places(text.name, names)
        delimiter = self._delimiter(text.name)
        if self._quoting(text.name):
            whole = record_pieces(text, lambda data: last_row_end(data, delimiter), start, record="quoted cell")
        else:
            whole = line_pieces(text, start)
        for piece in whole:
            if piece.position < start:
                continue
            skip_bytes = len(head) if self.header and not piece.position else 0
            if len(piece.data) > skip_bytes:
                yield Piece(piece.file, piece.position + skip_bytes, piece.line + bool(skip_bytes), piece.data[skip_bytes:], head)

    def parse(self, piece: Piece) -> Rows:
        """Rows of a piece. BrokenInput where it is not UTF-8, or where more than half of its rows are ragged."""
        rows = Rows()
        names = self._names(piece.file, piece.head)
        places = self._places(piece.file, names)
        table = self._table(piece, len(names), sorted({place for place in places.values() if place >= 0}), rows)
        if table is not None:
            self._fill(rows, {field: table[f"{place}"] for field, place in places.items() if place >= 0}, piece)
        return rows

    def _columns(self) -> dict[str, Column]:
        """Field of the table → the column that the user gave."""
        raise NotImplementedError

    def _fill(self, rows: Rows, columns: dict[str, pl.Series], piece: Piece) -> None:
        """Make rows of the columns."""
        raise NotImplementedError

    def _delimiter(self, file: str) -> str:
        if self.delimiter:
            return self.delimiter
        name = unpacked_name(file.lower())
        ending = name[name.rfind(".") :] if "." in name else ""
        if ending not in DELIMITERS:
            raise MissingInput(
                f"{file}: the file extension does not determine the delimiter (the known ones are {', '.join(DELIMITERS)}); give the "
                "delimiter."
            )
        return DELIMITERS[ending]

    def _quoting(self, file: str) -> bool:
        return self._delimiter(file) != "\t" if self.quoting == "auto" else self.quoting == "yes"

    def _names(self, file: str, head: bytes) -> list[str]:
        """Names of the columns; numbers as text where the file has no header."""
        delimiter = self._delimiter(file)
        try:
            line = head.decode().removeprefix("\ufeff").rstrip("\r\n")
        except UnicodeDecodeError:
            raise _no_utf8(file, 1) from None
        if "\r" in line:
            raise BrokenInput(f"{file}, line 1: its lines end in carriage returns only; save the file with line feeds.")
        csv.field_size_limit(max(csv.field_size_limit(), len(line)))
        cells = next(csv.reader([line], delimiter=delimiter), []) if self._quoting(file) else line.split(delimiter)
        return [cell.strip() for cell in cells] if self.header else [str(number) for number in range(1, len(cells) + 1)]

    def _places(self, file: str, names: list[str]) -> dict[str, int]:
        """Field → place of its column from 0, or -1 where the user gave none."""
        return {field: _place(file, names, field, column, header=self.header) for field, column in self._columns().items()}

    def _table(self, piece: Piece, width: int, column_numbers: list[int], rows: Rows) -> pl.DataFrame | None:
        """The wanted columns, by their place as text."""
        data, ragged = piece.data, []
        if not data.strip():
            return None
        quoting, delimiter = self._quoting(piece.file), self._delimiter(piece.file)

        def skip_ragged(row: pyarrow.csv.InvalidRow) -> str:
            ragged.append((row.number, row.actual_columns))
            return "skip"

        if quoting and (open_at := open_quote(data, delimiter)) >= 0:
            raise BrokenInput(
                f"{piece.file}, line {_line(piece, open_at)}: the quotation mark of a cell is not closed; close it, or set quoting to no."
            )
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(data),
                read_options=pyarrow.csv.ReadOptions(
                    column_names=[str(place) for place in range(width)], use_threads=False, block_size=max(len(data), 1)
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=delimiter, quote_char='"' if quoting else False, newlines_in_values=quoting, invalid_row_handler=skip_ragged
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types={str(place): pa.string() for place in column_numbers},
                    include_columns=[str(place) for place in column_numbers],
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            try:
                data.decode()
            except UnicodeDecodeError as fault:
                raise _no_utf8(piece.file, _line(piece, fault.start)) from None
            raise BrokenInput(f"{piece.file}, line {piece.line}: the rows from here on cannot be read ({error}).") from None
        if ragged:
            self._count_ragged(piece, ragged, table.num_rows, width, rows)
        return frame(pa.table({name: normalised(table[name]) for name in table.column_names}))

    def _count_ragged(self, piece: Piece, ragged: list[tuple[int, int]], whole: int, width: int, rows: Rows) -> None:
        """Skip the ragged rows; BrokenInput where they are more than half."""
        number, cells = ragged[0]
        where = f"{piece.file}, line {self._line_of_row(piece, number)}"
        is_first = piece.line <= 2
        if len(ragged) > whole and (is_first or len(ragged) + whole >= ENOUGH_ROWS):
            raise BrokenInput(
                f"{where}: {cells} cells where the first line has {width}, as in more than half of the rows; check delimiter and quoting."
            )
        rows.skip("row with more or fewer cells than the first line", where, len(ragged))

    def _line_of_row(self, piece: Piece, number: int) -> int:
        """Line of a row of a piece, which counts from 1 and leaves out empty lines."""
        text = io.StringIO(piece.data.decode(errors="replace"), newline="")
        if not self._quoting(piece.file):
            for line, content in enumerate(text, start=piece.line):
                number -= bool(content.strip("\r\n"))
                if not number:
                    return line
            return piece.line
        csv.field_size_limit(max(csv.field_size_limit(), len(piece.data)))
        reader, line = csv.reader(text, delimiter=self._delimiter(piece.file)), piece.line
        for row in reader:
            number -= bool(row)
            if not number:
                break
            line = piece.line + reader.line_num
        return line


class Edges(DelimitedTable):
    """A table of edges, one a row."""

    head: Column = "head"
    """Column of the first entity's id."""
    relation: Column = "relation"
    """Column of the relation's id."""
    tail: Column = "tail"
    """Column of the second entity's id."""
    only_relation: str = ""
    """Relation of all rows, for a file without a relation column."""
    head_label: Column = ""
    """Column of the first entity's label."""
    tail_label: Column = ""
    """Column of the second entity's label."""
    relation_label: Column = ""
    """Column of the relation's label."""
    head_kind: Column = ""
    """Column of the first entity's kind."""
    tail_kind: Column = ""
    """Column of the second entity's kind."""
    kind: str = "entity"
    """Kind of entities for which no column gives one."""
    symmetric: tuple[str, ...] = ()
    """Relations in which (a, r, b) means the same as (b, r, a)."""
    values: Mapping[str, ValueKind] = Field(default={})
    """Relation → kind of value, for relations whose second column is a value instead of an entity."""

    def _columns(self) -> dict[str, Column]:
        fields = ("head", "relation", "tail", "head_label", "tail_label", "relation_label", "head_kind", "tail_kind")
        columns: dict[str, Column] = {field: getattr(self, field) for field in fields}
        if self.only_relation:
            columns["relation"] = ""
        return columns

    def _fill(self, rows: Rows, columns: dict[str, pl.Series], piece: Piece) -> None:
        edges = pl.DataFrame(columns)
        if self.only_relation:
            edges = edges.with_columns(relation=pl.lit(self.only_relation))
        is_value = pl.col("relation").is_in(list(self.values))
        valued = edges.filter(is_value & (pl.col("head") != "") & (pl.col("tail") != ""))
        for head, relation, tail in valued.select("head", "relation", "tail").iter_rows():
            rows.value(head, relation, self.values[relation], tail)
        add_relations(rows, _relations(valued), self.symmetric, label_from_id=self.label_from_id)
        add_entities(rows, _side(valued, "head", self.kind), label_from_id=self.label_from_id)
        facts, where = edges.filter(~is_value), f"{piece.file}, from line {piece.line}"
        add_edges(rows, facts, where, kind=self.kind, symmetric=self.symmetric, label_from_id=self.label_from_id)


class Nodes(DelimitedTable):
    """A table of entities, one a row."""

    id: Column = "id"
    """Column of the entity's id."""
    label: Column = ""
    """Column of the entity's label."""
    kind_column: Column = ""
    """Column of the entity's kind."""
    description: Column = ""
    """Column of the entity's description."""
    aliases: tuple[Column, ...] = ()
    """Columns of the entity's additional names."""
    separator: str = "|"
    """Separator between several names in one cell; empty: a cell has one name."""
    kind: str = "entity"
    """Kind of entities for which no column gives one."""
    values: Mapping[str, ValueKind] = Field(default={})
    """Column name, or its number as text → kind of value. The column becomes a relation from the entity to that value."""

    def _columns(self) -> dict[str, Column]:
        columns = {"id": self.id, "label": self.label, "kind": self.kind_column, "description": self.description}
        columns |= {f"alias {number}": column for number, column in enumerate(self.aliases)}
        return columns | {f"value {name}": name for name in self.values}

    def _fill(self, rows: Rows, columns: dict[str, pl.Series], piece: Piece) -> None:
        nodes = pl.DataFrame(columns)
        whole = nodes.filter(pl.col("id") != "")
        if empty := nodes.height - whole.height:
            rows.skip("row without an id", f"{piece.file}, from line {piece.line}", empty)
        missing = [pl.lit("").alias(name) for name in ("label", "kind", "description") if name not in columns]
        whole = whole.with_columns(missing).with_columns(kind=pl.when(pl.col("kind") == "").then(pl.lit(self.kind)).otherwise("kind"))
        add_entities(rows, whole, label_from_id=self.label_from_id)
        for column in whole.columns:
            if column.startswith("alias "):
                names = whole.select(entity="id", name=pl.col(column).str.split(self.separator) if self.separator else column)
                names = names.explode("name") if self.separator else names
                names = names.with_columns(name=pl.col("name").str.strip_chars(), source=pl.lit("alias")).filter(pl.col("name") != "")
                rows.batch("names", names.select("entity", "name", "source").to_arrow())
            elif column.startswith("value "):
                name = column.removeprefix("value ")
                rows.relation(name, name if not self.label_from_id else relation_words(name))
                for id_, value in whole.select("id", column).filter(pl.col(column) != "").iter_rows():
                    rows.value(id_, name, self.values[name], value)


class Relations(DelimitedTable):
    """A table of relations, one a row: their labels."""

    id: Column = "id"
    """Column of the relation's id."""
    label: Column = "label"
    """Column of the relation's label."""
    symmetric: tuple[str, ...] = ()
    """Relations in which (a, r, b) means the same as (b, r, a)."""

    def _columns(self) -> dict[str, Column]:
        return {"id": self.id, "label": self.label}

    def _fill(self, rows: Rows, columns: dict[str, pl.Series], piece: Piece) -> None:
        relations = pl.DataFrame(columns)
        whole = relations.filter(pl.col("id") != "")
        if empty := relations.height - whole.height:
            rows.skip("row without an id", f"{piece.file}, from line {piece.line}", empty)
        label = "label" if "label" in whole.columns else pl.lit("").alias("label")
        add_relations(rows, whole.select("id", label), self.symmetric, label_from_id=self.label_from_id)


def add_edges(
    rows: Rows, edges: pl.DataFrame, where: str, *, kind: str, symmetric: tuple[str, ...], label_from_id: bool, with_entities: bool = True
) -> None:
    """Add facts (columns head, relation, tail, and what describes them) with their relations and, if wanted, their entities."""
    whole = edges.filter((pl.col("head") != "") & (pl.col("relation") != "") & (pl.col("tail") != ""))
    if empty := edges.height - whole.height:
        rows.skip("row without a head, relation or tail", where, empty)
    rows.batch("facts", whole.select("head", "relation", "tail").to_arrow())
    if with_entities:
        ends = pl.concat([_side(whole, "head", kind), _side(whole, "tail", kind)])
        add_entities(rows, ends, label_from_id=label_from_id)
    add_relations(rows, _relations(whole), symmetric, label_from_id=label_from_id)


def add_entities(rows: Rows, entities: pl.DataFrame, *, label_from_id: bool) -> None:
    """Add entities (columns id, kind, label, description), once each, with their labels as names; without one the words of the id."""
    unique = entities.select("id", "kind", "label", "description").unique(maintain_order=True)
    rows.batch("entities", unique.select("id", "kind", "label", "description").to_arrow())
    labels = unique.filter(pl.col("label") != "").select(entity="id", name="label", source=pl.lit("label"))
    rows.batch("names", labels.select("entity", "name", "source").to_arrow())
    if label_from_id:
        labelled = labels["entity"].implode()
        bare = unique["id"].unique(maintain_order=True).to_frame().filter(~pl.col("id").is_in(labelled))["id"].to_list()
        _add_words(rows, bare, [entity_words(id_) for id_ in bare])


def add_relations(rows: Rows, relations: pl.DataFrame, symmetric: tuple[str, ...], *, label_from_id: bool) -> None:
    """Add relations (columns id, label), once each; without a label the words of the id."""
    unique = relations.unique(maintain_order=True).with_columns(symmetric=pl.col("id").is_in(list(symmetric)))
    rows.batch("relations", unique.select("id", "label", "symmetric").to_arrow())
    if label_from_id:
        bare = unique.group_by("id", maintain_order=True).agg(pl.col("label").max()).filter(pl.col("label") == "")["id"].to_list()
        _add_words(rows, bare, [relation_words(id_) for id_ in bare])


def _add_words(rows: Rows, ids: list[str], words: list[str]) -> None:
    rows.batch("names", pa.table({"entity": ids, "name": words, "source": ["id"] * len(ids)}, schema=SCHEMAS["names"]))


def _relations(edges: pl.DataFrame) -> pl.DataFrame:
    """The relations of the edges, with their labels."""
    return edges.select(id="relation", label="relation_label" if "relation_label" in edges.columns else pl.lit(""))


def _side(edges: pl.DataFrame, side: str, kind: str) -> pl.DataFrame:
    """The entities at one end of the edges."""
    empty = pl.lit("")
    given_kind = pl.col(f"{side}_kind") if f"{side}_kind" in edges.columns else empty
    return edges.select(
        id=side,
        kind=pl.when(given_kind == "").then(pl.lit(kind)).otherwise(given_kind),
        label=f"{side}_label" if f"{side}_label" in edges.columns else empty,
        description=empty,
    )


def _place(file: str, names: list[str], field: str, column: Column, *, header: bool) -> int:
    """Place of the column of a field from 0, -1 for none. MissingInput where the file does not have it."""
    if column == "":
        return -1
    number = int(column) if str(column).isascii() and str(column).isdigit() else 0
    if (not header or column not in names) and 1 <= number <= len(names):
        return number - 1
    if not header or isinstance(column, int):
        hint = "give a number from 1" if header else "without a header a column is given by its number from 1"
        raise MissingInput(f"{file}, line 1: there is no column {column!r} among the {len(names)} of the file; {hint}.")
    if column not in names:
        raise MissingInput(f"{file}, line 1: there is no column {column!r}; {_column_hint(field, column, names)}")
    if names.count(column) > 1:
        raise MissingInput(f"{file}, line 1: the column {column!r} occurs twice; give its number, from 1.")
    return names.index(column)


def _column_hint(field: str, column: str, names: list[str]) -> str:
    """The columns of the file, and the option that names the one for ``field``."""
    column_list = shortened(", ".join(names)) or "none"
    hint = suggestion(column, [shortened(name) for name in names if name] or ["none"])
    option = f" Name the column by the option {field!r}." if column == field else f" Correct the option {field!r}."
    return (f"{hint} The file has {column_list}." if hint.startswith("did") else f"the file has {column_list}.") + option


def _no_utf8(file: str, line: int) -> BrokenInput:
    return BrokenInput(f"{file}, line {line}: this is not UTF-8; save the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1).")


def _line(piece: Piece, at: int) -> int:
    return piece.line + piece.data.count(b"\n", 0, at)
