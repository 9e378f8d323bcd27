"""What is most often the answer to the same kind of query."""

from __future__ import annotations

from collections.abc import Iterable

from kgqa.formats.provenance import everything
from kgqa.readers.lexical.cue_reader import CueReader
from kgqa.records import Instance

QUESTION_WORDS = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})


class Majority(CueReader):
    """The cue is the kind of query."""

    name = "majority"

    def cues(self, instance: Instance) -> Iterable[str]:
        """The query's type is the only cue."""
        return (query_type(instance),)


def query_type(instance: Instance) -> str:
    """The relation of a multiple-choice query, which is noted or is the query's first word; else the first question word of a question.

    ``how`` goes with the next word (*how many*); a question without such a word (*Is …*) is of the type of its first one.
    """
    words = instance.question.lower().split()
    if instance.candidates:
        relation = everything(instance).get("relation")
        return relation if isinstance(relation, str) else next(iter(words), "")
    words = [word.strip("?,.:;'\"()") for word in words]
    at = next((place for place, word in enumerate(words) if word in QUESTION_WORDS), 0)
    return " ".join(words[at : at + 2] if words[at : at + 1] == ["how"] else words[at : at + 1])
