"""What is most often the answer, whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.readers.lexical.cue_reader import CueReader
from kgqa.records import Instance


class Prior(CueReader):
    """All questions have one cue."""

    name = "prior"

    def cues(self, instance: Instance) -> Iterable[str]:
        """The same for all."""
        return ("",)
