"""Texts of others in Markdown, as they are: no markup, no link, no HTML."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[\\`*_{}\[\]()#+!|~$:@-]")
"""Signs with which Markdown, or a dialect of it, makes anything of a text; addresses become links by ``:`` and ``@``."""
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escaped(text: str) -> str:
    r"""``text`` on one line, so that Markdown shows its own characters.

    >>> escaped("<b>x</b> [y](http://z)")
    '&lt;b&gt;x&lt;/b&gt; \\[y\\]\\(http\\://z\\)'
    """
    line = " ".join(text.split())
    return re.sub("[&<>]", lambda sign: _HTML[sign[0]], _SPECIAL.sub(r"\\\g<0>", line))
