"""The figures of a project: equal to a recount that shares no code, and by hand where they are easy to see."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.cli.annotate_status import print_status
from kgqa.cli.terminal import Terminal
from kgqa.collection.figures import Figures, figures
from kgqa.collection.state import replay
from kgqa.collection.task import Figure
from kgqa.metrics.bootstrap import Interval
from tests.collection.recount import differences, recount
from tests.collection.simulated import PEOPLE, journal, write_database
from tests.collection.test_state import Story


@pytest.mark.parametrize(("items", "people", "model"), [(0, PEOPLE, True), (3, PEOPLE, True), (200, PEOPLE, True), (90, PEOPLE[:2], False)])
def test_figures_are_those_of_a_recount(items: int, people: tuple[str, ...], model: bool, tmp_path: Path) -> None:
    events = journal(items=items, seed=items, people=people, model=model)
    write_database(events, tmp_path / "journal.sqlite")
    ours = json.loads(json.dumps(figures(replay(events)).record()))
    assert not differences(ours, recount(tmp_path / "journal.sqlite", "simulated"))


def test_the_recount_finds_a_single_wrong_answer(tmp_path: Path) -> None:
    events = journal(items=50, seed=1)
    write_database(events, tmp_path / "journal.sqlite")
    place = next(place for place, event in enumerate(events) if event.kind == "submit" and event.person == "Ada")
    ours = json.loads(json.dumps(figures(replay([*events[:place], *events[place + 1 :]])).record()))
    assert differences(ours, recount(tmp_path / "journal.sqlite"))


def story() -> Story:
    """Two people on four items, one of which is left out, and six gold items of which Ada gets worse at."""
    made = Story("a", "b", "c", "d")
    for item, first, second in (("a", "yes", "yes"), ("b", "yes", "no"), ("c", "no", "no"), ("d", "yes", "no")):
        made.submit("Ada", item, first)
        made.submit("Ben", item, second)
        same = first == second
        made.add("decide", item=item, state="decided" if same else "disputed", labels={"q": first} if same else {})
    made.add("refuse", item="d", reason="flagged as bad")
    for number in range(6):
        made.item(f"g{number}", purpose="gold", gold={"value": "yes"}, gold_labels={"q": "yes"})
        made.submit("Ada", f"g{number}", "yes" if number < 3 else "no")
    return made


def test_figures_by_hand() -> None:
    found = figures(story().state())
    assert found.items == {"gold": 6, "work": 4}
    part = found.progress[0]
    assert (part.items, part.seats, part.answers) == (4, 8, 8)
    assert part.states == {"open": 0, "begun": 0, "disputed": 1, "decided": 2, "refused": 1}
    # a, b and c: of six answers three are yes; two of the three pairs are the same.
    agreement = found.agreement[0].agreement
    assert (agreement.items, agreement.unanimous) == (3, 2)
    assert agreement.observed == pytest.approx(2 / 3)
    assert agreement.fleiss.value == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))
    assert agreement.alpha.value == pytest.approx(1 - (1 / 3) / (3 / 5))
    (pair,) = found.pairs
    assert (pair.first, pair.second, pair.same.count, pair.same.of) == ("Ada", "Ben", 2, 3)
    assert pair.kappa.value == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    everybody, ada = found.drift
    assert (everybody.person, ada.person, ada.right.count, ada.right.of) == ("", "Ada", 3, 6)
    assert [window.count for window in ada.windows] == [1, 1, 1, 0, 0, 0]
    labels = {label.label: (label.answers.count, label.decided) for label in found.labels[0].labels}
    assert labels == {"no": (3, 1), "yes": (3, 1)}
    assert found.refused == {"flagged as bad": 1}
    assert (found.times[0].answers, found.times[0].median) == (8, 10.0)


def test_windows_are_tenths_in_order() -> None:
    made = Story()
    for number in range(40):
        made.item(f"g{number}", purpose="gold", gold_labels={"q": "yes"})
        made.submit("Ada", f"g{number}", "yes" if number < 20 else "no")
    windows = figures(made.state()).drift[1].windows
    assert [(window.count, window.of) for window in windows] == [(4, 4)] * 5 + [(0, 4)] * 5
    assert windows[0].low == pytest.approx(4 / (4 + 1.96**2), abs=1e-4)
    assert windows[0].high == 1.0


def test_gold_items_without_a_label_to_compare_are_in_no_drift() -> None:
    made = Story()
    made.item("g", purpose="gold", gold={"value": "yes"}, gold_labels={})
    made.submit("Ada", "g")
    assert figures(made.state()).drift == ()


def printed(found: Figures, capsys: pytest.CaptureFixture[str], *extra: Figure) -> str:
    console = Terminal()
    console.width = 160
    print_status(console, found, extra)
    return capsys.readouterr().out


def test_the_status_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    made = story()
    made.add("flag", "Ben", "a", reason="cut\x1b[31m\noff")
    made.submit("model:small", "a", "yes")
    made.add("withdraw", "Ben", reason="left")
    text = printed(figures(made.state()), capsys, Figure(name="valid", value=Interval(mean=50.0, low=20.0, high=80.0), items=2))
    for words in (
        "model:small",
        "a model",
        "withdrawn",
        "4 answers of people who withdrew",
        "valid",
        "50.0 (20.0 to 80.0)",
        "100 100 100 0 0 0",
    ):
        assert words in text
    assert "\x1b[31m" not in text
    assert "cut␛[31m off (1)" in text
    assert "No person" not in printed(figures(replay([])), capsys)
