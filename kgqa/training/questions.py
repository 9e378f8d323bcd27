"""Questions that can be read as often as needed, and never are in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.formats.question_set import QuestionSet
from kgqa.records import Instance
from kgqa.runs.files import key_of

View = Callable[[Instance], Instance]
"""What is shown of a question instead of all of it; keeps the id and the group, and the number of questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Some rows of a split, as a reader sees them."""

    read: Callable[[], Iterator[Instance]]
    """Begins to read the whole split, as it is shown."""
    key: str
    """Of all that :attr:`read` gives; the same questions have the same."""
    count: int
    """Of the whole split."""
    keep: npt.NDArray[np.bool_] | None = None
    """For each row of the split, whether it belongs; None: all do."""
    tokens: Path | None = None
    """A folder in which the split is kept as networks read it, for all that read parts of it; None: every run has its own."""

    def __len__(self) -> int:
        """Number of the questions that belong to this part."""
        return self.count if self.keep is None else int(self.keep.sum())

    def __iter__(self) -> Iterator[Instance]:
        """Those that belong, in the split's order."""
        return self.read() if self.keep is None else compress(self.read(), self.keep.tolist())

    def rows(self) -> npt.NDArray[np.int64]:
        """The numbers of those that belong."""
        return np.arange(self.count) if self.keep is None else np.flatnonzero(self.keep)

    def only(self, keep: npt.NDArray[np.bool_]) -> Questions:
        """Those of them that are kept too; ``keep`` is as long as the split."""
        return replace(self, keep=keep if self.keep is None else self.keep & keep)

    def shown(self, view: View, name: str) -> Questions:
        """The same questions, of which a ``view`` is shown; ``name`` says which, and all that it depends on."""
        read = self.read
        return replace(self, read=lambda: map(view, read()), key=key_of(self.key, name))


def of_split(source: QuestionSet, split: str) -> Questions:
    """All questions of one split; reads it once, to count them. Raises InputError where a record is broken."""
    count = sum(1 for _ in source.read(split))
    return Questions(read=lambda: source.read(split), key=key_of("set", sorted(source.hashes().items()), source.format, split), count=count)


def of_list(instances: Sequence[Instance]) -> Questions:
    """Questions that are in memory."""
    return Questions(read=lambda: iter(instances), key=key_of("list", [repr(instance) for instance in instances]), count=len(instances))
