"""Dataset cards: what the hub reads, and texts of users that must show as text."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

import kgqa
from kgqa.domains import load_domain
from kgqa.runs.card import escaped, front_matter, licence_section, loading, size_category, table
from tests.command import ROOT

OWN = 'extends = "wikidata"\nname = "harbour"\ndataset = "harbours"\n'


def own(folder: Path, more: str = "") -> Path:
    (folder / "own.toml").write_text(OWN + more, "utf-8")
    return folder / "own.toml"


def test_an_own_domain_inherits_no_statement_about_another(tmp_path: Path) -> None:
    settings = load_domain(own(tmp_path), source=tmp_path).settings
    head = front_matter(
        settings.title, {"train": 9, "dev": 0, "test": 2}, "0" * 8, tasks=("question-answering",), twins=("masked",),
        licence=settings.licence,
    )  # fmt: skip
    whole = head + licence_section(settings.licence, settings.attribution) + settings.limits
    assert (settings.title, settings.licence, settings.attribution) == ("harbours", "unknown", ())
    assert not [word for word in ("cc-by-sa", "WikiHop", "Wikipedia") if word in whole]
    said = yaml.safe_load(head.strip("-"))
    assert (said["license"], said["pretty_name"], said["size_categories"]) == ("unknown", "harbours", ["n<1K"])
    assert [[part["split"] for part in one["data_files"]] for one in said["configs"]] == [["train", "test"]] * 2


def test_the_hub_reads_the_front_matter(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    settings = load_domain(own(tmp_path, 'title = "Häfen: \\"neu\\""\nlicence = "cc-by-4.0"\n'), source=tmp_path).settings
    head = front_matter(settings.title, {"train": 5000}, "0" * 8, tasks=("question-answering",), licence=settings.licence)
    card = hub.DatasetCard(head + "\n\n# x\n")
    assert (card.data.pretty_name, card.data.license, card.data.size_categories) == ('Häfen: "neu"', "cc-by-4.0", ["1K<n<10K"])


def test_the_licence_and_attribution_of_a_domain_are_on_its_card(tmp_path: Path) -> None:
    settings = load_domain(own(tmp_path, 'licence = "cc0-1.0"\nattribution = ["Port office <b>"]\n'), source=tmp_path).settings
    assert "cc0-1.0" in licence_section(settings.licence, settings.attribution)
    assert "- Port office &lt;b&gt;" in licence_section(settings.licence, settings.attribution)


def test_the_small_domain_is_not_attributed_to_others() -> None:
    assert load_domain("wikidata").settings.attribution == ()
    assert load_domain("wikidata", source=Path("x")).settings.attribution


@pytest.mark.parametrize("text", ["<img src=x onerror=alert(1)>", "[x](http://a.example)", "`a` | b\n# c", "http://a.example", "&lt;b&gt;"])
def test_texts_of_users_are_shown_literally(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown
    assert not [mark for mark in ("<", "[x](", "http://", "&lt;b&gt;") if mark in shown.replace("&lt;img", "")]
    assert table(["a"], [[shown]]).splitlines()[-1].replace("\\|", "").count("|") == 2


@pytest.mark.parametrize(("count", "said"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**9, "1B<n<10B")])
def test_sizes_are_those_of_the_hub(count: int, said: str) -> None:
    assert size_category(count) == said


def test_loading_names_a_split_that_is_there() -> None:
    assert 'load_dataset("FOLDER", "full", split="validation")' in loading({"train": 0, "dev": 3, "test": 0}, twins=("full",))


MARKUP = "<img src=x onerror=alert(1)> [x](http://a.example) `b` | ![y](z)"


@pytest.mark.parametrize(
    "what", [pytest.param("paths", marks=pytest.mark.slow), "entailed", pytest.param("composed", marks=pytest.mark.slow)]
)
def test_labels_of_relations_are_shown_literally(what: str, tmp_path: Path) -> None:
    source = Path(shutil.copytree(ROOT / "seeds" / "wikidata", tmp_path / "source"))
    head, *rows = (source / "relations.tsv").read_text("utf-8").splitlines()
    spoilt = [re.sub(r"^([^\t]*\t[^\t]*)", lambda match: f"{match[1]} {MARKUP}", row) for row in rows]
    (source / "relations.tsv").write_text("\n".join([head, *spoilt]) + "\n", "utf-8")
    workspace = tmp_path / "w"
    made: kgqa.Composition | kgqa.Report
    if what == "composed":
        made = kgqa.compose(domain="wikidata", source=source, filter="none", workspace=workspace)
    else:
        made = kgqa.generate("wikidata", source=source, recipe=None if what == "paths" else what, workspace=workspace)
    card = re.sub(r"```.*?```", "", (made.dataset / "README.md").read_text("utf-8"), flags=re.DOTALL)
    assert "img src=x" in card
    assert not re.findall(r"<img|(?<!\\)\]\(http://a|(?<!\\)`b`|(?<!\\)!\[y", card)
