"""A small task of two steps: name the colour of a thing, then say whether the name is right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kgqa.collection.task import Answer, DecidedItem, Fault, Item, Step, Task
from kgqa.records import Instance, Paragraph


class Colour(Answer):
    """A colour, and a note."""

    colour: str
    note: str = ""


class Right(Answer):
    """Whether a colour is right."""

    right: bool


class Name(Step):
    """Name the colour."""

    name = "name"
    title = "Name the colour"
    answer = Colour

    def labels(self, answer: Any) -> dict[str, str]:
        return {"colour": answer.colour}

    def faults(self, item: Item, answer: Any) -> list[Fault]:
        faults = []
        if not answer.colour:
            faults.append(Fault(field="colour", sentence="Name a colour."))
        if answer.colour.isupper():
            faults.append(Fault(field="colour", sentence="Do not shout.", blocking=False))
        return faults

    def follow(self, decided: DecidedItem) -> list[Item]:
        if not decided.item.shown.get("check"):
            return []
        authors = tuple(given.person for given in decided.answers)
        return [Item(id=f"{decided.item.id}-right", step="right", shown={"colour": decided.labels["colour"]}, seats=1, authors=authors)]


class Check(Step):
    """Check the colour."""

    name = "right"
    title = "Is it right?"
    answer = Right


class Colours(Task):
    """The colours of ``options.things`` things; those whose number a ``check`` divides are checked."""

    name = "colours"
    title = "Colours"
    steps: Mapping[str, Step] = {"name": Name(), "right": Check()}

    def items(self) -> Iterator[Item]:
        check = self.project.settings.options.get("check", 0)
        for number in range(1, self.project.settings.options["things"] + 1):
            yield Item(id=f"thing-{number}", step="name", shown={"thing": f"Thing {number}", "check": bool(check and number % check == 0)})

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        for each in decided:
            if each.item.step == "name":
                paragraph = Paragraph(id="p", title=None, text=f"It is {each.labels['colour']}.", supporting=True)
                yield "train", Instance(
                    id=each.item.id, question=f"What colour is {each.item.shown['thing']}?", paragraphs=(paragraph,),
                    answers=(each.labels["colour"],), answer_type="span", answerable=True, group=each.item.id, provenance=None,
                )  # fmt: skip


TASK = Colours
