"""Splits that share nothing: questions with something in common stay together, and what stays together is dealt out whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kgqa.arrays.rows import Adjacency
from kgqa.formats.native import batched
from kgqa.records import Instance
from kgqa.splits.items import ItemBatch, keys_of

BY = MappingProxyType(
    {
        "group": "the group, as twins share it",
        "title": "the title of a paragraph that is shown, as the questions on an article share it",
        "question": "the whole question, whatever its answer",
        "answer": "the canonical answer, yes and no left out",
        "paragraph": "the text of a paragraph that is shown",
        "supporting-paragraph": "the text of a paragraph that is marked as supporting",
        "hop": "a single-hop question with its answer, of a decomposition or of the graph",
        "hop-answer": "the answer of a hop, the last one included",
        "hop-entity": "the entity that the answer of a hop is, where a graph knows it, however it is spelled",
    }
)
"""What questions can have in common → what is compared."""
_ITEMS = MappingProxyType(
    {
        "question": "wordings", "answer": "answers", "paragraph": "paragraphs", "supporting-paragraph": "supporting-paragraphs",
        "hop": "facts", "hop-answer": "hop-answers", "hop-entity": "hop-entities",
    }
)  # fmt: skip
_TEXTS: Mapping[str, Callable[[Instance], Iterable[str]]] = MappingProxyType(
    {
        "group": lambda instance: (instance.group,),
        "title": lambda instance: {paragraph.title for paragraph in instance.paragraphs if paragraph.title},
    }
)
CHUNK = 1024
LARGE = 0.01
"""A component with this share of the questions is dealt out before the small ones, which then even out the shares."""


class Together:
    """Collects what questions have in common. Memory: 24 bytes for each thing that a question has."""

    def __init__(self, by: Iterable[str]) -> None:
        """``by``: keys of ``BY``; the group is always one."""
        self._by = tuple(dict.fromkeys(("group", *by)))
        self._owners: list[npt.NDArray[np.int64]] = []
        self._keys: list[npt.NDArray[np.uint64]] = []
        self.count = 0

    def see(self, instances: Iterable[Instance]) -> Iterator[int]:
        """Look at ``instances``, in order; gives how many more were seen, from time to time."""
        for some in batched(instances, CHUNK):
            batch = ItemBatch(some)
            for number, name in enumerate(self._by):
                if name in _ITEMS:
                    found = batch.of(_ITEMS[name])
                    owner, keys = found.owner, found.keys
                else:
                    texts = [(place, text) for place, each in enumerate(some) for text in sorted(_TEXTS[name](each))]
                    owner, keys = np.array([place for place, _ in texts], np.int64), keys_of([text for _, text in texts])
                self._owners.append(owner + self.count)
                self._keys.append(np.column_stack([keys[:, 0] ^ np.uint64(number), keys[:, 1]]) if len(keys) else keys.reshape(0, 2))
            self.count += len(some)
            yield len(some)

    def components(self) -> npt.NDArray[np.int32]:
        """For each question the number of its component: whoever has something in common, also by way of others, has the same."""
        return components_of(self.items()) if self.count else np.zeros(0, np.int32)

    def items(self) -> Adjacency:
        """Question → the things that it has, numbered from 0."""
        owners, keys = np.concatenate(self._owners), np.concatenate(self._keys)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        keys = keys[order]
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        return Adjacency.from_pairs(owners[order], np.cumsum(new) - 1, self.count)


def components_of(items: Adjacency) -> npt.NDArray[np.int32]:
    """For each row the number of its component: rows with an item in common, also by way of others, have the same."""
    count = len(items.offsets) - 1
    order = np.argsort(items.targets, kind="stable")
    owners, numbers = items.sources()[order], items.targets[order]
    same = numbers[1:] == numbers[:-1]
    edges = owners[:-1][same], owners[1:][same]
    graph = coo_array((np.ones(len(edges[0]), np.bool_), edges), shape=(count, count))
    found: npt.NDArray[np.int32] = connected_components(graph, directed=False)[1]
    return found


def deal(components: npt.NDArray[np.int32], shares: tuple[float, ...], *, seed: int) -> npt.NDArray[np.int8]:
    """For each question its split, so that split i gets about ``shares[i]`` of the questions, and a component is in one of them.

    The large components go first, the largest of all at the beginning, each to the split that lacks most; the small ones follow in an
    order drawn from the ``seed``.
    """
    sizes = np.bincount(components)
    drawn = np.random.default_rng(seed).permutation(len(sizes))
    large = np.where(sizes[drawn] >= max(2, LARGE * len(components)), sizes[drawn], 0)
    order = drawn[np.argsort(-large, kind="stable")]
    lacking = np.array(shares) * len(components)
    split = np.zeros(len(sizes), np.int8)
    for component in order.tolist():
        split[component] = chosen = int(np.argmax(lacking))
        lacking[chosen] -= sizes[component]
    found: npt.NDArray[np.int8] = split[components]
    return found
