"""``kgqa show``: one sample of a dataset."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, EmptyResult, UnknownId
from kgqa.formats import native
from kgqa.records import Instance


def show(dataset: Path, id: str | None = None, *, masked: bool = False) -> Instance:  # noqa: A002 - what people call it
    """The sample with this ``id``, or the first one; ``masked`` takes the twin. Raises UnknownId, MissingInput or EmptyResult."""
    folder = dataset / "masked" if masked else dataset
    example = ""
    for path in native.split_files(folder).values():
        if id is None:
            first = next(native.read(path, batch=1), None)
            if first is not None:
                return first
            continue
        try:
            rows = pq.read_table(path, filters=[("id", "==", id)]).to_pylist()
            ids = pq.read_table(path, columns=["id"])["id"]
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise BrokenInput(f"{path}: this is not a whole Parquet file with the column 'id'; make the dataset again.") from None
        if rows:
            return native.instance(rows[0])
        example = example or (ids[0].as_py() if len(ids) else "")
    if id is None:
        raise EmptyResult(f"{folder}: the dataset has no samples.")
    raise UnknownId(f"{dataset}: there is no sample {id!r}" + (f"; an id looks like {example}." if example else "."))
