"""The seed datasets are those that were last looked at and accepted with ``make golden``."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.formats import native

SHOWN = 3
"""Whole Instances per split, and one masked: the shortest, so that a difference can be read."""


def digest(folder: Path) -> str:
    """Of all rows of all files; unlike the manifest's it does not depend on the version of the Parquet writer."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*.parquet")):
        rows = json.dumps(pq.read_table(path).to_pylist(), ensure_ascii=False)
        whole.update(f"{path.relative_to(folder).as_posix()} {rows}\n".encode())
    return whole.hexdigest()


def summary(folder: Path) -> dict[str, Any]:
    """What the golden file holds: counts, a few whole Instances with their twins, and the hash of everything."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    shown: dict[str, list[dict[str, Any]]] = {}
    for name, part in (("", folder), ("masked ", folder / "masked")):
        for split, path in native.split_files(part).items() if part.is_dir() else ():
            columns = pq.read_schema(path).names
            rows = ({name: asdict(instance)[name] for name in columns} for instance in native.read(path))
            instances = sorted(rows, key=lambda instance: (len(str(instance)), instance["id"]))
            shown[name + split] = instances[: 1 if name else SHOWN]
    removed = {f"{row['stage']}: {row['what']}: {row['reason']}": row["removed"] for row in manifest["funnel"] if row["removed"]}
    plain = {"counts": manifest["counts"], "removed": removed, "instances": shown, "digest": digest(folder)}
    return json.loads(json.dumps(plain))


@pytest.mark.parametrize(("domain", "dataset"), [("wikidata", "wikihop"), ("medline", "medhop"), ("companies", "companyhop")])
def test_the_seed_dataset_is_the_golden_one(domain: str, dataset: str, request: pytest.FixtureRequest) -> None:
    workspace: Path = request.getfixturevalue(f"seed_{domain}")
    compare(summary(workspace / "datasets" / dataset), domain, request)


@pytest.mark.parametrize("recipe", ["iirc", "strategyqa"])
def test_the_questions_with_values_are_the_golden_ones(recipe: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    kgqa.generate("companies", recipe=recipe, workspace=tmp_path)
    compare(summary(tmp_path / "datasets" / f"companyhop-{recipe}"), f"companies-{recipe}", request)


def compare(found: dict[str, Any], name: str, request: pytest.FixtureRequest) -> None:
    """The summary is that of the golden file ``name``."""
    golden = Path(__file__).parent / f"{name}.json"
    if request.config.getoption("--update-golden"):
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
    expected = json.loads(golden.read_text("utf-8"))
    hint = "the data changed; look at the difference, raise the stage's version, say so under Data in the changelog, then: make golden"
    for part in ("counts", "removed", "instances", "digest"):
        assert found[part] == expected[part], hint
