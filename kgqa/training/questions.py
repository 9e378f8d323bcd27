"""Questions that can be read repeatedly and are never in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kgqa.arrays.parallel import Engine
from kgqa.formats.question_set import QuestionSet
from kgqa.records import Instance
from kgqa.runs.files import key_of

View = Callable[[Instance], Instance]
"""Changes what a reader sees of a question; keeps the id, the group and the number of questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Some rows of a split, as a reader sees them."""

    read: Callable[[], Iterator[Instance]]
    """Starts reading the whole split, with views applied."""
    key: str
    """Hash of everything that :attr:`read` yields; equal for equal questions."""
    count: int
    """Questions of the whole split."""
    keep: npt.NDArray[np.bool_] | None = None
    """For each row of the split whether it belongs; None: all do."""
    tokens: Path | None = None
    """Folder of the encoded split, shared by all that read parts of it; None: each run has its own."""
    engine: Engine | None = None
    """Where a reader predicts them, if not in this process; the predictions do not depend on it. Networks need a
    :class:`~kgqa.arrays.parallel.NetworkEngine`."""

    def __len__(self) -> int:
        """The number of questions in this part."""
        return self.count if self.keep is None else int(self.keep.sum())

    def __iter__(self) -> Iterator[Instance]:
        """The questions of this part, in the split's order."""
        return self.read() if self.keep is None else compress(self.read(), self.keep.tolist())

    def rows(self) -> npt.NDArray[np.int64]:
        """The row numbers of this part."""
        return np.arange(self.count) if self.keep is None else np.flatnonzero(self.keep)

    def only(self, keep: npt.NDArray[np.bool_]) -> Questions:
        """The part that ``keep`` selects too; ``keep`` is as long as the split."""
        return replace(self, keep=keep if self.keep is None else self.keep & keep)

    def shown(self, view: View, name: str) -> Questions:
        """The same questions through a ``view``; ``name`` identifies the view and everything it depends on."""
        read_instances = self.read
        return replace(self, read=lambda: map(view, read_instances()), key=key_of(self.key, name))


def of_split(source: QuestionSet, split: str) -> Questions:
    """All questions of one split, which is read once to count them. Raises InputError if a record is broken."""
    count = sum(1 for _ in source.read(split))
    return Questions(read=lambda: source.read(split), key=key_of("set", sorted(source.hashes().items()), source.format, split), count=count)


def of_list(instances: Sequence[Instance]) -> Questions:
    """The instances as :class:`Questions`; they stay in memory."""
    return Questions(read=lambda: iter(instances), key=key_of("list", [repr(instance) for instance in instances]), count=len(instances))
