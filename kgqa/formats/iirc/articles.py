"""The articles that IIRC's paragraphs link to, in a file beside the questions: one JSON object, title → text.

``dev_context_articles.json`` beside ``dev.json``, else ``context_articles.json``, each plain or gzip-compressed, or any file that is named.
Official titles are in lower case, and official texts have HTML tags, which are taken out as the authors' baseline does it
(``util.RetrieveArticle``): places in an article are counted without them.
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
from kgqa.formats.json.validate import FOUND

MAIN = "main"
"""What the paragraph that a question was asked about is called; an article of that title is called ``Main``."""
_TAG = re.compile(r"<[^>]*>")


def file(questions: Path) -> Path | None:
    """The file of articles that belongs to ``questions``, if there is one."""
    own, shared = beside(questions), questions.with_name("context_articles.json")
    names = [path.with_name(path.name + packed) for path in (own, shared) for packed in ("", ".gz")]
    return next((path for path in names if path.is_file()), None)


def beside(questions: Path) -> Path:
    """Where the articles of ``questions`` alone stand."""
    return questions.with_name(f"{questions.name.split('.json', maxsplit=1)[0]}_context_articles.json")


def fits(texts: Path) -> bool:
    """Whether the first entry of ``texts`` is a title with its text; of an object that cannot be read so far :func:`read` says why."""
    try:
        _, _, text = next(stream.members(texts, "article"), ("", "", ""))
    except InputError:
        return not _is_list(texts)
    return isinstance(text, str)


def _is_list(path: Path) -> bool:
    with suppress(InputError), stream.opened(path) as file:
        return file.read(stream.CHUNK_BYTES).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"[")
    return False


def read(path: Path, wanted: Collection[str]) -> dict[str, str]:
    """Title in lower case → text without tags, of the ``wanted`` articles.

    Of titles that differ in case only, the one in lower case counts, else the first. The file is read entry by entry; memory: the wanted
    texts, and all titles. Raises InputError with the title.
    """
    texts: dict[str, str] = {}
    for _, title, text in stream.members(path, "article"):
        if not isinstance(text, str):
            found = FOUND.get(type(text), "something else")
            raise BrokenInput(f"{path.name}, {title[:80]!r}: expected text, found {found}; fix or drop the article.")
        key = title.lower()
        if key in wanted and (key == title or key not in texts):
            texts[key] = _TAG.sub("", text)
    return texts


class Articles:
    """The articles of a file that is being written, each text once; memory: all of them."""

    def __init__(self) -> None:
        """Nothing was added yet."""
        self._texts: dict[str, str] = {}
        self._titles: dict[tuple[str, str], list[str]] = {}
        self._counts: dict[str, int] = {}
        self.sought = False
        """Whether texts of such a file were looked for and not there, which a file without any says too."""

    def add(self, title: str, text: str, taken: Collection[str]) -> str:
        """The title under which ``text`` stands: ``title``, or with ``#2`` or more where another text has it, or it is ``taken`` already.

        What is ``taken`` are the titles, in lower case, of the same question's other paragraphs.
        """
        known = self._titles.setdefault((title.lower(), text), [])
        free = next((name for name in known if name.lower() not in taken), None)
        if free is None:
            free = self._unused("Main" if title == MAIN else title, taken)
            known.append(free)
            self._texts[free.lower()] = text
        return free

    def _unused(self, title: str, taken: Collection[str]) -> str:
        number = self._counts.get(title.lower(), 0) + 1
        while (name := title if number == 1 else f"{title}#{number}").lower() in self._texts or name.lower() in taken:
            number += 1
        self._counts[title.lower()] = number
        return name

    def write(self, path: Path) -> None:
        """Write the file; where there is no article and none was ``sought``, there is none afterwards, so that no older one is found."""
        path.unlink(missing_ok=True)
        if self._texts or self.sought:
            lines = (f"{_json(title)}: {_json(text)}" for title, text in self._texts.items())
            with path.open("w", encoding="utf-8") as stream:
                stream.write("{\n" + next(lines, ""))
                stream.writelines(",\n" + line for line in lines)
                stream.write("\n}\n")


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
