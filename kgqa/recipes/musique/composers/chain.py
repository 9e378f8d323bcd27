"""Step S7 (Trivedi et al. 2022): a chain as composers see it, with its hops and their references to earlier answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A place in a hop's question that names the answer of an earlier hop."""

    hop: int
    """The earlier hop, from 0."""
    start: int
    """In characters; so is ``end``, which is exclusive."""
    end: int
    slot: int
    """Index in the hop's ``names``, for a question from a template; -1 for other questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One single-hop question of a chain."""

    id: str
    question: str
    answer: str
    aliases: tuple[str, ...]
    kind: str
    """A question kind of ``wording``."""
    relations: tuple[str, ...]
    """Names of the question's templates."""
    names: tuple[str, ...]
    noun: str
    """The noun that the question asks for, for a question from a template."""
    is_person: bool
    """Whether the answer is known to be a person."""
    needs: tuple[Need, ...]
    """Sorted by their places."""


def referring(hop: Hop) -> str:
    """A hop's question as in decompositions, with ``#k`` in place of the answer of hop k."""
    text = hop.question
    for need in sorted(hop.needs, key=lambda need: -need.start):
        text = f"{text[: need.start]}#{need.hop + 1}{text[need.end :]}"
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The hops of one multi-hop question; the last one's answer is its answer."""

    id: str
    shape: str
    hops: tuple[Hop, ...]
