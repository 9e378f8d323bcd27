"""The order of the hops can be read off."""

from __future__ import annotations

import math
import re
from abc import abstractmethod

import numpy as np

from kgqa.checks.batch import Batch, Floats
from kgqa.checks.check import ShareCheck
from kgqa.records import Instance

_DIGITS = re.compile(r"(\d+)")


class HopOrder(ShareCheck):
    """Whether a feature independent of the question predicts the order of its paragraphs."""

    family = "shortcut"
    nothing = "The set does not say in which order paragraphs are needed, or no question needs two."

    def outcomes(self, batch: Batch) -> Floats:
        """1 for questions whose hop order the check can tell, 0 for others, nan for questions with fewer than two hops."""
        pairs = zip(batch.instances, batch.hop_orders, strict=True)
        return np.array([float(self.tells(instance, order)) if len(order) > 1 else np.nan for instance, order in pairs])

    def chances(self, batch: Batch) -> Floats:
        """One order in k! is right by chance."""
        return np.array([1 / math.factorial(len(order)) if order else np.nan for order in batch.hop_orders])

    def badness(self, batch: Batch, number: int) -> float:
        """The more hops, the less by chance."""
        return float(len(batch.hop_orders[number]))

    @abstractmethod
    def tells(self, instance: Instance, order: list[str]) -> bool:
        """Whether it tells the order of these paragraph ids, at least two."""


class HopOrderShown(HopOrder):
    """Whether the order of the shown paragraphs is the order of the hops."""

    name = "hop-order-shown"
    title = "Paragraphs are shown in the order of the hops"
    meaning = "The share of questions whose supporting paragraphs are shown in the order in which the hops need them."
    remedy = "Shuffle the paragraphs of each question."

    def tells(self, instance: Instance, order: list[str]) -> bool:
        """Whether they are shown in this order."""
        places = _places(instance, order)
        return places == sorted(places)

    def describe(self, batch: Batch, number: int) -> str:
        """The places and the question."""
        instance = batch.instances[number]
        places = ", ".join(str(place + 1) for place in _places(instance, batch.hop_orders[number]))
        return f"hops at places {places} of {len(instance.paragraphs)}: {instance.question}"


class HopOrderInIds(HopOrder):
    """By ids: the question's, which lists its steps, or the paragraphs', which count upwards and are not their places."""

    name = "hop-order-in-ids"
    title = "Ids tell the order of the hops"
    meaning = "The share of questions whose id lists its steps in order, or whose paragraph ids do when sorted."
    remedy = "Draw ids at random or by a hash; never show these to a reader."

    def tells(self, instance: Instance, order: list[str]) -> bool:
        """Whether an id lists the steps, or sorting the paragraph ids gives the order."""
        if _lists_steps(instance):
            return True
        if all(paragraph.id == str(place) for place, paragraph in enumerate(instance.paragraphs)):
            return False  # a place, which the other check looks at
        return order == sorted(order, key=_natural)

    def describe(self, batch: Batch, number: int) -> str:
        """The ids and the question."""
        instance = batch.instances[number]
        ids = " < ".join(batch.hop_orders[number])
        return f"{'the question id lists the steps' if _lists_steps(instance) else ids}: {instance.question}"


def _places(instance: Instance, ids: list[str]) -> list[int]:
    """Where the paragraphs with these ``ids`` are shown, from 0."""
    places = {paragraph.id: place for place, paragraph in enumerate(instance.paragraphs)}
    return [places[name] for name in ids]


def _lists_steps(instance: Instance) -> bool:
    steps = [step.id for step in instance.decomposition or ()]
    # One-digit ids stand in any long id by chance.
    if len(steps) < 2 or any(len(step) < 3 for step in steps):
        return False
    words = re.findall(r"[^\W_]+", instance.id)
    places = [words.index(step) for step in steps if step in words]
    return len(places) == len(steps) and places == sorted(places)


def _natural(text: str) -> list[tuple[int, int, str]]:
    """Numbers in a text as numbers, so that 9 comes before 10."""
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in _DIGITS.split(text)]
