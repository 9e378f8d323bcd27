"""The articles that IIRC's paragraphs link to, in a separate file: one JSON object, title → text.

The file for ``dev.json`` is ``dev_context_articles.json``, else ``context_articles.json``, each plain or gzip-compressed, or any file that
the user names. Official titles are in lower case. HTML tags in official texts are removed as in the authors' baseline
(``util.RetrieveArticle``), and offsets in an article are counted without them.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from kgqa.errors import BrokenInput, InputError
from kgqa.formats.json import stream
from kgqa.formats.json.validate import TYPE_NAMES

MAIN = "main"
"""The name of the paragraph that a question was written for; an article with this title is called ``Main``."""
WORD = "context_articles"
"""Part of the names of files of articles."""
_TAG = re.compile(r"<[^>]*>")


def file(questions: Path) -> Path | None:
    """The file of articles that belongs to ``questions``, None if it does not exist."""
    own_file, shared = beside(questions), questions.with_name(f"{WORD}.json")
    names = [path.with_name(path.name + suffix) for path in (own_file, shared) for suffix in ("", ".gz")]
    return next((path for path in names if path.is_file()), None)


def beside(questions: Path) -> Path:
    """The path of the articles that belong to ``questions`` alone."""
    return questions.with_name(f"{questions.name.split('.json', maxsplit=1)[0]}_{WORD}.json")


def fits(texts: Path) -> bool:
    """Whether the first entry of ``texts`` is a title with its text; also true of a damaged object, which :func:`read` then refuses."""
    try:
        _, _, text = next(stream.members(texts, "article"), ("", "", ""))
    except InputError:
        return not _is_list(texts)
    return isinstance(text, str)


def _is_list(path: Path) -> bool:
    with suppress(InputError), stream.opened(path) as file:
        return file.read(stream.CHUNK_BYTES).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    return False


def read(path: Path, titles: Collection[str]) -> dict[str, str]:
    """Title in lower case → text without tags, of the articles whose titles are in ``titles``.

    If titles differ in case only, the one in lower case counts, else the first. Memory: the wanted texts and all titles. Raises InputError
    with the title.
    """
    texts: dict[str, str] = {}
    for _, title, text in stream.members(path, "article"):
        if not isinstance(text, str):
            kind = TYPE_NAMES.get(type(text), "something else")
            raise BrokenInput(f"{path.name}, {title[:80]!r}: expected text, found {kind}; fix or drop the article.")
        key = title.lower()
        if key in titles and (key == title or key not in texts):
            texts[key] = _TAG.sub("", text)
    return texts


class Articles:
    """The articles of a file that is being written, each text once. Memory: all texts."""

    def __init__(self) -> None:
        """Articles are added with :meth:`add`."""
        self._texts: dict[str, str] = {}
        self._titles: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}
        self.is_needed = False
        """Whether to write a file even without articles: the original set had a file that lacked some texts."""

    def add(self, title: str, text: str, other_titles: Collection[str]) -> str:
        """Add ``text`` and return its title: ``title``, with ``#2`` and so on if another text has it or it is among ``other_titles``.

        ``other_titles``: those of the same question's other paragraphs, in lower case.
        """
        names = self._titles.setdefault((title.lower(), text), [])
        free = next((name for name in names if name.lower() not in other_titles), None)
        if free is None:
            free = self._free_title("Main" if title == MAIN else title, other_titles)
            names.append(free)
            self._texts[free.lower()] = text
        return free

    def _free_title(self, title: str, used_titles: Collection[str]) -> str:
        number = self._counts.get(title.lower(), 0) + 1
        while (name := title if number == 1 else f"{title}#{number}").lower() in self._texts or name.lower() in used_titles:
            number += 1
        self._counts[title.lower()] = number
        return name

    def write(self, path: Path) -> None:
        """Write the file if there is an article or it ``is_needed``, else remove an older file of that name."""
        path.unlink(missing_ok=True)
        if self._texts or self.is_needed:
            lines = (f"{_json(title)}: {_json(text)}" for title, text in self._texts.items())
            with path.open("w", encoding="utf-8") as output:
                output.write("{\n" + next(lines, ""))
                output.writelines(",\n" + line for line in lines)
                output.write("\n}\n")


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
