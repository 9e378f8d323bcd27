"""Addresses of pages and of a graph's state: the page of a node, the nodes that are opened, and how many of their neighbours are shown."""

from __future__ import annotations

from kgqa.errors import UnknownId
from kgqa.web.explore.neighbours import Sizes
from kgqa.web.explore.picture import split_key
from kgqa.web.rendering import link

OPENED = 40
"""Maximum number of opened nodes in one address."""
CHILD = Sizes(facts_in=4, facts_out=6, documents=4, entities=8)
"""Neighbours of each kind that a node shows when it is opened."""


def node_link(key: str) -> str:
    """The page of a node."""
    kind, name = split_key(key)
    return link(f"/{kind}", id=name)


def read_opened(words: list[str]) -> dict[str, Sizes]:
    """``8.10.7.16~e:Q84`` → the node's key and how many facts in, facts out, documents and entities it shows; raises UnknownId."""
    if len(words) > OPENED:
        raise UnknownId(f"the address opens {len(words)} nodes, {OPENED} is the most; close some.")
    return dict(_parse(word) for word in words)


def _parse(word: str) -> tuple[str, Sizes]:
    numbers, tilde, key = word.partition("~")
    parts = numbers.split(".")
    if not tilde or len(parts) != 4 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        raise UnknownId(f"{word!r} does not open a node; write four numbers and a node, such as 8.10.7.16~e:Q84.")
    facts_in, facts_out, documents, entities = map(int, parts)
    return key, Sizes(facts_in=facts_in, facts_out=facts_out, documents=documents, entities=entities)
