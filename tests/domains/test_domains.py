"""Domains: built in, extended, and the small data's settings, which give way to the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa import domains
from kgqa.domains import DESCRIPTION, built_in, load_domain
from kgqa.errors import SettingsError

OWN = 'extends = "wikidata"\nseed_domain = "wikidata"\n'


@pytest.mark.parametrize("name", built_in())
def test_a_built_in_domain_has_small_data(name: str) -> None:
    domain = load_domain(name)
    assert domain.is_seed
    assert domain.source.is_dir()
    assert domain.settings.name == name
    own = load_domain(name, source=Path("/data"))
    assert not own.is_seed
    assert own.source == Path("/data")


def test_small_data_have_limits_of_their_own() -> None:
    small, full = load_domain("wikidata").settings.qangaroo, load_domain("wikidata", source=Path("x")).settings.qangaroo
    assert small.max_candidates < full.max_candidates == 100
    assert load_domain("wikidata").settings.title != load_domain("wikidata", source=Path("x")).settings.title


def test_an_extended_domain_changes_only_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('extends = "wikidata"\ntitle = "Mine"\n[qangaroo.bias]\nanswer_cap = 0.5\n')
    base, own = (load_domain(name, source=tmp_path).settings.model_dump() for name in ("wikidata", path))
    assert {name: own.pop(name) for name in ("title", "licence", "attribution")} == {
        "title": "Mine",
        "licence": "unknown",
        "attribution": (),
    }
    assert own["qangaroo"]["bias"].pop("answer_cap") == 0.5
    del base["qangaroo"]["bias"]["answer_cap"]
    assert own["limits"] != base["limits"]  # what is said of Wikipedia's texts is not said of others
    assert {**base, **own} == {**base, "limits": own["limits"]}


def test_the_users_settings_win_over_those_of_the_small_data(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'{OWN}title = "Mine"\n[qangaroo]\nmax_candidates = 50\n')
    settings = load_domain(tmp_path / "own.toml").settings
    assert (settings.title, settings.qangaroo.max_candidates) == ("Mine", 50)
    assert settings.qangaroo.max_documents == load_domain("wikidata").settings.qangaroo.max_documents


def test_a_domain_that_stands_alone_wins_over_the_small_data_too(tmp_path: Path) -> None:
    text = (Path(domains.__file__).parent / "wikidata.toml").read_text("utf-8")
    (tmp_path / "own.toml").write_text(text.replace("[qangaroo]\n", "[qangaroo]\nmax_candidates = 50\n"), "utf-8")
    settings = load_domain(tmp_path / "own.toml").settings.qangaroo
    assert settings.max_candidates == 50
    assert settings.max_documents == load_domain("wikidata").settings.qangaroo.max_documents


def test_a_chain_of_files_is_followed_and_their_queries_found(tmp_path: Path) -> None:
    header = "// name: mine\n// purpose: p\n// params: none\n// returns: entity: string, document: string\n// stores: embedded\nRETURN 1\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "mine.cypher").write_text(header)
    (tmp_path / "a" / "base.toml").write_text(
        'extends = "medline"\nname = "base"\n[projection]\nfiles = ["mine.cypher"]\nentity_to_document = ["mine"]\n'
    )
    (tmp_path / "own.toml").write_text('extends = "a/base.toml"\ndataset = "own"\n')
    domain = load_domain(tmp_path / "own.toml", source=tmp_path)
    assert (domain.settings.name, domain.settings.dataset) == ("base", "own")
    assert "mine" in domain.queries
    assert domain.settings.projection.files == ("a/mine.cypher",)


@pytest.mark.parametrize("text", ['extends = "wikidata"\n', 'extends = "wikidata"\nseed_domain = ""\n', 'extends = "base.toml"\n'])
def test_a_domain_of_ones_own_names_its_source(text: str, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('extends = "wikidata"\nname = "base"\n')
    (tmp_path / "own.toml").write_text(text)
    with pytest.raises(SettingsError, match=r'pass the folder .* as --source, .* write seed_domain = "wikidata" into the file'):
        load_domain(tmp_path / "own.toml")
    assert not load_domain(tmp_path / "own.toml", source=tmp_path).is_seed


def test_a_domain_of_ones_own_may_name_the_small_data(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "further.toml").write_text('extends = "own.toml"\n')
    built_in_one = load_domain("wikidata")
    for name in ("own.toml", "further.toml"):
        domain = load_domain(tmp_path / name)
        assert (domain.is_seed, domain.source) == (True, built_in_one.source)
        assert domain.settings.model_dump(exclude=set(DESCRIPTION)) == built_in_one.settings.model_dump(exclude=set(DESCRIPTION))


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", ["wikidatta", "../seeds/wikidata", "/etc"])
def test_small_data_that_are_not_there_are_refused(name: str, given: bool, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'extends = "wikidata"\nseed_domain = "{name}"\n')
    with pytest.raises(SettingsError, match=f"there is no small domain '{name}'; (did you mean|choose one of)"):
        load_domain(tmp_path / "own.toml", source=tmp_path if given else None)


@pytest.mark.parametrize("value", ["3", "[1]", "true"])
def test_small_data_that_are_no_name_are_refused(value: str, tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(f'extends = "wikidata"\nseed_domain = {value}\n')
    with pytest.raises(SettingsError, match="'seed_domain' cannot be"):
        load_domain(tmp_path / "own.toml")
