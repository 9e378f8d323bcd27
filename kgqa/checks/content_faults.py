"""Faults of content that the parsers kept, of all kinds together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.checks.findings import Finding, Part
from kgqa.checks.owned_faults import OWNERS, describe_fault, join_faults
from kgqa.formats.faults import FAULTS


class ContentFaults(ShareCheck):
    """The sum, which is what commands say of a set in one line; each kind that is another check's subject is in that one too.

    Memory: a counter for each kind.
    """

    name = "content-faults"
    family = "fault"
    title = "Faults of content"
    meaning = "The share of questions whose record is wrong in what it says, of whatever kind; commands count the same in one line."
    remedy = "Mend the records in the source, or report them to its authors; official scorers take them as they are."
    nothing = "The set has no questions."

    def __init__(self, *, seed: int) -> None:
        """No question was seen yet."""
        super().__init__(seed=seed)
        self._kinds: Counter[str] = Counter()

    def outcomes(self, batch: Batch) -> Floats:
        """1 where there is a fault."""
        for faults in batch.faults:
            self._kinds.update({fault.kind for fault in faults})
        return np.array([float(bool(faults)) for faults in batch.faults])

    def badness(self, batch: Batch, number: int) -> float:
        """Number of faults of the question."""
        return float(len(batch.faults[number]))

    def describe(self, batch: Batch, number: int) -> str:
        """Place, kind and detail of each, as far as there is room."""
        return join_faults([describe_fault(fault) for fault in batch.faults[number]])

    def result(self, rng: np.random.Generator) -> Finding:
        """The share, and that of each kind."""
        finding = super().result(rng)
        kinds = sorted(self._kinds.items(), key=lambda item: (-item[1], item[0]))
        owners = sorted({OWNERS[kind] for kind in self._kinds if kind in OWNERS})
        return replace(
            finding,
            parts=tuple(Part(name=f"{kind}: {FAULTS[kind]}", count=count, total=finding.total or 0) for kind, count in kinds),
            parts_are="by kind",
            note=f"Part of it is the subject of other checks, which count it too: {', '.join(owners)}." if owners else "",
        )
