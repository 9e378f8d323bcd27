"""Inflected names are found where the texts put the same endings on many names, and nothing else is."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl
import pyarrow as pa
import pytest

from kgqa.linking.inflections import NAMES, inflections
from kgqa.linking.link import Linked
from kgqa.sources.tables import frame
from tests.linking.test_dictionary import Names, link as link_by

SYLLABLES = ("ba", "ko", "li", "men", "tar", "vo", "rin", "sul", "pe", "dra", "no", "fim", "gal", "hol", "ju", "ke", "tö", "mü")


def invented(count: int, seed: int = 0) -> list[str]:
    """Names none of which begins another one."""
    rng, result = random.Random(seed), list[str]()
    while len(result) < count:
        name = "".join(rng.choice(SYLLABLES) for _ in range(3)).capitalize()
        if not any(name.startswith(item) or item.startswith(name) for item in result):
            result.append(name)
    return result


def german(name: str) -> list[str]:
    return [
        f"{name} liegt am Fluss.",
        f"Viele fahren im Sommer nach {name}.",
        f"Die Stadt {name} ist alt.",
        f"Das Rathaus {name}s ist alt.",
    ]


def turkish(name: str) -> list[str]:
    """Without the apostrophe, as people write on the net."""
    last = next(letter for letter in reversed(name.lower()) if letter in "aeıioöuü")
    back = last in "aıou"
    where, of = ("da", "nın" if name[-1] in "aeiouöü" else "ın") if back else ("de", "nin" if name[-1] in "aeiouöü" else "in")
    return [
        f"{name} büyük bir şehirdir.",
        f"Eski {name} çok güzeldir.",
        f"Yazın {name}{where} kalırlar.",
        f"Eski kale {name}{of} ortasındadır.",
    ]


def finnish(name: str) -> list[str]:
    last = next((letter for letter in reversed(name.lower()) if letter in "aouäöy"), "ä")
    where = "ssa" if last in "aou" else "ssä"
    joint = "" if name[-1] in "aeiouöü" else "i"
    return [
        f"{name} on suuri kaupunki.",
        f"Vanha {name} on kaunis.",
        f"Kesällä {name}{joint}{where} sataa.",
        f"Linna on {name}{joint}n keskellä.",
    ]


def hungarian(name: str) -> list[str]:
    last = next((letter for letter in reversed(name.lower()) if letter in "aouoeiöü"), "a")
    where = "ban" if last in "aou" else "ben"
    return [f"{name} nagy város.", f"A régi {name} szép.", f"Nyáron {name}{where} maradnak."]


LANGUAGES: dict[str, tuple[Callable[[str], list[str]], str]] = {
    "de": (german, "s"), "tr": (turkish, "da"), "fi": (finnish, "ssa"), "hu": (hungarian, "ban"),
}  # fmt: skip


def link(names: Names, *texts: str, inflections: bool = True, candidates: str = "", language: str = "") -> Linked:
    return link_by(names, *texts, inflections=inflections, candidates=candidates, language=language)


def linked(names: list[str], texts: list[str], *more: str) -> Linked:
    table: Names = [(f"e{number:03}", name, "label") for number, name in enumerate(names)]
    return link(table, *more, *texts, candidates="")


def surfaces(linked: Linked, text: str, document: str = "d0") -> list[tuple[str, str]]:
    """What the mentions of a document are of, and their characters."""
    rows = frame(linked.mentions).filter(pl.col("document") == document)
    return [(entity, text[start:end]) for entity, start, end in rows.select("entity", "start", "end").iter_rows()]


@pytest.mark.parametrize("code", LANGUAGES)
def test_the_mention_is_the_name_without_its_ending(code: str) -> None:
    sentences, ending = LANGUAGES[code]
    names = invented(120)
    texts = [" ".join(sentences(name)) for name in names]
    result = linked(names, texts)
    assert ending in result.endings
    item = [surfaces(result, text, f"d{number}") for number, text in enumerate(texts)]
    assert all(set(places) == {(f"e{number:03}", name)} for number, (name, places) in enumerate(zip(names, item, strict=True)))
    # Of few names with some ending ("issä") nothing is learned.
    assert sum(map(len, item)) >= 0.95 * sum(len(sentences(name)) for name in names)


@pytest.mark.parametrize("code", LANGUAGES)
def test_without_the_setting_only_the_name_itself_is_found(code: str) -> None:
    sentences, _ = LANGUAGES[code]
    names = invented(40)
    texts = [" ".join(sentences(name)) for name in names]
    result = link([(name, name, "label") for name in names], *texts, inflections=False)
    assert result.endings == ()
    bare = sum(text.replace(".", "").split().count(name) for name, text in zip(names, texts, strict=True))
    assert result.mentions.num_rows == bare < sum(len(sentences(name)) for name in names)


@pytest.mark.parametrize("code", LANGUAGES)
def test_of_few_names_nothing_is_learned(code: str) -> None:
    names = invented(NAMES - 1)
    assert linked(names, [" ".join(LANGUAGES[code][0](name)) for name in names]).endings == ()


GERMAN = invented(40, seed=1)
TEXTS = [" ".join(german(name)) for name in GERMAN]


def test_what_is_a_name_itself_is_that_name() -> None:
    text = f"{GERMAN[0]}s ist ein Dorf."
    table: Names = [*((name, name, "label") for name in GERMAN), ("other", f"{GERMAN[0]}s", "label")]
    result = link(table, text, *TEXTS)
    assert result.endings == ("s",)
    assert surfaces(result, text) == [("other", f"{GERMAN[0]}s")]


def test_what_stands_in_many_names_is_a_word_of_its_own() -> None:
    text = f"Mark {GERMAN[0]}s kam zu spät."
    table: Names = [(name, name, "label") for name in GERMAN]
    table += [(f"other {number}", f"{first} {GERMAN[0]}s", "label") for number, first in enumerate(("Ada", "Berta", "Carl"))]
    assert surfaces(link(table, text, *TEXTS), text) == []
    assert surfaces(link(table, f"{GERMAN[1]}s Markt", *TEXTS), f"{GERMAN[1]}s Markt") == [(GERMAN[1], GERMAN[1])]


def test_an_everyday_word_is_no_form() -> None:
    word = f"{GERMAN[0]}s"
    text = f"Er war stets da. {word} war er auch dort."
    everyday = f"Man ging {word.lower()} hin, und {word.lower()} her, dann {word.lower()} fort."
    table: Names = [(name, name, "label") for name in GERMAN]
    assert surfaces(link(table, text, *TEXTS), text) == [(GERMAN[0], GERMAN[0])]
    assert surfaces(link(table, text, *TEXTS, everyday), text) == []


def test_what_is_oftener_than_its_name_is_a_word_of_its_own() -> None:
    text = f"Der {GERMAN[0]}s ist da. " * 12
    table: Names = [(name, name, "label") for name in GERMAN]
    assert surfaces(link(table, text, *TEXTS), text) == []


def test_names_of_several_words_and_possible_answers_have_endings_too() -> None:
    text = f"Die Mühlen Alt {GERMAN[0]}s und {GERMAN[1]}s."
    table: Names = [*((name, name, "label") for name in GERMAN), ("c", f"Alt {GERMAN[0]}", "label")]
    result = link(table, text, *TEXTS, candidates="c")
    assert surfaces(result, text) == [("c", f"Alt {GERMAN[0]}"), (GERMAN[1], GERMAN[1])]
    rows = frame(result.occurrences).filter(pl.col("document") == "d0")
    assert [(entity, text[start:end]) for entity, start, end in rows.select("entity", "start", "end").iter_rows()] == [
        ("c", f"Alt {GERMAN[0]}")
    ]


def test_letters_of_several_bytes_are_cut_as_characters() -> None:
    names = invented(40, seed=2)
    texts = [f"{name} on suuri. Vanha {name} on kaunis. Siellä {name}ssä sataa." for name in names]
    text = f"Sää: Äiti oli {names[0]}ssä."
    assert surfaces(linked(names, texts, text), text) == [("e000", names[0])]


def english(name: str, rng: random.Random) -> str:
    """As often as texts of the English Wikipedia have plurals of names."""
    output = " ".join(
        [f"{name} is a town.", f"They went to {name} in summer.", f"The hall of {name} is old.", f"{name}'s hall is old."] * 3
    )
    return f"{output} The {name}s play there." if rng.random() < 0.15 else output


@pytest.mark.parametrize("language", ["en", ""])
def test_english_plurals_are_no_names(language: str) -> None:
    rng, names = random.Random(3), invented(120, seed=3)
    texts = [english(name, rng) for name in names]
    assert sum("The " + name + "s play" in text for name, text in zip(names, texts, strict=True)) > NAMES
    table: Names = [*((name, name, "label") for name in names), ("America", "America", "label")]
    text = "Americans are people of America; they like Americana."
    result = link(table, text, *texts, language=language)
    assert result.endings == ()
    assert surfaces(result, text) == [("America", "America")]


def test_what_makes_words_of_some_names_is_no_inflection() -> None:
    names = [f"{name}a" for name in invented(80, seed=4)]
    texts = [f"{name} is old. They saw {name}. The hall of {name}." for name in names]
    # Of twelve countries the adjective is said often, of the others never.
    texts += [f"The {name}n people and the {name}n language. The {name}n hall. A {name}n. {name} again." for name in names[:12]]
    assert linked(names, texts).endings == ()


def test_what_names_are_joined_with_is_no_inflection() -> None:
    joints = ("ufer", "weg", "tal", "berg", "hof", "turm", "see", "wald", "feld", "bach")
    texts = [f"{text} Der {name}{joints[number % 10]} ist lang." for number, (name, text) in enumerate(zip(GERMAN, TEXTS, strict=True))]
    assert linked(GERMAN, texts).endings == ("s",)


def test_korean_particles_stay_a_closed_class() -> None:
    names = ["노르반", "수드마르", "오스트렐", *(f"{first}{last}골" for first in "강남북동서" for last in "산들물길")]
    texts = [f"{name}은 크다. {name}에서는 비가 온다. 옛 {name}대학교가 있다." for name in names]
    result = linked(names, texts)
    assert result.endings == ()
    assert surfaces(result, texts[0]) == [("e000", "노르반")] * 2


def test_japanese_and_chinese_names_have_no_endings() -> None:
    names = [f"{first}{last}" for first in "東西南北中" for last in "京海山川"]
    texts = [f"{name}は大きい。{name}的人。" for name in names]
    assert linked(names, texts).endings == ()


def test_the_forms_are_the_same_whatever_the_order_of_names_and_the_sample() -> None:
    texts = pa.chunked_array([pa.array(TEXTS * 3)])
    given = inflections(pl.Series(GERMAN), texts)
    turned = inflections(pl.Series(GERMAN[::-1]), texts)
    assert given.endings == turned.endings == ("s",)
    assert given.forms.equals(turned.forms)
    size = sum(len(text.encode()) for text in TEXTS * 3)
    sampled = inflections(pl.Series(GERMAN), texts, sample=size // 2)
    assert sampled.forms.equals(given.forms)
