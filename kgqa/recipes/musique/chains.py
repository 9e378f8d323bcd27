"""Rows of the tables become chains, as composers and writers see them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.recipes.musique.composers.chain import Chain, Hop, Need
from kgqa.recipes.musique.shapes import EDGES, HOPS, hops_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.recipes.names.kinds import PERSON, WHO, answer_kinds
from kgqa.records import Paragraph
from kgqa.settings.musique import SHAPES


class Chains:
    """The chains of a table, with their single-hop questions. Memory: the pool as Python values."""

    def __init__(self, chains: pa.Table, pairs: pa.Table, single_hop: pa.Table, paragraphs: pa.Table) -> None:
        """``chains`` as in ``shapes.py``."""
        self.shape = chains["shape"].to_numpy()
        self.edges = np.stack([chains[f"edge_{place}"].to_numpy() for place in (1, 2, 3)], axis=1)
        self.pairs, self.single_hop, self.paragraphs = pairs, single_hop, paragraphs
        self.hops = hops_of(self.shape, self.edges, pairs)

    def __len__(self) -> int:
        """How many."""
        return len(self.shape)

    @cached_property
    def rows(self) -> dict[str, list[object]]:
        """The columns of ``single_hop``."""
        return {name: self.single_hop[name].to_pylist() for name in self.single_hop.column_names}

    @cached_property
    def _persons(self) -> dict[int, bool]:
        return {}

    @cached_property
    def _places(self) -> tuple[list[int], list[int], list[int]]:
        start, end, slot = (self.pairs[name].to_pylist() for name in ("start", "end", "slot"))
        return start, end, slot

    @cached_property
    def ids(self) -> list[str]:
        """As MuSiQue's: the shape and the ids of the hops."""
        names = self.rows["id"]
        return [
            f"{SHAPES[shape]}__{'_'.join(str(names[hop]) for hop in hops if hop >= 0)}"
            for shape, hops in zip(self.shape.tolist(), self.hops.tolist(), strict=True)
        ]

    def __iter__(self) -> Iterator[Chain]:
        """In order."""
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> Chain:
        """One of them."""
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
            id=str(values["id"]), question=str(values["question"]), answer=str(values["answer"]), aliases=_texts(values["aliases"]),
            kind=str(values["kind"]), relations=_texts(values["relations"]), names=_texts(values["names"]), is_person=self.is_person(row),
            needs=tuple(sorted(needs, key=lambda need: need.start)),
        )  # fmt: skip

    def is_person(self, row: int) -> bool:
        """Whether the answer to a question is a person, as far as the question and its paragraph tell; "who" is taken for one."""
        known = self._persons
        if row not in known:
            known[row] = self.rows["kind"][row] == ASKED and self._told(row)
        return known[row]

    def _told(self, row: int) -> bool:
        place = self.single_hop["paragraph"][row].as_py()
        title, text = self.paragraphs["title"][place].as_py(), self.paragraphs["text"][place].as_py()
        shown = Paragraph(id="", title=title, text=text, supporting=True)
        kinds = answer_kinds(str(self.rows["question"][row]), str(self.rows["answer"][row]), [shown])
        return bool(kinds) and (kinds[0] == WHO or kinds[0][0] == PERSON)


def _texts(values: object) -> tuple[str, ...]:
    assert isinstance(values, list)
    return tuple(map(str, values))


def edge_rows(chains: pa.Table) -> npt.NDArray[np.int32]:
    """The different rows of ``pairs`` that chains consist of."""
    edges = np.concatenate([chains[f"edge_{place}"].to_numpy() for place in (1, 2, 3)])
    found: npt.NDArray[np.int32] = np.unique(edges[edges >= 0])
    return found
