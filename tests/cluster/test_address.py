"""What is said of a cluster that is named wrongly, and by whom it is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.cluster.address import probe
from kgqa.errors import SettingsError
from tests.conftest import Cli


@pytest.mark.parametrize("seconds", ["nonsense", "-1", "0", "nan", "1e9"])
def test_a_wrong_number_of_seconds_is_said_with_what_to_set(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", seconds)
    sentence = f"KGQA_CLUSTER_SECONDS is '{seconds}'; set it to a number of seconds from 0.1 to 86,400, or unset it for 30."
    with pytest.raises(SettingsError) as error:
        probe("host:6379")
    assert str(error.value) == sentence


def test_an_address_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    with pytest.raises(SettingsError, match=r"^--cluster auto: RAY_ADDRESS is 'nonsense', .*; set it to HOST:PORT or ray://HOST:PORT, or"):
        probe("auto")


@pytest.mark.parametrize("command", ["generate", "compose", "relations"])
def test_a_cluster_of_a_file_is_named_by_the_file(command: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.toml"
    path.write_text('cluster = "auto"\nextends = "wikidata"\nseed_domain = "wikidata"\n')
    arguments = [command, *([] if command == "relations" else ["--domain"]), path, "--workspace", tmp_path / "w"]
    monkeypatch.setattr("kgqa.cluster.opening.find_spec", lambda _: None)
    assert f'{path}: cluster = "auto" needs Ray, which is not installed; run: pip install' in cli(*arguments).err
    monkeypatch.setattr("kgqa.cluster.opening.find_spec", lambda _: True)
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_ADDRESS", "nonsense")
    cli(*arguments).sentence(f"{path}: cluster = \"auto\": RAY_ADDRESS is 'nonsense', which is no address of a cluster; set it to")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    monkeypatch.setenv("KGQA_CLUSTER_SECONDS", "0.1")
    cli(*arguments).sentence(
        f'{path}: cluster = "auto", RAY_ADDRESS 127.0.0.1:9: no Ray cluster answered at 127.0.0.1:9 within 0.1 seconds'
    )
    assert not (tmp_path / "w").exists()
