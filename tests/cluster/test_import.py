"""An import whose pieces are parsed on the nodes of a cluster has the bytes of a local one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.runs import parts
from kgqa.runs.files import file_hashes
from tests.cluster.conftest import Nodes
from tests.command import run_command


def hashes(folder: Path) -> dict[str, str]:
    """Of the tables and the manifest, without the parts, which may be cut in any way."""
    return {name: digest for name, digest in file_hashes(folder).items() if not name.startswith(".parts")}


@pytest.mark.real_data
def test_wikipedia_on_three_nodes(cluster: Nodes, tmp_path: Path, real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = real_data / "sources" / "mediawiki"
    files = [folder / "enwiki-gensim-shortened.xml.bz2", folder / "elwiki-truncated-100k.xml.xz"]
    options: dict[str, Any] = {"partial": True}
    local = kgqa.import_files("wikipedia", files, out=tmp_path / "local", **options)
    monkeypatch.setattr(parts, "GROUP_BYTES", 1)  # each piece of 4 MiB is a part
    monkeypatch.setattr(parts, "PART_BYTES", 10 << 20)
    nodes = kgqa.import_files("wikipedia", files, out=tmp_path / "nodes", cluster=cluster.address, **options)
    assert len(list((tmp_path / "nodes" / ".parts").glob("*/*-documents.parquet"))) > 3
    assert nodes.rows == local.rows
    assert nodes.skipped == local.skipped
    assert hashes(tmp_path / "nodes") == hashes(tmp_path / "local")


def test_the_command_and_a_file_that_is_cut(cluster: Nodes, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"id": "{at}", "title": "T{at}", "text": "word {at}"}}\n' for at in range(2_000)))
    for out, more in (("local", []), ("nodes", ["--cluster", cluster.address])):
        outcome = run_command("import", "texts", path, "--out", tmp_path / out, *more)
        assert outcome.status == 0, outcome.err
    assert hashes(tmp_path / "nodes") == hashes(tmp_path / "local")
    path.write_text(path.read_text()[:-4])
    cut = run_command("import", "texts", path, "--out", tmp_path / "cut", "--cluster", cluster.address)
    cut.sentence("texts.jsonl: line 2000 ends within a record, so the file is cut")
    assert not (tmp_path / "cut" / "import.json").exists()
