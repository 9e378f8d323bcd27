"""Every public set of the real data goes in, out and in again: in its own format, in ours, and in those that hold its questions."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import kgqa
from kgqa.formats.question_set import open_dataset
from kgqa.formats.registry import FORMATS
from kgqa.formats.round_trip import LOST

FILES = {
    "2wikimultihopqa/2wiki_dev_200.json": ("twowiki", 200),
    "boolq/boolq_perturbed.json": ("boolq", 409),
    "drop/drop_contrast_sets_test.json": ("drop", 947),
    "hotpotqa/hotpot_dev_distractor_200.json": ("hotpotqa", 200),
    "iirc/iirc_dev_1301.jsonl": ("iirc", 1301),
    "musique/derived_single_hop.jsonl": ("nq", 600),
    "musique/musique_ans_dev_200.jsonl": ("musique", 200),
    "musique/musique_ans_dev_2417_no_paragraphs.jsonl": ("musique", 2417),
    "nq/qed-dev.jsonl": ("nq", 1355),
    "qangaroo/medhop_dev.masked_1.json": ("qangaroo", 1),
    "qangaroo/medhop_dev_1.json": ("qangaroo", 1),
    "qangaroo/medhop_train.masked_1.json": ("qangaroo", 1),
    "qangaroo/medhop_train_1.json": ("qangaroo", 1),
    "qangaroo/wikihop_dev.masked_2.json": ("qangaroo", 2),
    "qangaroo/wikihop_dev_28.json": ("qangaroo", 28),
    "qangaroo/wikihop_train.masked_2.json": ("qangaroo", 2),
    "qangaroo/wikihop_train_22.json": ("qangaroo", 22),
    "squad/dev-v1.1.json": ("squad", 10570),
    "squad/squad_train_v1.1_piece.json": ("squad", 1027),
    "squad/xquad.en.json": ("squad", 1190),
    "strategyqa/dev.json": ("strategyqa", 229),
    "strategyqa/train.json": ("strategyqa", 2061),
}
"""File → its format, and its questions."""
ONE_OF_EACH = list({form: name for name, (form, questions) in FILES.items() if questions < 1500}.values())
DRAWN = 3
"""How many of them are converted to each format in a day."""
pytestmark = pytest.mark.real_data


@pytest.mark.parametrize("name", FILES)
def test_a_set_goes_in_out_and_in_again(name: str, real_data: Path, tmp_path: Path) -> None:
    form, questions = FILES[name]
    source = open_dataset(real_data / name)
    assert (source.format, source.recognised) == (form, True)
    for to in (form, "native"):
        done = kgqa.convert(real_data / name, to=to, out=tmp_path / to)
        assert sum(done.counts.values()) == questions
        assert done.changed == {}
    back = kgqa.convert(tmp_path / "native", to=form, out=tmp_path / "back")
    assert back.changed == {}
    assert list(open_dataset(tmp_path / "back", form).instances()) == list(source.instances())


@pytest.mark.parametrize("to", [form for form in FORMATS if form != "native"])
def test_a_set_goes_into_another_format_or_is_refused_with_a_reason(
    to: str, real_data: Path, tmp_path: Path, random_seed: int, pytestconfig: pytest.Config
) -> None:
    names = ONE_OF_EACH if pytestconfig.getoption("--thorough") else random.Random(f"{random_seed} {to}").sample(ONE_OF_EACH, DRAWN)
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, refused = None, ""
        try:
            done = kgqa.convert(real_data / name, to=to, out=folder / "out", lossy=True)
        except kgqa.KgqaError as error:
            refused = str(error)
        if done is None:
            assert refused.startswith("instance "), name
            assert not list(folder.iterdir()), name
        else:
            assert sum(done.counts.values()) == FILES[name][1], name
            assert LOST not in done.changed, name


def test_squad_scores_the_same_as_drop_and_back_again(real_data: Path, tmp_path: Path) -> None:
    """Predictions that are right, in part right and wrong, of any annotator's answer."""
    name = "squad/dev-v1.1.json"
    said = {}
    for number, instance in enumerate(open_dataset(real_data / name).instances()):
        answer = instance.answers[-1]
        said[instance.id] = (answer, " ".join(answer.split()[:2]), instance.answers[0] + " of it", "nothing")[number % 4]
    given = tmp_path / "predictions.json"
    given.write_text(json.dumps(said), "utf-8")
    wanted = kgqa.evaluate(real_data / name, given).scores.official
    kgqa.convert(real_data / name, to="drop", out=tmp_path / "drop.json")
    kgqa.convert(tmp_path / "drop.json", to="squad", out=tmp_path / "squad.json")
    for path in (tmp_path / "drop.json", tmp_path / "squad.json"):
        assert kgqa.evaluate(path, given, metric="squad").scores.official == wanted


def test_every_file_of_the_public_sets_is_named_here(real_data: Path) -> None:
    others = {"strategyqa/dev_evidence_paragraphs_998.jsonl"}
    folders = {name.partition("/")[0] for name in FILES}
    found = {path.relative_to(real_data).as_posix() for folder in folders for path in (real_data / folder).glob("*.json*")}
    assert found == set(FILES) | others
