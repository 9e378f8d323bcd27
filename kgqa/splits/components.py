"""Splits that share nothing: questions with something in common form a component, and each component goes to one split as a whole."""

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
"""Kind of shared item → the values of a question that are compared."""
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
"""Components with at least this share of the questions are assigned first; the small ones then even out the shares."""


class ItemCollector:
    """Collects the items that questions have in common. Memory: 24 bytes per item of a question."""

    def __init__(self, by: Iterable[str]) -> None:
        """``by``: keys of ``BY``; the group is always included."""
        self._by = tuple(dict.fromkeys(("group", *by)))
        self._owners: list[npt.NDArray[np.int64]] = []
        self._keys: list[npt.NDArray[np.uint64]] = []
        self.count = 0

    def see(self, instances: Iterable[Instance]) -> Iterator[int]:
        """Add ``instances``, in order; yield from time to time how many more were added."""
        for chunk in batched(instances, CHUNK):
            batch = ItemBatch(chunk)
            for number, name in enumerate(self._by):
                if name in _ITEMS:
                    items = batch.of(_ITEMS[name])
                    owner, keys = items.owner, items.keys
                else:
                    texts = [(row, text) for row, instance in enumerate(chunk) for text in sorted(_TEXTS[name](instance))]
                    owner, keys = np.array([row for row, _ in texts], np.int64), keys_of([text for _, text in texts])
                self._owners.append(owner + self.count)
                self._keys.append(np.column_stack([keys[:, 0] ^ np.uint64(number), keys[:, 1]]) if len(keys) else keys.reshape(0, 2))
            self.count += len(chunk)
            yield len(chunk)

    def components(self) -> npt.NDArray[np.int32]:
        """For each question the number of its component: questions that share an item, directly or through others, have the same number."""
        return components_of(self.items()) if self.count else np.zeros(0, np.int32)

    def items(self) -> Adjacency:
        """Question → its items, numbered from 0."""
        owners, keys = np.concatenate(self._owners), np.concatenate(self._keys)
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        keys = keys[order]
        is_new = np.ones(len(keys), np.bool_)
        is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
        return Adjacency.from_pairs(owners[order], np.cumsum(is_new) - 1, self.count)


def components_of(items: Adjacency) -> npt.NDArray[np.int32]:
    """For each row the number of its component: rows that share an item, directly or through others, have the same number."""
    count = len(items.offsets) - 1
    order = np.argsort(items.targets, kind="stable")
    owners, numbers = items.sources()[order], items.targets[order]
    has_same_item = numbers[1:] == numbers[:-1]
    edges = owners[:-1][has_same_item], owners[1:][has_same_item]
    graph = coo_array((np.ones(len(edges[0]), np.bool_), edges), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def deal(components: npt.NDArray[np.int32], shares: tuple[float, ...], *, seed: int) -> npt.NDArray[np.int8]:
    """For each question its split. Split i gets about ``shares[i]`` of the questions, and no component is divided.

    The large components go first, in falling order of size, each to the split that lacks most; the small ones follow in an order drawn from
    the ``seed``.
    """
    sizes = np.bincount(components)
    drawn_order = np.random.default_rng(seed).permutation(len(sizes))
    large = np.where(sizes[drawn_order] >= max(2, LARGE * len(components)), sizes[drawn_order], 0)
    order = drawn_order[np.argsort(-large, kind="stable")]
    lacking_questions = np.array(shares) * len(components)
    split = np.zeros(len(sizes), np.int8)
    for component in order.tolist():
        split[component] = emptiest = int(np.argmax(lacking_questions))
        lacking_questions[emptiest] -= sizes[component]
    return split[components]
