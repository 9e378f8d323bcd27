"""Labels of a graph cannot write into a page of Markdown."""

from __future__ import annotations

import re

import pytest

from kgqa.runs.markdown import escaped


@pytest.mark.parametrize(
    "text", ["<img src=x onerror=y>", "[a](http://b)", "![a](b)", "`x`", "a | b", "# a\n# b", "http://a.b", "c@d.e", "&lt;"]
)
def test_no_sign_of_markup_is_left_bare(text: str) -> None:
    told = escaped(text)
    assert "\n" not in told
    assert not re.search(r"[<>]|(?<!\\)[`\[\]()#|!:@]|&(?!amp;|lt;|gt;)", told)


@pytest.mark.parametrize("text", ["Görz", "place of birth", "首都"])
def test_a_plain_label_stays_as_it_is(text: str) -> None:
    assert escaped(text) == text
