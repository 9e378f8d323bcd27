"""Steps S4 to S7 (Trivedi et al. 2022): chains as Python objects, for composers and writers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pyarrow as pa

from kgqa.recipes.musique.composers.chain import Chain, Hop, Need
from kgqa.recipes.musique.shapes import EDGES, HOPS, chain_hops, edges_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import PERSON, WHO, answer_kinds
from kgqa.records import Paragraph
from kgqa.settings.musique import SHAPES

_NAME = re.compile(r"[A-Z][\w.'’-]+(?: [A-Z]\.)?(?: (?:de|van|von|bin))? [A-Z][\w.'’-]+")
"""A likely name of a person: two capitalised words."""


class Pool:
    """The single-hop questions as Python values."""

    def __init__(self, single_hop: pa.Table, paragraphs: pa.Table) -> None:
        """The tables are those of ``pool.py``."""
        self.single_hop, self.paragraphs = single_hop, paragraphs
        self._persons: dict[int, bool] = {}

    @cached_property
    def rows(self) -> dict[str, list[Any]]:
        """The columns of ``single_hop``."""
        return {name: self.single_hop[name].to_pylist() for name in self.single_hop.column_names}

    def further_names(self) -> dict[str, list[str]]:
        """Question id → aliases of its answer, for entities of a graph."""
        entries = zip(*(self.rows[name] for name in ("id", "kind", "aliases")), strict=True)
        return {name: aliases for name, kind, aliases in entries if kind != ASKED and aliases}

    def is_person(self, row: int) -> bool:
        """Whether the answer is a person: its kind says so, or "who" asks for a name that looks like a person's."""
        if row not in self._persons:
            self._persons[row] = self.rows["kind"][row] == ASKED and self._looks_like_person(row)
        return self._persons[row]

    def _looks_like_person(self, row: int) -> bool:
        place = self.single_hop["paragraph"][row].as_py()
        title, text = self.paragraphs["title"][place].as_py(), self.paragraphs["text"][place].as_py()
        answer = str(self.rows["answer"][row])
        kinds = answer_kinds(str(self.rows["question"][row]), answer, [Paragraph(id="", title=title, text=text, supporting=True)])
        if not kinds:
            return False
        return kinds[0][0] == PERSON or (kinds[0] == WHO and _NAME.fullmatch(answer) is not None)


class Chains:
    """The chains of a table, with their single-hop questions. Memory: the pool as Python values."""

    def __init__(self, chains: pa.Table, pairs: pa.Table, single_hop: pa.Table, paragraphs: pa.Table) -> None:
        """``chains`` as in ``shapes.py``."""
        self.shape = chains["shape"].to_numpy()
        self.edges = edges_of(chains)
        self.pairs, self.pool = pairs, Pool(single_hop, paragraphs)
        self.hops = chain_hops(chains, pairs)

    def __len__(self) -> int:
        """The number of chains."""
        return len(self.shape)

    @cached_property
    def rows(self) -> dict[str, list[Any]]:
        """The columns of ``single_hop``."""
        return self.pool.rows

    @cached_property
    def _places(self) -> tuple[list[int], list[int], list[int]]:
        start, end, slot = (self.pairs[name].to_pylist() for name in ("start", "end", "slot"))
        return start, end, slot

    @cached_property
    def ids(self) -> list[str]:
        """MuSiQue's ids: the shape and the ids of the hops."""
        names = self.rows["id"]
        return [
            f"{SHAPES[shape]}__{'_'.join(str(names[hop]) for hop in hops if hop >= 0)}"
            for shape, hops in zip(self.shape.tolist(), self.hops.tolist(), strict=True)
        ]

    def __iter__(self) -> Iterator[Chain]:
        """Iterate over the chains in order."""
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Chain:
        """The chain in this row."""
        shape = SHAPES[self.shape[row]]
        needs: list[list[Need]] = [[] for _ in range(HOPS[shape])]
        start, end, slot = self._places
        for (source, target), edge in zip(EDGES[shape], self.edges[row].tolist(), strict=False):
            needs[target].append(Need(hop=source, start=start[edge], end=end[edge], slot=slot[edge]))
        hops = tuple(self._hop(int(hop), needs[number]) for number, hop in enumerate(self.hops[row]) if hop >= 0)
        return Chain(id=self.ids[row], shape=shape, hops=hops)

    def _hop(self, row: int, needs: list[Need]) -> Hop:
        values = {name: column[row] for name, column in self.rows.items()}
        return Hop(
            id=str(values["id"]),
            question=str(values["question"]),
            answer=str(values["answer"]),
            aliases=_texts(values["aliases"]),
            kind=str(values["kind"]),
            relations=_texts(values["relations"]),
            names=_texts(values["names"]),
            noun=str(values["noun"] or ""),
            is_person=self.pool.is_person(row),
            needs=tuple(sorted(needs, key=lambda need: need.start)),
        )


def _texts(values: object) -> tuple[str, ...]:
    assert isinstance(values, list)
    return tuple(map(str, values))
