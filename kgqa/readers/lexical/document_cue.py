"""The answer that documents give away: cooccurrence(d, c), how many training questions show d and have the answer c (section 3.2).

A document is known again by its text, so that a masked set, in which it reads otherwise with every question, tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.readers.lexical.cue_reader import CueReader
from kgqa.records import Instance


class DocumentCue(CueReader):
    """Every paragraph is a cue."""

    name = "document-cue"

    def cues(self, instance: Instance) -> Iterable[str]:
        """The text of each paragraph is a cue."""
        return (paragraph.text for paragraph in instance.paragraphs)
