"""The rows of one file of an import, in parts on disk, and the journal that says how far they go.

The pieces of a file are parsed in groups by an engine (:mod:`kgqa.arrays.parallel`). A group becomes one Parquet file per table, encoded
where it is parsed, so this process only writes bytes. The column ``position``, of the piece in the text, says the order of the rows. The
groups of about ``PART_BYTES`` of text are a part. It counts when the journal names its files; what a killed process left is removed.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.arrays.parallel import Engine
from kgqa.runs.files import Watch, write_whole
from kgqa.runs.scratch import remove
from kgqa.sources.formats import Parser, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import TextFile

JOURNAL = "journal.json"
PART_BYTES = 256 << 20
"""Text between two places at which a stopped import goes on."""
GROUP_BYTES = 16 << 20
"""Text that is parsed by one call: small enough for many workers, large enough that a dump does not become too many files."""


@dataclass(slots=True, kw_only=True)
class State:
    """What is known of one file; ``OUT/.parts/FILE/journal.json``."""

    key: str
    position: int = 0
    token: str = ""
    """Of a service."""
    parts: int = 0
    done: bool = False
    skipped: dict[str, int] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    files: dict[str, int] = field(default_factory=dict)
    """Part → bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """The rows of some pieces."""

    tables: dict[str, bytes]
    """Table → Parquet file."""
    skipped: dict[str, int]
    examples: dict[str, tuple[int, str]]
    """Reason → the first example, after the position of its piece."""


class Encoder:
    """Encodes the rows of pieces, one after the other."""

    def __init__(self) -> None:
        """Start without rows."""
        self._files: dict[str, tuple[pa.BufferOutputStream, pq.ParquetWriter]] = {}
        self._skipped = Counter[str]()
        self._examples: dict[str, tuple[int, str]] = {}

    def add(self, rows: Rows, position: int) -> None:
        """Encode the rows of the piece at ``position``, which is after those of all earlier calls."""
        for table, values in rows.tables().items():
            numbered = values.append_column("position", pa.repeat(pa.scalar(position, pa.int64()), values.num_rows))
            if table not in self._files:
                stream = pa.BufferOutputStream()
                self._files[table] = stream, pq.ParquetWriter(stream, numbered.schema, compression="zstd")
            self._files[table][1].write_table(numbered)
        self._skipped.update(rows.skipped)
        for reason in rows.skipped:
            self._examples.setdefault(reason, (position, rows.examples[reason]))

    def close(self) -> Encoded:
        """End the files."""
        for _, writer in self._files.values():
            writer.close()
        tables = {table: stream.getvalue().to_pybytes() for table, (stream, _) in self._files.items()}
        return Encoded(tables=tables, skipped=self._skipped, examples=self._examples)


def parse_group(pieces: Sequence[Piece], parser: Parser) -> Encoded:
    """Parse pieces; the result depends on them and on the parser's settings alone."""
    encoder = Encoder()
    for piece in pieces:
        encoder.add(parser.parse(piece), piece.position)
    return encoder.close()


class Part:
    """The files of a part, ``NAME-NUMBER-TABLE.parquet``."""

    def __init__(self, place: Path, name: str) -> None:
        """Start without files. ``name`` is one that no other part of any run has."""
        self._place, self._name, self._groups = place, name, 0
        self.files: dict[str, int] = {}
        self.skipped = Counter[str]()
        self.examples: dict[str, tuple[int, str]] = {}

    def add(self, group: Encoded) -> None:
        """Write the files of a group."""
        self._place.mkdir(exist_ok=True)
        for table, data in group.tables.items():
            name = f"{self._name}-{self._groups}-{table}.parquet"
            (self._place / name).write_bytes(data)
            self.files[name] = len(data)
        self.skipped.update(group.skipped)
        for reason in group.skipped:
            self.examples[reason] = min(self.examples.get(reason, group.examples[reason]), group.examples[reason])
        self._groups += 1


def parse_file(parser: Parser, text: TextFile, place: Path, state: State, watch: Watch, engine: Engine, run: str) -> None:
    """Write the rows of a file in parts, from where the last run stopped. ``run`` is a name that no other run has.

    Raises InputChanged if the file, or another that the parser reads, is no longer as the ``watch`` saw it; then no part of it counts.
    """
    ends: deque[tuple[int, bool]] = deque()  # of each group that is being parsed: its end in the text, and whether it ends a part
    begin = state.position

    def groups() -> Iterator[list[Piece]]:
        part_begin = begin
        group: list[Piece] = []
        for piece in parser.pieces(text, begin):
            group.append(piece)
            end = piece.position + len(piece.data)
            ends_part = end - part_begin >= PART_BYTES
            if ends_part or end - group[0].position >= GROUP_BYTES:
                ends.append((end, ends_part))
                yield group
                group, part_begin = [], end if ends_part else part_begin
        if group:
            ends.append((group[-1].position + len(group[-1].data), False))
            yield group

    part = Part(place, f"{state.parts:06d}-{run}")
    for group in engine.map(parse_group, groups(), (parser,)):
        part.add(group)
        state.position, ends_part = ends.popleft()
        if ends_part:
            note_part(place, state, watch, part)
            part = Part(place, f"{state.parts:06d}-{run}")
    state.notes, state.done = text.notes, True
    note_part(place, state, watch, part)


def note_part(place: Path, state: State, watch: Watch, part: Part, *, whole: bool = True) -> None:
    """Note that the files of a part are there, unless they are not all that belong together.

    Raises InputChanged if the input has changed: the part would otherwise count for a later run on the file that was put back.
    """
    watch.check()
    state.files |= part.files
    for reason, count in part.skipped.items():
        state.skipped[reason] = state.skipped.get(reason, 0) + count
        state.examples.setdefault(reason, part.examples[reason][1])
    state.parts += 1
    if whole:
        place.mkdir(exist_ok=True)
        write_whole(place / JOURNAL, json.dumps(asdict(state), ensure_ascii=False))


def resumed(place: Path, key: str) -> State:
    """How far an earlier run came with the same file and options; parts that it did not note are removed."""
    state = read_state(place)
    if state is None or state.key != key:
        if place.exists():
            remove(place)
        return State(key=key)
    for path in place.glob("*.parquet"):
        if path.name not in state.files:
            path.unlink()
    return state


def read_state(place: Path) -> State | None:
    """The journal of a file's parts; None where it, or a part that it names, is missing or damaged."""
    try:
        values = json.loads((place / JOURNAL).read_text(encoding="utf-8"))
        state = State(**values)
        kinds = (str, int, str, int, bool, dict, dict, list, dict)
        whole = all(type(value) is kind for value, kind in zip(astuple(state), kinds, strict=True))
        whole = whole and state.position >= 0 and state.parts >= 0 and all(type(count) is int for count in state.skipped.values())
        whole = whole and state.skipped.keys() == state.examples.keys() and all(type(note) is str for note in state.notes)
        whole = whole and all((place / name).stat().st_size == size for name, size in state.files.items())
    except (OSError, ValueError, TypeError):
        return None
    return state if whole else None
