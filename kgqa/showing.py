"""``kgqa show``: one sample of a dataset."""

from __future__ import annotations

from pathlib import Path

from kgqa.errors import EmptyResult, UnknownId
from kgqa.formats import native
from kgqa.records import Instance


def show(dataset: str | Path, id: str | None = None, *, masked: bool = False) -> Instance:  # noqa: A002 - what people call it
    """The sample with this ``id``, or the first one; ``masked`` takes the twin. Raises UnknownId, MissingInput or EmptyResult."""
    folder = Path(dataset) / "masked" if masked else Path(dataset)
    example = ""
    for path in native.split_files(folder).values():
        first = next(native.read(path, batch=1), None)
        found = first if id is None else native.find(path, id)
        if found:
            return found
        example = example or (first.id if first else "")
    if id is None:
        raise EmptyResult(f"{folder}: the dataset has no samples.")
    raise UnknownId(f"{dataset}: there is no sample {id!r}" + (f"; an id looks like {example}." if example else "."))
