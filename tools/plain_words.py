"""Counts what makes prose hard to read: long sentences, phrases that sound translated, docstrings of three words or fewer.

A help for whoever edits, not a gate. It looks at pages, at help texts, at messages, at the descriptions of settings and at docstrings,
and prints the counts of each file and group; ``--list`` prints every finding with its place.

    python -m tools.plain_words                     # the counts of each group
    python -m tools.plain_words --files             # and of each file
    python -m tools.plain_words --list docs/audit.md kgqa/checks
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 30
"""Words of a sentence that is not yet long."""
SHORTEST = 4
"""Words of a docstring that is not too short."""
PATTERNS = {
    "of which": r"\b(of|to|from|in|by|for|over|with|on|at) (which|whom)\b",
    "fronted": r"^(Of|To whom|Nor|So is|So are|So it is|So do|From what|By what|By which|With what) ",
    "what as a subject": r"^(What|Who|Whoever|Which|How far|How many|How much|How surely) [^?]*[^?]$",
    "stands": r"\b(stands?|stood|standing)\b(?! for\b)",
    "is asked": r"\b(is|are|was|were|be) (not )?(asked|told|said|given away|meant|sought)\b",
    "so many": r"\b(so many|so much|so few|so often|so long)\b",
    "who does not": r"\b(to|for|by) (who|whoever|one who|one from)\b",
    "inverted comparison": r"\b(oftener|seldom|the surer|the closer|likelier)\b|\bhow (surely|far|often)\b",
    "gives away": r"\b(give|gives|gave|given|takes?|took) (it )?away\b",
    "without a word": r"\bwithout a word\b|\banew\b|\bbeside\b|\bbe it\b|\bthereby\b|\bwhereby\b|\bmeanwhile\b",
    "there to be": r"\bthere (is|are) (nothing|none|no one)\b|\bthat (it|they) (has|have) not\b|\bmay be said\b|\bto be said\b",
}
COMPILED = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that a reader may stumble over."""

    group: str
    file: str
    line: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """A piece of text to read, and where it begins."""

    group: str
    file: str
    line: int
    text: str


def sentences(text: str) -> list[str]:
    """The sentences of a piece of prose; Markdown's marks and quoted code count as one word each.

    >>> sentences("One `a b` is short. Two are, too: e.g. here.")
    ['One X is short.', 'Two are, too: e.g. here.']
    """
    plain = re.sub(r"``?[^`]+``?", "X", " ".join(text.split()))
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain).replace("**", "").replace("*", "")
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\"“]|kgqa )", plain) if part.strip()]


def findings(prose: Prose) -> Iterator[Finding]:
    """Long sentences and patterns of a piece of prose."""
    for sentence in sentences(prose.text):
        words = re.findall(r"[\w'-]+", sentence)
        if len(words) > LONGEST:
            yield Finding(prose.group, prose.file, prose.line, "long sentence", sentence)
        for kind, pattern in COMPILED.items():
            if pattern.search(sentence):
                yield Finding(prose.group, prose.file, prose.line, kind, sentence)


def page_prose(path: Path) -> Iterator[Prose]:
    """Paragraphs, list items and table cells of a Markdown page, without its code."""
    name, fenced, begin, lines = str(path.relative_to(ROOT)), False, 0, list[str]()
    for number, line in enumerate([*path.read_text("utf-8").splitlines(), ""], 1):
        if line.startswith("```"):
            fenced = not fenced
        cells = line.startswith("|")
        if lines and (fenced or cells or not line.strip() or re.match(r"\s*([-*]|\d+\.) |#|    ", line)):
            yield Prose("pages", name, begin, " ".join(lines))
            lines = []
        if cells and not set(line) <= set("|-: "):
            for cell in line.strip("|").split("|"):
                yield Prose("pages", name, number, cell)
        elif not fenced and line.strip() and not cells and not line.startswith(("```", "    ", "#", "![")):
            begin = begin if lines else number
            lines.append(re.sub(r"^\s*([-*]|\d+\.) ", "", line))


def module_prose(path: Path) -> Iterator[Prose]:
    """Docstrings of a module, its classes and functions, and of its attributes; those of ``kgqa/settings`` are a group of their own."""
    name = str(path.relative_to(ROOT))
    group = "settings" if "settings" in path.parts else "docstrings"
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and isinstance(child.value.value, str):
                yield Prose(group, name, child.lineno, child.value.value)


def short_docstrings(prose: Prose) -> Iterator[Finding]:
    """A docstring of three words or fewer."""
    if prose.group == "docstrings" and len(prose.text.split()) < SHORTEST:
        yield Finding(prose.group, prose.file, prose.line, "short docstring", " ".join(prose.text.split()))


def message_prose(path: Path) -> Iterator[Prose]:
    """Sentences of errors, and what commands print; every placeholder is one word."""
    name = str(path.relative_to(ROOT))
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        raised = isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        printed = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in {"say", "print", "warn"}
        call = node.exc if isinstance(node, ast.Raise) else node
        for argument in call.args if (raised or printed) and isinstance(call, ast.Call) else ():
            if text := _text(argument):
                yield Prose("messages", name, argument.lineno, text)


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    return "".join(_text(part) or "X" for part in node.values) if isinstance(node, ast.JoinedStr) else ""


def help_prose() -> Iterator[Prose]:
    """What ``kgqa --help`` and ``kgqa COMMAND --help`` say."""
    from typer.main import get_group

    from kgqa.cli.app import COMMANDS, app

    group = get_group(app)
    for name in COMMANDS:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        yield Prose("help", f"kgqa {name} --help", 0, command.help or "")
        for parameter in command.params:
            yield Prose("help", f"kgqa {name} --help", 0, getattr(parameter, "help", None) or "")


def all_prose(places: Sequence[str]) -> Iterator[Prose]:
    """The prose of ``places``, files or folders below the root; without any, all of it and the help texts."""
    if not places:
        yield from help_prose()
        places = ["README.md", "docs", "kgqa"]
    for place in places:
        path = ROOT / place
        for file in [path] if path.is_file() else sorted([*path.glob("*.md"), *path.rglob("*.py")]):
            if file.suffix == ".md":
                yield from page_prose(file)
            else:
                yield from module_prose(file)
                yield from message_prose(file)


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("places", nargs="*", help="files or folders; all prose and the help texts by default")
    parser.add_argument("--files", action="store_true", help="counts of each file, too")
    parser.add_argument("--list", action="store_true", help="every finding with its place")
    options = parser.parse_args()
    prose = list(all_prose(options.places))
    found = [finding for piece in prose for finding in (*findings(piece), *short_docstrings(piece))]
    if options.list:
        for finding in found:
            print(f"{finding.file}:{finding.line}: {finding.kind}: {finding.text}")
    if options.files:
        for file, number in Counter(finding.file for finding in found).most_common():
            print(f"{number:6} {file}")
    for group in dict.fromkeys(piece.group for piece in prose):
        words = sum(len(piece.text.split()) for piece in prose if piece.group == group)
        counted = sum(len(sentences(piece.text)) for piece in prose if piece.group == group)
        kinds = Counter(finding.kind for finding in found if finding.group == group)
        print(f"{group}: {words:,} words, {counted:,} sentences, {sum(kinds.values()):,} findings")
        for kind, number in kinds.most_common():
            print(f"  {number:6,} {kind}")


if __name__ == "__main__":
    main()
