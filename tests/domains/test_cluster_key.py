"""The key ``cluster`` of a domain's file: the option comes first, and a wrong value is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.domains import chosen_cluster, load_domain
from kgqa.errors import SettingsError
from tests.conftest import Cli

TOML = 'extends = "wikidata"\nseed_domain = "wikidata"\n'


def written(folder: Path, more: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(more + TOML if more.startswith("cluster") else TOML + more)
    return path


def test_the_option_comes_before_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, 'cluster = "auto"\n')
    assert chosen_cluster(path, None).address == "auto"
    assert chosen_cluster(path, "head:6379").address == "head:6379"
    assert chosen_cluster(path, "none").address == "none"
    assert chosen_cluster("wikidata", None).address is None
    extending = tmp_path / "other.toml"
    extending.write_text('extends = "mine.toml"\ncluster = "auto"\n')
    assert chosen_cluster(extending, None).address == "auto"


def test_no_dataset_says_which_cluster_made_it(tmp_path: Path) -> None:
    path = written(tmp_path, 'cluster = "auto"\n')
    plain = tmp_path / "plain.toml"
    plain.write_text(TOML)
    assert load_domain(path).settings.cluster == "auto"
    assert load_domain(path).settings.resolved() == load_domain(plain).settings.resolved()


@pytest.mark.parametrize("value", ['""', '"head:6379"', '"ray://head:10001"', '"none"', "6379", "true", '["auto"]'])
@pytest.mark.parametrize("command", ["generate", "compose", "relations"])
def test_a_wrong_value_is_one_sentence(tmp_path: Path, cli: Cli, command: str, value: str) -> None:
    path = written(tmp_path, f"cluster = {value}\n")
    outcome = cli(command, *([] if command == "relations" else ["--domain"]), path, "--workspace", tmp_path / "w")
    outcome.sentence(f"{path}: ", "cluster", "it must be ")
    assert not (tmp_path / "w").exists()
    with pytest.raises(SettingsError, match="cluster"):
        load_domain(path)


def test_a_variant_names_no_cluster(tmp_path: Path) -> None:
    path = written(tmp_path, '[variants.less]\ncluster = "auto"\n')
    with pytest.raises(SettingsError, match="the variant less has cluster, but all variants use the same cluster; move them out"):
        load_domain(path)
