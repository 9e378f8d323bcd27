"""Variants of a domain: the paper's recipe, one's own, and those that are written wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.domains import DESCRIPTION, load_domain
from kgqa.errors import SettingsError
from kgqa.recipes.qangaroo.filtering import PAPER
from tests import contents
from tests.conftest import Cli
from tests.domains.test_bad_domains import OWN, QUERY, SEEDS


def own(folder: Path, text: str, *, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("name", ["medline", "wikidata"])  # which are made as papers describe
@pytest.mark.parametrize("source", [None, Path("x")])
def test_the_papers_recipe_asks_for_no_evidence_and_changes_what_it_says_alone(name: str, source: Path | None) -> None:
    good, paper = (load_domain(name, source=source, recipe=recipe).settings for recipe in (None, "paper"))
    if source is None:  # so few facts cannot grade chains
        good = load_domain(name, recipe="entailed").settings
    assert (good.qangaroo.evidence.use, paper.qangaroo.evidence.use) == (True, False)
    assert paper.qangaroo.traversal.through_end_points
    # MedHop's own recipe reads longer abstracts and more spellings, and has larger dev and test splits.
    changed = {"qangaroo", "projection", *(("documents", "linking") if name == "medline" else ())}
    assert {key: value for key, value in paper.model_dump().items() if key not in changed} == {
        key: value for key, value in good.model_dump().items() if key not in changed
    }
    if name != "medline":
        assert paper.qangaroo.splits == good.qangaroo.splits


def test_the_papers_recipe_filters_as_the_card_says_that_it_does() -> None:
    # The figures "the paper's recipe" on the card of the good set are those of the set that --recipe paper makes.
    assert load_domain("wikidata", source=Path("x"), recipe="paper").settings.qangaroo.bias == PAPER


def test_the_papers_recipe_of_medhop_runs_over_drugs_too() -> None:
    good, paper = (load_domain("medline", recipe=recipe).settings for recipe in (None, "paper"))
    assert good.projection.chains != paper.projection.chains
    assert len(paper.projection.candidates) == len(paper.projection.chains) == len(good.projection.chains)
    assert not good.qangaroo.traversal.through_end_points
    assert good.qangaroo.endpoint_kind == "drug"


def test_variants_are_no_settings() -> None:
    assert "variants" not in load_domain("wikidata").settings.model_dump()


MINE = (
    OWN
    + "[variants.mine]\ntitle = 'Mine'\n[variants.mine.qangaroo]\nmax_candidates = 50\n[variants.mine.qangaroo.bias]\nanswer_cap = 0.5\n"
)


def test_a_variant_of_ones_own_changes_only_what_it_says(tmp_path: Path) -> None:
    path = own(tmp_path, MINE)
    plain, mine = (load_domain(path, source=tmp_path, recipe=recipe).settings for recipe in (None, "mine"))
    base = load_domain("wikidata", source=tmp_path).settings
    assert plain.model_dump(exclude=set(DESCRIPTION)) == base.model_dump(exclude=set(DESCRIPTION))
    changed = mine.model_dump()
    assert (changed.pop("title"), changed["qangaroo"].pop("max_candidates")) == ("Mine", 50)
    assert changed["qangaroo"]["bias"].pop("answer_cap") == 0.5
    rest = plain.model_dump()
    del rest["title"], rest["qangaroo"]["max_candidates"], rest["qangaroo"]["bias"]["answer_cap"]
    assert changed == rest


def test_a_variant_is_inherited_and_changed_as_all_else(tmp_path: Path) -> None:
    own(tmp_path, MINE, name="base.toml")
    path = own(
        tmp_path, 'extends = "base.toml"\n[variants.mine.qangaroo]\nmax_candidates = 60\n[variants.paper.qangaroo]\nplaceholders = 200\n'
    )
    mine, paper = (load_domain(path, source=tmp_path, recipe=recipe).settings.qangaroo for recipe in ("mine", "paper"))
    assert (mine.max_candidates, mine.bias.answer_cap) == (60, 0.5)
    assert (paper.placeholders, paper.evidence.use, paper.bias) == (200, False, PAPER)


def test_a_variant_wins_over_the_domain_and_over_the_small_data(tmp_path: Path) -> None:
    path = own(tmp_path, f'seed_domain = "wikidata"\n{MINE}[qangaroo]\nmax_candidates = 40\nmin_candidates = 3\n')
    plain, mine = (load_domain(path, recipe=recipe).settings.qangaroo for recipe in (None, "mine"))
    assert (plain.max_candidates, plain.min_candidates, plain.max_documents) == (40, 3, 9)
    assert (mine.max_candidates, mine.min_candidates, mine.max_documents) == (50, 3, 9)


ALONE = (Path(__file__).parents[2] / "kgqa" / "domains" / "wikidata.toml").read_text("utf-8").split("[variants.paper", maxsplit=1)[0]
BROKEN = {
    "a slip of the hand": (OWN, "papr", "the domain has no recipe 'papr'; did you mean paper?"),
    "another name": (OWN, "mine", "the domain has no recipe 'mine'; choose one of entailed, iirc, paper, strategyqa."),
    "no name": (OWN, "", "the domain has no recipe ''; choose one of entailed, iirc, paper, strategyqa."),
    "a name with strange letters": (MINE, "../mine", "the domain has no recipe '../mine'; did you mean mine?"),
    "none at all": (ALONE, "paper", "the domain has no recipe 'paper'; choose one of iirc, strategyqa."),
    "no table": (f"{OWN}variants = 3\n", None, "'variants' must contain a table for each name, such as [variants.paper]; fix the file."),
    "no table of a name": (f"{OWN}[variants]\npaper = true\n", "paper", "'variants' must contain a table for each name"),
    "a list": (f"{OWN}[[variants]]\nqangaroo = 1\n", "paper", "'variants' must contain a table for each name"),
    "an unknown setting": (f"{OWN}[variants.mine.qangaroo]\nmax_candidate = 3\n", "mine", "unknown setting 'qangaroo.max_candidate'"),
    "a value that cannot be": (f"{OWN}[variants.mine.qangaroo]\nmin_candidates = 1\n", "mine", "qangaroo.min_candidates"),
    "variants of variants": (f"{OWN}[variants.mine.variants.other]\ntitle = 'x'\n", "mine", "unknown setting 'variants'"),
    "settings that do not go together": (
        f"{OWN}[variants.mine.qangaroo.traversal]\nthrough_end_points = false\n", "mine", "through_end_points = false needs endpoint_kind",
    ),
    "another layout": (f"{OWN}[variants.mine.source]\nlayout = 'medline'\n", "mine", "own.toml: there is no kind of name 'title' in the"),
    "a query that is not there": (f"{OWN}[variants.mine.projection]\nchains = ['nothing']\n", "mine", "there is no query 'nothing'"),
}  # fmt: skip


@pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["run", "dry run"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_variant_that_cannot_be_is_one_sentence(name: str, dry: list[str], tmp_path: Path, cli: Cli) -> None:
    text, recipe, said = BROKEN[name]
    path = own(tmp_path, text)
    before = contents.files(tmp_path)
    asked = [] if recipe is None else ["--recipe", recipe]
    cli("generate", "--domain", path, "--source", SEEDS, "--workspace", tmp_path / "w", *asked, *dry).sentence("own.toml", said)
    assert contents.files(tmp_path) == before


USING = OWN + "[variants.mine.projection]\nfiles = ['FILE']\nentity_to_document = ['mine']\n"


@pytest.mark.parametrize("name", ["../outside.cypher", "ABSOLUTE", "link.cypher"])
def test_a_variant_reads_nothing_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "outside.cypher").write_text(QUERY)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "link.cypher").symlink_to("../outside.cypher")
    path = own(tmp_path / "inner", USING.replace("FILE", name.replace("ABSOLUTE", str(tmp_path / "outside.cypher"))))
    for recipe in (None, "mine"):
        with pytest.raises(SettingsError, match="which is outside of this file's folder"):
            load_domain(path, source=tmp_path, recipe=recipe)


def test_a_variants_queries_lie_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "mine.cypher").write_text(QUERY)
    own(tmp_path / "inner", USING.replace("FILE", "mine.cypher"))
    path = own(tmp_path, 'extends = "inner/own.toml"\n')
    assert "mine" in load_domain(path, source=tmp_path, recipe="mine").queries


def test_a_variant_that_nobody_asks_for_harms_nobody(tmp_path: Path) -> None:
    path = own(tmp_path, f"{OWN}[variants.mine.qangaroo]\nmax_candidate = 3\n")
    settings, base = (load_domain(name, source=tmp_path).settings.model_dump(exclude=set(DESCRIPTION)) for name in (path, "wikidata"))
    assert settings == base
    with pytest.raises(SettingsError, match="max_candidate"):
        load_domain(path, source=tmp_path, recipe="mine")
