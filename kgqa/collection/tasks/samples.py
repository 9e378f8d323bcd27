"""What tasks on a dataset's samples share: the draw, the items' ids, and the way back from an item to its sample."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeVar

from pydantic import ValidationError

from kgqa.collection.draw import DrawnSamples, content_of, draw
from kgqa.collection.project import Project
from kgqa.collection.task import DecidedItem, Figure, Task
from kgqa.errors import InputChanged, MissingInput, SettingsError
from kgqa.formats import native
from kgqa.metrics.wilson import percent
from kgqa.records import Instance
from kgqa.settings.base import Settings, setting_fault

PORTION = 1000
"""Samples that are read at a time."""
MOST_ID = 200
"""Characters of an item's id."""

Options = TypeVar("Options", bound=Settings)


def task_options(project: Project, kind: type[Options]) -> Options:
    """The table ``options`` of a project. Raises SettingsError that names the file and key."""
    try:
        return kind.model_validate(project.settings.options)
    except ValidationError as error:
        raise SettingsError(f"{project.path}: {setting_fault(error.errors(include_url=False)[0], kind, 'options')}") from None


class SampleTask(Task):
    """A task whose items are samples of a dataset in kgqa's format, drawn by the hashes of their ids."""

    def __init__(self, project: Project) -> None:
        """Draw the samples. Raises the errors of :func:`draw`."""
        super().__init__(project)
        settings = project.settings
        self.drawn: DrawnSamples = draw(project.data, sample=settings.sample, seed=settings.seed, split=settings.split)

    def origin(self, sample: str) -> dict[str, Any]:
        """What an item keeps to find its sample again: ``sample, split, content``, the last a hash of the dataset."""
        return {"sample": sample, "split": self.drawn.splits[sample], "content": self.drawn.origin.content}

    def instances_drawn(self) -> Iterator[Instance]:
        """The drawn samples, in their order. Memory: ``PORTION`` samples."""
        files = native.split_files(self.project.data)
        for portion in chunks(list(self.drawn.splits), PORTION):
            instances: dict[str, Instance] = {}
            for split in dict.fromkeys(self.drawn.splits[sample] for sample in portion):
                ids = {sample for sample in portion if self.drawn.splits[sample] == split}
                instances |= {instance.id: instance for instance in native.take(files[split], ids)}
            yield from (instances[sample] for sample in portion)

    def samples(self, decided: Iterable[DecidedItem]) -> Iterator[tuple[DecidedItem, Instance]]:
        """Each decided item with its sample, split by split. Raises InputChanged if the dataset is not what the items were made from,
        MissingInput for a sample that it lacks, and the errors of reading it.
        """
        files, content = native.split_files(self.project.data), content_of(self.project.data)
        in_order = sorted(decided, key=lambda item: str(item.item.hidden["split"]))
        for split, members in groupby(in_order, key=lambda item: str(item.item.hidden["split"])):
            items = {str(item.item.hidden["sample"]): item for item in members}
            changed_item = next((item for item in items.values() if item.item.hidden["content"] != content), None)
            if changed_item is not None:
                raise InputChanged(
                    f"{self.project.data}: the dataset has changed since item {changed_item.item.id} was drawn; restore the earlier one."
                )
            instances = {instance.id: instance for instance in native.take(files[split], items)} if split in files else {}
            for sample, item in items.items():
                if sample not in instances:
                    raise MissingInput(f"{self.project.data}: sample {sample} is no longer there; restore the earlier dataset.")
                yield item, instances[sample]


def item_id(sample: str) -> str:
    """The id of the item on a sample: the sample's, with the end of a long one replaced by a hash."""
    if len(sample) <= MOST_ID:
        return sample
    digest = hashlib.sha256(sample.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{sample[: MOST_ID - 33]}-{digest}"


def chunks(samples: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """``samples`` in portions of ``size``."""
    return (samples[begin : begin + size] for begin in range(0, len(samples), size))


def one_line(text: str) -> str:
    """The text on one line, without spaces at its ends."""
    return " ".join(text.split())


def share_figures(cases: Mapping[str, Sequence[bool]]) -> list[Figure]:
    """For each case, the share of its items of which it is true, in percent; a case without items has none."""
    return [Figure(name=name, value=percent(sum(values), len(values)), items=len(values)) for name, values in cases.items() if values]
