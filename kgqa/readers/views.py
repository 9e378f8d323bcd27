"""What a reader is shown of a question instead of all of it: partial input is the same reader with something hidden."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from kgqa.records import Instance


def without_question(instance: Instance) -> Instance:
    """Context only (Trivedi et al. 2022, section 7.2.2): the paragraphs, and nothing that says what is asked."""
    return replace(instance, question="")


class Selecting:
    """A view that a selector made."""

    def __init__(self, chosen: Mapping[str, Collection[str]]) -> None:
        """Question id → paragraph ids."""
        self._chosen = chosen

    def __call__(self, instance: Instance) -> Instance:
        """The question with these paragraphs only; with all of them where nothing was chosen."""
        kept = self._chosen.get(instance.id)
        if kept is None:
            return instance
        return replace(instance, paragraphs=tuple(each for each in instance.paragraphs if each.id in kept))
