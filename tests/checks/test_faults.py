"""Faults of content are counted, told and shown as text; wrong places are found in files as their makers would have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from kgqa.checks import CHECKS
from kgqa.checks.findings import EXAMPLES, Finding
from kgqa.checks.owned_faults import LIMIT, OWNERS, join_faults
from kgqa.checks.result import Audit
from kgqa.cli.audit import audit as command
from kgqa.commands.audit import audit
from kgqa.formats import native
from kgqa.formats.faults import FAULTS, Fault, note_faults
from kgqa.records import Instance, Paragraph
from tests.checks.sets import Splits, clean_set, findings, with_paragraphs
from tests.commands.test_audit import EVIL, tags

KINDS = list(FAULTS)


def noted(instance: Instance, kind: str, places: int = 1) -> Instance:
    """With ``places`` faults of a kind, as a reader notes them."""
    faults = [Fault(kind=kind, place=f"field.{n}.{instance.id}", detail=f"detail {n} {EVIL}") for n in range(places)]
    return replace(instance, provenance=note_faults(faults, beside=None))


def written(instances: list[Instance], folder: Path) -> Path:
    folder.mkdir()
    native.write(instances, folder / "dev.parquet")
    return folder


def by_name(done: Audit) -> dict[str, Finding]:
    return {finding.check: finding for finding in done.findings}


@pytest.fixture(scope="module")
def clean() -> Splits:
    return clean_set({"dev": 30})


def test_an_answer_without_a_character_has_a_name_in_the_list_of_answers(clean: Splits) -> None:
    instances = [replace(each, answers=(" ",)) for each in clean["dev"]]
    assert [part.name for part in findings({"dev": instances})["answer-frequency"].parts] == ["(empty)"]


def plural(instance: Instance) -> Instance:
    """With an "s" after the answer wherever a paragraph marks it."""

    def changed(paragraph: Paragraph) -> Paragraph:
        text, mentions = paragraph.text, []
        for each in paragraph.mentions or ():  # one mention of the answer at most, so the others are moved at most once
            if each.entity == instance.answer_id:
                text = text[: each.end] + "s" + text[each.end :]
        for each in paragraph.mentions or ():
            name = paragraph.text[each.start : each.end] + "s" * (each.entity == instance.answer_id)
            mentions.append(replace(each, start=text.index(name), end=text.index(name) + len(name)))
        return replace(paragraph, text=text, mentions=tuple(mentions))

    return with_paragraphs(instance, changed)


def test_a_marked_mention_of_the_answer_in_another_form_states_it(clean: Splits) -> None:
    inflected = [plural(each) for each in clean["dev"]]
    assert findings({"dev": inflected})["absent-answers"].count == 0
    without_marks = [with_paragraphs(each, lambda p: replace(p, mentions=None)) for each in inflected]
    assert findings({"dev": without_marks})["absent-answers"].count == len(without_marks)
    # A mark of the answer's entity does not count if the text there is another name.
    renamed = [replace(each, answers=("Xnowhere",)) for each in inflected]
    assert findings({"dev": renamed})["absent-answers"].count == len(renamed)


def test_the_support_states_an_answer_that_it_marks_in_another_form(clean: Splits) -> None:
    def with_distractor(instance: Instance) -> Instance:
        """A further paragraph without the supporting mark has the answer as it is."""
        further = Paragraph(id="further", title=None, text=f"So {instance.answers[0]} it was", supporting=False)
        return replace(plural(instance), paragraphs=(*plural(instance).paragraphs, further))

    instances = [with_distractor(each) for each in clean["dev"]]
    assert findings({"dev": instances})["unsupported-answers"].count == 0
    unmarked = [with_paragraphs(each, lambda p: replace(p, mentions=None)) for each in instances]
    assert findings({"dev": unmarked})["unsupported-answers"].count == len(unmarked)


def test_kinds_belong_to_checks_that_there_are() -> None:
    assert set(OWNERS) <= set(FAULTS)
    assert set(OWNERS.values()) <= {check.name for check in CHECKS}


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"empty-question", "empty-answer", "empty-title"}])
def test_what_a_reader_noted_is_counted_in_the_sum_and_in_the_check_of_its_subject(clean: Splits, kind: str) -> None:
    instances = [noted(each, kind) if number % 3 == 0 else each for number, each in enumerate(clean["dev"])]
    found = findings({"dev": instances})
    fault = {name: finding for name, finding in found.items() if finding.family == "fault" and finding.figure}
    assert set(fault) == {"content-faults", *([OWNERS[kind]] if kind in OWNERS else [])}
    for finding in fault.values():
        assert (finding.count, finding.total, len(finding.examples)) == (10, 30, 10)
        assert f"{FAULTS[kind]}: detail 0" in finding.examples[0].what
    whole = found["content-faults"]
    assert [(part.name, part.count, part.total) for part in whole.parts] == [(f"{kind}: {FAULTS[kind]}", 10, 30)]
    assert whole.note == (f"Part of it is the subject of other checks, which count it too: {OWNERS[kind]}." if kind in OWNERS else "")


def test_what_any_instance_shows_is_counted_in_both_checks(clean: Splits) -> None:
    empty: tuple[Callable[[Instance], Instance], ...] = (
        lambda i: replace(i, question=" "),
        lambda i: replace(i, answers=("",)),
        lambda i: replace(i, paragraphs=(replace(i.paragraphs[0], title=""), *i.paragraphs[1:])),
    )
    found = findings({"dev": [change(each) for change, each in zip(empty * 10, clean["dev"], strict=True)]})
    assert found["content-faults"].count == found["empty-fields"].count == 30
    assert [part.name.split(":")[0] for part in found["content-faults"].parts] == ["empty-answer", "empty-question", "empty-title"]


def test_the_figure_is_that_of_the_line_and_fails_a_build(clean: Splits, tmp_path: Path) -> None:
    instances = [noted(each, KINDS[number % len(KINDS)]) if number % 2 else each for number, each in enumerate(clean["dev"])]
    app = typer.Typer()
    app.command()(command)
    given = [str(written(instances, tmp_path / "set")), "--out", str(tmp_path / "out"), "--fail-on", "content-faults>0"]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 1
    assert "content-faults>0 fails: content-faults is 0.5000." in result.output
    assert "15 of 30 questions have faults of content" in result.output
    given[-1] = "content-faults>0.5"
    assert CliRunner().invoke(app, given).exit_code == 0
    assert CliRunner().invoke(app, [str(written(clean["dev"], tmp_path / "clean")), *given[1:-1], "content-faults>0"]).exit_code == 0


def test_a_set_in_which_all_is_wrong_everywhere_has_a_short_report_of_text(clean: Splits, tmp_path: Path) -> None:
    instances = [noted(replace(each, id=f"{EVIL}{each.id}"), KINDS[n % len(KINDS)], places=400) for n, each in enumerate(clean["dev"])]
    done = audit(written(instances, tmp_path / "set"), out=tmp_path / "out")
    found = by_name(done)["content-faults"]
    assert (found.figure, found.total, len(found.examples), len(found.parts)) == (1.0, 30, EXAMPLES, len(KINDS))
    assert all(len(example.what) < LIMIT + 40 for finding in done.findings for example in finding.examples if finding.family == "fault")
    assert done.html.stat().st_size < 200_000
    assert done.json.stat().st_size < 100_000
    page = done.html.read_text("utf-8")
    assert "detail 0 &lt;script&gt;alert(1)" in page
    assert not {"script", "img"} & {tag for tag, _ in tags(page)}
    assert not set("\x00\x1b\u202e") & set(page)
    assert len(done.remarks) == 1


def test_what_has_no_room_is_counted() -> None:
    assert join_faults([]) == ""
    assert join_faults(["a", "b"]) == "a; b"
    assert join_faults(["x" * 300, "y" * 200, "z"]) == "x" * 300 + "; and 2 more"
    assert join_faults(["x" * 1000, "y"]) == "x" * LIMIT + "…; and 1 more"


def sentences(text: str, starts: tuple[int, ...], supporting: tuple[int, ...] = ()) -> Paragraph:
    return Paragraph(
        id="p", title=None, text=text, supporting=True, mentions=None, sentences=starts, supporting_sentences=supporting
    )  # fmt: skip


@pytest.mark.parametrize(
    ("paragraph", "said"),
    [
        (sentences("It is. He was.", (0, 7), (1,)), None),
        (sentences("It is. He was.", (0, 6), (1,)), None),  # the space before a sentence is its own
        (sentences("東京。京都", (0, 1, 3)), None),
        (sentences("It is.He was.", (0, 6)), None),
        (sentences("", (0,)), None),
        (sentences("It is. He was.", (0, 8)), "a sentence begins within a word, at 8: “e was.”"),
        (sentences("It is. He was.", (1, 7)), "within a word, at 1"),
        (sentences("It is. He was.", (0, 15)), "a sentence begins at 15 in a text of 14 characters"),
        (sentences("It is. He was.", (-1, 7)), "a sentence begins at -1"),
        (sentences("It is. He was.", (7, 0)), "sentences out of order"),
        (sentences("It is. He was.", (0, 7), (2,)), "a supporting sentence that is not among its 2"),
    ],
)
def test_sentences_begin_where_words_do(clean: Splits, paragraph: Paragraph, said: str | None) -> None:
    found = findings({"dev": [replace(clean["dev"][0], paragraphs=(paragraph,))]})["wrong-spans"]
    assert found.figure == float(said is not None)
    assert [(said or "") in example.what for example in found.examples] == ([] if said is None else [True])


def shifted(folder: Path, out: Path, by: int) -> Path:
    """The dataset folder with every mention moved."""
    out.mkdir()
    for split, path in native.split_files(folder).items():
        moved = (
            replace(
                each,
                paragraphs=tuple(
                    replace(
                        p, mentions=tuple(replace(m, start=m.start + by, end=m.end + by) for m in p.mentions or () if m.end < len(p.text))
                    )
                    for p in each.paragraphs
                ),
            )
            for each in native.read(path)
        )
        native.write(moved, out / f"{split}.parquet")
    return out


@pytest.mark.slow
@pytest.mark.parametrize("domain", ["seed_wikidata", "seed_medline"])
def test_a_generated_set_whose_mentions_are_shifted_by_one(domain: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (folder,) = (request.getfixturevalue(domain) / "datasets").iterdir()
    sound = by_name(audit(folder, out=tmp_path / "sound"))["wrong-spans"]
    assert (sound.figure, sound.examples) == (0.0, ())
    found = by_name(audit(shifted(folder, tmp_path / "set", 1), out=tmp_path / "wrong"))["wrong-spans"]
    assert found.figure == 1.0
    assert len(found.examples) == EXAMPLES
    assert all("within a word" in example.what or "white space" in example.what for example in found.examples)


def test_links_of_iirc_that_are_shifted_by_one(tmp_path: Path) -> None:
    text = "The Douro flows from Spain to Porto, an old city."
    names = ("Douro", "Spain", "Porto")
    for by, wrong in ((0, 0.0), (1, 1.0), (-1, 1.0)):
        links = [{"target": name, "indices": [text.index(name) + by, text.index(name) + len(name) + by]} for name in names]
        asked = {"qid": "q", "question": "Where?", "answer": {"type": "span", "answer_spans": [{"text": "Spain"}]}, "question_links": []}
        path = tmp_path / f"dev{by}.json"
        path.write_text(json.dumps([{"pid": "1", "title": "Douro", "text": text, "links": links, "questions": [asked]}]), "utf-8")
        assert by_name(audit(path, out=tmp_path / f"out{by}"))["wrong-spans"].figure == wrong


def test_a_set_whose_answers_have_places_is_one_that_can_be_checked(tmp_path: Path) -> None:
    answer = {"text": "Ada", "answer_start": 0}
    for start, applies in ((0, True), (None, False)):
        asked = {"id": "1", "question": "Who sang?", "answers": [{**answer, "answer_start": start}]}
        path = tmp_path / f"dev-{start}.json"
        articles = [{"title": "Song", "paragraphs": [{"context": "Ada sang.", "qas": [asked]}]}]
        path.write_text(json.dumps({"version": "1.1", "data": articles}), "utf-8")
        done = audit(path, out=tmp_path / "out", fail_on=["wrong-spans>0"] if applies else [])
        assert not done.failed
        assert by_name(done)["wrong-spans"].applies == applies
