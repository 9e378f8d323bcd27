"""A real dump of a small language and an excerpt of Wikidata's form become a dataset by one command."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from benchmarks import latgalian
from tests.conftest import Cli


@pytest.mark.real_data
def test_one_command_makes_a_dataset_of_the_latgalian_dump(cli: Cli, tmp_path: Path, real_data: Path) -> None:
    domain = latgalian.write(tmp_path / "dumps", real_data / "sources" / "mediawiki" / latgalian.DUMP)
    result = cli("generate", "--domain", str(domain), "--workspace", str(tmp_path / "workspace"))
    assert result.status == 0, result.err
    imported = tmp_path / "workspace" / "import"
    documents, facts = (pl.read_parquet(imported / f"{name}.parquet") for name in ("documents", "facts"))
    assert documents.height > 800
    assert documents["about"].str.contains(r"^Q\d+$").sum() == documents.height  # the excerpt's links lead to the articles
    assert set(facts["relation"]) <= set(latgalian.LABELS)
    mentions = pl.read_parquet(imported / "mentions.parquet").join(documents, left_on="document", right_on="id")
    assert mentions.height > 1000
    dataset = tmp_path / "workspace" / "datasets" / "latgalian"
    samples = pl.concat([pl.read_parquet(dataset / f"{split}.parquet") for split in ("train", "dev", "test")])
    assert samples.height > 0
    texts = dict(documents.select("id", "text").iter_rows())
    for sample in samples.iter_rows(named=True):
        assert {candidate["id"] for candidate in sample["candidates"]} >= {sample["answer_id"]}
        assert all(paragraph["text"] == texts[paragraph["id"]] for paragraph in sample["paragraphs"])
