"""The selectors learn which links and windows are needed; the pipeline answers, with each stage its own or replaced by gold."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st

from kgqa.records import Instance
from tests.small_links import KNOWN, article, linked_question, linked_questions
from tests.small_questions import question, write_set, write_toml

torch = pytest.importorskip("torch", reason="the extra [readers] is not installed")

import kgqa  # noqa: E402
from kgqa.errors import EmptyResult, MissingInput, SettingsError  # noqa: E402
from kgqa.progress import Silent  # noqa: E402
from kgqa.readers.specification import specification  # noqa: E402
from kgqa.readers.transformer.link_selector import NO_LINKS, NOT_LINKED, THRESHOLDS, LinkSelector, best_threshold  # noqa: E402
from kgqa.readers.transformer.linked import Linked  # noqa: E402
from kgqa.readers.transformer.window_selector import WindowSelector, window_spans  # noqa: E402
from kgqa.training.questions import of_list  # noqa: E402
from kgqa.training.reader import Fitting, Prediction, Reader  # noqa: E402

WINDOW = {"window": 32, "question_tokens": 16}
GOLD = {"links": "gold", "context": "gold"}
Record = Callable[[dict[str, object]], None]


def fitted(
    name: str,
    encoder: str,
    place: Path,
    some: Sequence[Instance],
    *,
    dev: Sequence[Instance] = (),
    record: Record = lambda _: None,
    settings: dict[str, Any] | None = None,
    **training: Any,
) -> Reader:
    asked = specification(
        name, settings={"encoder": encoder, **({} if name == "link-selector" else WINDOW), **(settings or {})},
        training={"learning_rate": 0.003, "batch": 8, "epochs": 1, "device": "cpu", "patience": 1000, **training},
    )  # fmt: skip
    reader = asked.make()
    fitting = Fitting(place=place, settings=asked.training, seed=3, progress=Silent(), record=record)
    reader.fit(of_list(some), of_list(dev) if dev else None, fitting)
    return reader


def said(reader: Reader, some: Sequence[Instance]) -> list[Prediction]:
    return list(reader.predict(of_list(some), Silent()))


def again(reader: Reader, name: str, folder: Path) -> Reader:
    folder.mkdir()
    reader.save(folder)
    other = specification(name, settings={}, training={"device": "cpu"}).make()
    other.load(folder)
    return other


def test_links_are_learned_and_kept(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    reader = fitted("link-selector", tiny_encoder, tmp_path / "fit", some, epochs=40)
    found = said(reader, some)
    assert sum(one.supporting == (each.question[11:14],) for one, each in zip(found, some, strict=True)) >= 7
    assert [[name for name, _ in one.paragraph_scores] for one in found[:2]] == [["arl", "dun"], ["bem", "eft"]]
    assert all(0 < score < 1 for one in found for _, score in one.paragraph_scores)
    kept = again(reader, "link-selector", tmp_path / "saved")
    assert said(kept, some) == found
    assert json.loads((tmp_path / "saved" / "reader.json").read_text())["state"] == {"threshold": 0.5}


def test_the_threshold_of_dev_is_kept(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    reader = fitted("link-selector", tiny_encoder, tmp_path / "fit", some, dev=some)
    found = said(reader, some)
    kept = cast(LinkSelector, again(reader, "link-selector", tmp_path / "saved"))
    assert kept.state() == {"threshold": best_threshold(of_list(some), found)}
    assert kept.state()["threshold"] in THRESHOLDS
    assert said(kept, some) == found
    fixed = fitted("link-selector", tiny_encoder, tmp_path / "fixed", some, dev=some, settings={"threshold": 0.99})
    assert {one.supporting for one in said(fixed, some)} == {()}


@pytest.mark.slow
def test_windows_are_learned_and_kept(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    reader = cast(WindowSelector, fitted("window-selector", tiny_encoder, tmp_path / "fit", some, epochs=80))
    holding = 0
    for instance, ranked in zip(some, reader.ranked(of_list(some), Silent()), strict=True):
        assert len(ranked) > 4
        (start, end) = map(int, ranked[0][0].rpartition("@")[2].split("-"))
        holding += "capital" in article(int(instance.id[1:]), supporting=True).text[start:end]
    assert holding >= 7
    found = said(reader, some)
    assert [name for name, _ in found[0].paragraph_scores] == ["ARL", "DUN"]
    assert said(again(reader, "window-selector", tmp_path / "saved"), some) == found


@given(st.integers(0, 60), st.integers(1, 20), st.integers(1, 20), st.integers(1, 30))
def test_windows_overlap_and_cover_the_text(tokens: int, size: int, step: int, most: int) -> None:
    ends = [(3 * number, 3 * number + 2) for number in range(tokens)]
    spans = window_spans(ends, size, min(step, size), most)
    assert len(spans) <= most
    assert (not spans) == (not ends)
    if not spans:
        return
    assert spans[0][0] == 0
    for (_, end), (start, later) in pairwise(spans):
        assert start <= end + 1
        assert later > end
    if len(spans) < most:
        assert spans[-1][1] == ends[-1][1]
    assert all((end - start + 1) // 3 == min(size, tokens) for start, end in spans)


@pytest.mark.slow
def test_the_pipeline_answers_and_each_stage_can_be_gold(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    reader = cast(Linked, fitted("linked", tiny_encoder, tmp_path / "fit", some, epochs=150))
    rights = {}
    for name, stages in (("pipeline", {}), ("links", {"links": "gold"}), ("context", {"context": "gold"}), ("none", {"links": "none"})):
        found = said(reader.with_stages(**stages), some)  # type: ignore[arg-type]
        rights[name] = sum(one.answer == each.answers[0] for one, each in zip(found, some, strict=True))
        for one, each in zip(found, some, strict=True):
            assert set(one.supporting) <= {paragraph.id for paragraph in each.paragraphs}
    # It learned from marked sentences, which always begin a text; so small a network does not find an answer elsewhere.
    assert rights["context"] >= 7
    assert rights["none"] == 0
    for stages in ({}, {"links": "gold"}):
        other = reader.with_stages(**stages)  # type: ignore[arg-type]
        shown = other._read(of_list(some), other._contexts(of_list(some), progress=Silent()))
        assert sum(any("capital" in part.text and part.supporting for part in instance.paragraphs) for instance in shown) >= 6
    found = said(reader, some)
    assert said(again(reader, "linked", tmp_path / "saved"), some) == found
    assert [said(reader, [each])[0].answer for each in some] == [one.answer for one in found]


def test_gold_stages_show_what_is_marked_and_no_more(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    reader = cast(Linked, fitted("linked", tiny_encoder, tmp_path / "fit", some, settings=GOLD))
    contexts = reader._contexts(of_list(some), progress=Silent())
    shown = list(reader._read(of_list(some), contexts))
    for number, instance in enumerate(shown):
        name = instance.question[11:14]
        assert [paragraph.text for paragraph in instance.paragraphs[1:]] == [KNOWN.format(name, some[number].answers[0])]
        assert [paragraph.supporting for paragraph in instance.paragraphs] == [False, True]
    by_links = reader.with_stages(context="selected")
    for one in said(by_links, some):
        assert {name for name, _ in one.paragraph_scores} == {"main", some[int(one.id[1:])].question[11:14].upper()}
    assert {name for one in said(reader.with_stages(links="none", context="selected"), some) for name, _ in one.paragraph_scores} == {
        "main"
    }
    with pytest.raises(SettingsError, match="trained with links = gold"):
        reader.with_stages(links="selected")


def test_questions_without_marks_get_selected_windows(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    unmarked = replace(
        some[0], id="none", answers=(), answerable=False, answer_type="none",
        paragraphs=tuple(replace(each, supporting=None, supporting_sentences=None) for each in some[0].paragraphs),
        provenance='{"iirc": {"question_links": ["DUN"]}}',
    )  # fmt: skip
    reader = cast(Linked, fitted("linked", tiny_encoder, tmp_path / "fit", [*some, unmarked], settings={"links": "gold"}))
    contexts = reader._contexts(of_list([unmarked, *some]), progress=Silent(), training=True)
    assert [part.partition("@")[0] for part in contexts["none"]] == ["DUN"]
    assert [part.partition("@")[0] for part in contexts["q1"]] == ["BEM"]
    assert list(contexts) == ["none", *(each.id for each in some)]


def test_a_run_that_was_cut_off_goes_on_to_the_same_bytes(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()

    def stop(point: dict[str, object]) -> None:
        if point["part"] == "answerer":
            raise RuntimeError("cut off")

    whole = fitted("linked", tiny_encoder, tmp_path / "whole", some, dev=some)
    with pytest.raises(RuntimeError, match="cut off"):
        fitted("linked", tiny_encoder, tmp_path / "cut", some, dev=some, record=stop)
    assert (tmp_path / "cut" / "train.json").is_file()
    second = fitted("linked", tiny_encoder, tmp_path / "cut", some, dev=some)
    for reader, name in ((whole, "one"), (second, "two")):
        (tmp_path / name).mkdir()
        reader.save(tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) > 8
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes(), file


def test_any_reader_of_paragraphs_can_answer(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions()
    settings = {**GOLD, "answerer": "sa", "answering": {"selected": 1}}
    reader = fitted("linked", tiny_encoder, tmp_path / "fit", some, settings=settings)
    assert {len(one.paragraph_scores) for one in said(again(reader, "linked", tmp_path / "saved"), some)} == {1}


BAD_SETTINGS = [
    ({"answerer": "numbers"}, "reader 'numbers' is not known"),
    ({"answerer": "decomposer"}, "does not answer from paragraphs"),
    ({"answerer": "linked"}, "does not answer from paragraphs"),
    ({"answerer": "ee", "answering": {"no": 1}}, "unknown setting 'no'"),
    ({"links": "none", "context": "gold"}, "leave out context = gold"),
    ({"links": "all"}, "the setting 'links' cannot be"),
    ({"window": 8}, "max_length = 8"),
]


@pytest.mark.parametrize(("settings", "message"), BAD_SETTINGS)
def test_bad_settings_are_a_sentence(settings: dict[str, Any], message: str, tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        fitted("linked", tiny_encoder, tmp_path / "fit", linked_questions(), settings=settings)
    assert "\n" not in str(raised.value)


def test_an_unknown_answerer_leaves_nothing_behind(tiny_encoder: str, tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", train=linked_questions())
    toml = write_toml(tmp_path / "linked.toml", "linked", tiny_encoder, settings='answerer = "numbers"')
    with pytest.raises(SettingsError, match="reader 'numbers' is not known"):
        kgqa.train(str(toml), dataset, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_passages_without_links_teach_nothing(tiny_encoder: str, tmp_path: Path) -> None:
    with pytest.raises(EmptyResult, match=NO_LINKS):
        fitted("link-selector", tiny_encoder, tmp_path / "fit", [question(number) for number in range(4)])
    some = [*linked_questions(4), question(5)]
    reader = cast(LinkSelector, fitted("link-selector", tiny_encoder, tmp_path / "more", some))
    assert reader.fitted is not None
    assert reader.fitted.faults == {NO_LINKS: 1}
    assert said(reader, some)[-1].paragraph_scores == ()


def test_a_needed_article_to_which_no_link_leads_is_counted(tiny_encoder: str, tmp_path: Path) -> None:
    odd = linked_question(5)
    passage = replace(odd.paragraphs[0], mentions=(odd.paragraphs[0].mentions or ())[:1])
    odd = replace(odd, paragraphs=(passage, *odd.paragraphs[1:]))
    reader = cast(LinkSelector, fitted("link-selector", tiny_encoder, tmp_path / "fit", [*linked_questions(4), odd]))
    assert reader.fitted is not None
    assert reader.fitted.faults == {NOT_LINKED: 1}


def test_odd_questions_are_answered(tiny_encoder: str, tmp_path: Path) -> None:
    some = linked_questions(4)
    long = replace(article(0, supporting=True), text="the river. " * 200 + KNOWN.format("arl", "vax"), sentences=None)
    odd = [
        replace(linked_question(0, articles=False), id="links without articles"),
        replace(linked_question(0), id="no passage", paragraphs=()),
        replace(linked_question(0), id="long", paragraphs=(linked_question(0).paragraphs[0], replace(long, supporting_sentences=None))),
        replace(linked_question(0), id="empty", paragraphs=(linked_question(0).paragraphs[0], replace(long, text="", sentences=None))),
        replace(question(3), id="no links"),
    ]
    reader = fitted("linked", tiny_encoder, tmp_path / "fit", [*some, *odd], dev=odd, settings={"article_windows": 3})
    found = said(reader, [*some, *odd])
    assert [one.id for one in found] == [each.id for each in [*some, *odd]]
    windows = cast(WindowSelector, cast(Linked, reader)._windows)
    view = windows._view
    assert view is not None
    assert len(view(odd[2]).paragraphs) == 3


def test_articles_come_from_a_file(tiny_encoder: str, tmp_path: Path) -> None:
    bare = linked_question(0, articles=False)
    file = tmp_path / "context_articles.json"
    settings = {"articles": str(file), "links": "gold"}
    with pytest.raises(MissingInput, match="there is no such file"):
        fitted("linked", tiny_encoder, tmp_path / "fit", linked_questions(), settings=settings)
    file.write_text(json.dumps({"arl": "the <b>capital</b> of arl is vax."}), "utf-8")
    bare = replace(bare, provenance='{"iirc": {"question_links": ["arl"]}}')
    reader = cast(Linked, fitted("linked", tiny_encoder, tmp_path / "fit", linked_questions(), settings=settings))
    contexts = reader._contexts(of_list([bare]), progress=Silent())
    (shown,) = reader._read(of_list([bare]), contexts)
    assert shown.paragraphs[1].text.startswith("the capital of arl")
    assert len(said(reader, [bare])) == 1


def test_other_datasets_are_trained_on_beside(tiny_encoder: str, tmp_path: Path) -> None:
    other = write_set(tmp_path / "other", train=[question(number) for number in range(8)])
    settings = {"beside": {str(other): 1.0}, "beside_share": 0.5}
    reader = cast(Linked, fitted("linked", tiny_encoder, tmp_path / "fit", linked_questions(), settings=settings))
    links, whole = reader._links, reader.fitted
    assert links is not None
    assert links.fitted is not None
    assert whole is not None
    assert (links.fitted.questions, whole.questions) == (8, 16)
    assert links.fitted.faults == {NO_LINKS: 8}


def test_the_threshold_is_the_best_on_dev() -> None:
    some = linked_questions(4)

    def predicted(scores: Sequence[tuple[float, float]]) -> list[Prediction]:
        """Of each question the probability of the needed link, and of another."""
        return [
            Prediction(id=each.id, answer="", paragraph_scores=((each.question[11:14], needed), ("x", other)))
            for each, (needed, other) in zip(some, scores, strict=True)
        ]

    assert best_threshold(of_list(some), predicted([(0.9, 0.32), (0.31, 0.28), (0.8, 0.2), (0.7, 0.1)])) == 0.3
    assert best_threshold(of_list(some), predicted([(0.9, 0.1)] * 4)) == 0.5
    assert best_threshold(of_list(some), predicted([(0.99, 0.93)] * 4)) == 0.95
    assert best_threshold(of_list([replace(each, paragraphs=()) for each in some]), predicted([(0.9, 0.8)] * 4)) == 0.5
