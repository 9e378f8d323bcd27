"""The frozen list of English words is what wordfreq says, for every limit."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

from kgqa.linking.words import FILE, plain_words
from tests.command import ROOT


def test_the_file_is_what_the_tool_makes() -> None:
    pytest.importorskip("wordfreq")
    from tools.english_words import lines

    with gzip.open(FILE, "rt", encoding="utf-8", newline="\n") as file:
        assert list(file) == list(lines())


@pytest.mark.parametrize("zipf", [0, 1.0, 1.1, 1.26, 2.0, 2.999, 3.0, 4.0, 4.35, 5.0, 7.73, 7.74, 8])
def test_a_word_is_plain_from_its_own_frequency_on(zipf: float) -> None:
    wordfreq = pytest.importorskip("wordfreq")
    frequencies = {word: round(wordfreq.freq_to_zipf(share), 2) for word, share in wordfreq.get_frequency_dict("en").items()}
    assert plain_words(zipf) == {word for word, frequency in frequencies.items() if frequency >= zipf}


def test_words_that_the_list_lacks_are_never_plain() -> None:
    assert "the" in plain_words(7.73)
    assert "the" not in plain_words(7.74)
    assert not plain_words(0) & {"", "The", "1984", "New York", "new york", "zzzzqq"}


def test_the_list_needs_no_package_and_says_whose_it_is() -> None:
    program = "import sys; sys.modules['wordfreq'] = None; from kgqa.linking.words import plain_words; assert 'body' in plain_words(4.0)"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=60)
    notice = FILE.with_name("english-words.md").read_text("utf-8")
    assert all(owner in notice for owner in ("Robyn Speer", "creativecommons.org/licenses/by-sa/4.0", "SUBTLEX", "OpenSubtitles", "Ngrams"))
