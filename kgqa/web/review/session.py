"""The content of the pages: the samples, and the table of an annotator's judgements."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kgqa.collection.draw import Origin
from kgqa.collection.reading import Reading
from kgqa.collection.tables.book import Book
from kgqa.collection.tables.table import Judgement, in_order
from kgqa.collection.verdicts import ANOTHER, MARKS, VERDICTS
from kgqa.errors import SettingsError, UnknownId, suggestion

MOST_NOTE = 2000
"""Characters of a note."""
FIELDS = ("sample", "verdict", "marks", "candidate", "note", "seen")


@dataclass(frozen=True, kw_only=True)
class Session:
    """A review: the drawn samples and the table of judgements."""

    readings: tuple[Reading, ...]
    book: Book
    origin: Origin

    @cached_property
    def places(self) -> dict[str, int]:
        """Sample → its place, from 0."""
        return {reading.instance.id: place for place, reading in enumerate(self.readings)}

    def place(self, sample: str) -> int:
        """The place of a sample; raises UnknownId."""
        if sample not in self.places:
            raise UnknownId(f"sample {sample!r} is not among the {len(self.readings):,} that are read here; choose one of the list.")
        return self.places[sample]

    def judgement(self, body: dict[str, Any]) -> Judgement:
        """The judgement in the body of a request, by this session's annotator. Raises UnknownId and SettingsError."""
        if set(body) != set(FIELDS) or not all(isinstance(body[name], str) for name in FIELDS if name != "marks"):
            raise SettingsError(f"a judgement has the fields {', '.join(FIELDS)}, texts all but the marks; load the page again.")
        if not isinstance(body["marks"], list) or not all(isinstance(mark, str) for mark in body["marks"]):
            raise SettingsError("the marks of a judgement are a list of texts; load the page again.")
        reading = self.readings[self.place(body["sample"])]
        _check_known("verdict", [body["verdict"]] if body["verdict"] else [], list(VERDICTS))
        _check_known("mark", body["marks"], list(MARKS))
        if body["candidate"] and body["candidate"] not in {candidate.id for candidate in reading.others}:
            raise UnknownId(f"{body['candidate']!r} is not another candidate of sample {reading.instance.id}; choose one of its list.")
        if body["candidate"] and ANOTHER not in body["marks"]:
            raise SettingsError(f"a candidate is named, but not the mark {ANOTHER!r}, by which it is as true; give both or none.")
        if len(body["note"]) > MOST_NOTE:
            raise SettingsError(f"the note has {len(body['note']):,} characters, {MOST_NOTE:,} is the most; write less.")
        return Judgement(
            sample=reading.instance.id,
            reader=self.book.reader,
            verdict=body["verdict"],
            marks=in_order(body["marks"], MARKS),
            candidate=body["candidate"],
            note=body["note"],
        )


def _check_known(noun: str, names: list[str], options: list[str]) -> None:
    for name in names:
        if name not in options:
            raise SettingsError(f"{noun} {name!r} is not known; {suggestion(name, options)}")
