"""What every format promises for a record that its authors left imperfect: it is read, noted, and written back as it was."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from kgqa.errors import BrokenInput
from kgqa.formats import native
from kgqa.formats.faults import faults_of
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FileFormat, find_format
from kgqa.records import Instance
from tests.formats.mutations import parsed


def written(value: Any, path: Path) -> Path:
    """A file with this value; one record a line where it is called so."""
    text = "".join(f"{json.dumps(record)}\n" for record in value) if path.suffix == ".jsonl" else json.dumps(value)
    path.write_text(text, "utf-8")
    return path


def check_kept(path: Path, question: str, faults: Mapping[str, str]) -> Instance:
    """Of the set in ``path`` one ``question`` alone has ``faults``, place → kind; it comes back unchanged, and is refused if strict."""
    source = open_dataset(path)
    found = list(source.instances())
    (instance,) = (instance for instance in found if instance.id == question)
    assert {fault.place: fault.kind for fault in faults_of(instance)} == faults
    assert (source.faults.imperfect, source.faults.first, source.faults.kinds) == (1, [question], Counter(set(faults.values())))
    form = cast(FileFormat, find_format(source.format))
    again, third = (path.with_name(f"{name}{path.suffix}") for name in ("again", "third"))
    form.write(found, again)
    assert parsed(again.read_bytes())[0] == parsed(path.read_bytes())[0]
    assert list(form.read(again)) == found
    native.write(found, path.with_name("between.parquet"))
    form.write(native.read(path.with_name("between.parquet")), third)
    assert third.read_bytes() == again.read_bytes()
    with pytest.raises(BrokenInput) as error:
        list(open_dataset(path, strict=True).instances())
    for part in (path.name, f"question {question}", f"field '{next(iter(faults))}'", "--strict"):
        assert part in str(error.value)
    assert list(open_dataset(again, source.format).instances()) == found
    return instance
