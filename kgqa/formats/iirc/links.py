"""The links of one of IIRC's paragraphs, which all its questions share: those that are mentions, and those that cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from kgqa.formats.faults import Fault
from kgqa.formats.iirc.records import Link, Notes
from kgqa.records import Mention

SHOWN_DIGITS = 20
"""Digits of a place that a fault shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What a record's links become."""

    mentions: tuple[Mention, ...] | None
    """None where the record has no list of links."""
    notes: Mapping[str, Any]
    """The links that are no mentions, as ``Notes`` has them."""
    faults: tuple[Fault, ...]
    """Links outside the paragraph."""


def links_of(record: Mapping[str, Any]) -> Links:
    """The links of an official record; one with further fields is no mention, as these would be lost."""
    given = record.get("links")
    links, size = given or [], len(record["text"])
    outside = [not 0 <= link["indices"][0] <= link["indices"][1] <= size for link in links]
    placed = [not out and link.keys() == Link.__annotations__.keys() for out, link in zip(outside, links, strict=True)]
    unplaced = [number for number, inside in enumerate(placed) if not inside]
    last = unplaced == list(range(len(links) - len(unplaced), len(links)))
    mentions = (Mention(entity=link["target"], start=link["indices"][0], end=link["indices"][1]) for link in links)
    return Links(
        mentions=None if given is None else tuple(mention for mention, inside in zip(mentions, placed, strict=True) if inside),
        notes={
            "unplaced_links": [links[number] for number in unplaced],
            "unplaced_at": [] if last else unplaced,
        },
        faults=tuple(_outside(number, links[number], size) for number in unplaced if outside[number]),
    )


def _outside(number: int, link: Mapping[str, Any], size: int) -> Fault:
    start, end = (str(place)[:SHOWN_DIGITS] for place in link["indices"])
    detail = f"the paragraph has {size:,} characters, and the link stands at {start} to {end}"
    return Fault(kind="wrong-place", place=f"links.{number}.indices", detail=detail)


def to_links(mentions: tuple[Mention, ...], notes: Notes) -> list[Mapping[str, Any]]:
    """The official links, those that are no mentions where they stood."""
    links: list[Mapping[str, Any]] = [{"target": mention.entity, "indices": [mention.start, mention.end]} for mention in mentions]
    for at, link in zip_longest(notes.get("unplaced_at", ()), notes.get("unplaced_links", ())):
        if link is not None:
            links.insert(len(links) if at is None else at, link)
    return links
