"""The tokens of a Cypher statement, and the statement written again from them.

Engines differ in where a comment ends, in what an escape stands for and in what counts as a space. So no engine sees what a user wrote:
it gets the tokens that were checked, written in the part of the language that all engines read alike. There are no comments in it, no
semicolon, no escapes beyond ``\\\\``, the quotation mark and five control characters, and outside of quotation marks and backticks hardly
a character beyond ASCII. Whatever cannot be written that way is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from kgqa.errors import QueryError

_TOKEN = re.compile(
    r"""(?P<space>[ \t\n\f\v]+|\r\n|//[^\r\n]*|/\*.*?\*/|\A\ufeff|[^\S\x00-\x20\x85])
    |(?P<text>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")
    |(?P<quoted>`(?:``|[^`])*`)
    |(?P<parameter>\$\s*(?:\w+|`(?:``|[^`])*`))
    |(?P<number>0[xX][0-9a-fA-F]+|0[oO][0-7]+|[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    |(?P<word>[^\W\d](?:\w|[^\x00-\x7f\s])*)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
_UNCLOSED = {"'": "quotation mark", '"': "quotation mark", "`": "backtick", "/": "comment"}
ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
"""What stands after a backslash in a text → what both engines read."""
_ESCAPED = {character: "\\" + letter for letter, character in ESCAPES.items() if letter not in "'\""}
_OF_NAMES = ("L", "M", "N", "Pc")
"""Unicode's categories of which names are made outside of backticks."""


class Token(NamedTuple):
    """One token as an engine gets it."""

    kind: str
    """``value`` (also a name in backticks and a parameter), ``word``, or ``sign``."""
    text: str
    """A word beyond ASCII is in backticks, since it can be no word of the language."""
    gap: str
    """Spaces and ends of lines before it: as many as there were characters, so that an engine's line and column fit what was written."""


def tokens_of(text: str) -> list[Token]:
    """The tokens of one statement, without comments and a semicolon at its end. Raises QueryError for what engines may not read alike."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise QueryError("the query is not UTF-8; write it in UTF-8.") from None
    if re.search(r"\\u", text, re.IGNORECASE):
        # Neo4j reads such an escape before anything else, also in the middle of a word.
        raise QueryError("the query contains a \\u escape; write the character itself.")
    tokens: list[Token] = []
    gap, ended = "", False
    for match in _TOKEN.finditer(text):
        kind, part = str(match.lastgroup), match[0]
        if kind == "space":
            gap += re.sub(r"[^\n]", " ", part.replace("\r\n", "\n"))
            continue
        if ended:
            raise QueryError("the query has more than one statement; give one statement at a time.")
        if kind == "sign":
            _check_sign(text, match.start())
        ended = kind == "sign" and part == ";"
        if ended:
            continue
        token = _token(kind, part, gap)
        if not gap and tokens and "sign" not in {token.kind, tokens[-1].kind}:
            token = token._replace(gap=" ")  # or two names in backticks would be one
        tokens.append(token)
        gap = ""
    return tokens


def written(tokens: Iterable[Token]) -> str:
    """The statement that these tokens are, for an engine; its own tokens are the same."""
    return "".join(token.gap + token.text for token in tokens)


def _token(kind: str, part: str, gap: str) -> Token:
    if kind == "text":
        return Token("value", _text(part), gap)
    if kind == "quoted":
        return Token("value", _name(part[1:-1].replace("``", "`")), gap)
    if kind == "parameter":
        name = part[1:].lstrip()
        quoted = name.startswith("`")
        name = name[1:-1].replace("``", "`") if quoted else name
        plain = re.fullmatch(r"\w+", name) and all(_is_plain(character) for character in name)
        return Token("value", "$" + (name if plain else _name(name)), gap)
    if kind == "word" and not part.isascii():
        for character in part:
            if not unicodedata.category(character).startswith(_OF_NAMES):
                raise _strange(character)
        return Token("word", _name(part), gap)
    return Token("value" if kind == "number" else kind, part, gap)


def _is_plain(character: str) -> bool:
    return character.isascii() or character.isalpha()


def _text(part: str) -> str:
    """A text in its own quotation marks, written again from what it stands for."""
    mark, value = part[0], re.sub(r"\\(.)", _unescaped, part[1:-1], flags=re.DOTALL)
    for character in value:
        if unicodedata.category(character) == "Cc" and character not in _ESCAPED:
            raise _strange(character)
    return mark + "".join("\\" + character if character == mark else _ESCAPED.get(character, character) for character in value) + mark


def _unescaped(match: re.Match[str]) -> str:
    if match[1] not in ESCAPES:
        raise QueryError(f"the query has a text with {match[0]!a}, which engines do not read alike; write two backslashes for one.")
    return ESCAPES[match[1]]


def _name(name: str) -> str:
    """A name in backticks."""
    for character in name:
        if unicodedata.category(character) in {"Cc", "Zl", "Zp"}:
            raise _strange(character)
    if not name:
        raise QueryError("the query has an empty name in backticks; write a name.")
    return "`" + name.replace("`", "``") + "`"


def _check_sign(text: str, at: int) -> None:
    """Raise QueryError unless a sign is one that can stand in a statement."""
    part = text[at]
    if part == "\r":
        raise QueryError("the query has a carriage return without a line feed, which engines do not read alike; use line feeds.")
    if part in _UNCLOSED and (part != "/" or text.startswith("/*", at)):
        raise QueryError(f"the query has a {_UNCLOSED[part]} that nothing closes; close it.")
    if part == "$":
        raise QueryError("the query has a $ without the name of a parameter; write it as in $id.")
    if not " " < part < "\x7f" or part == "\\":
        raise _strange(part)


def _strange(character: str) -> QueryError:
    code = f"U+{ord(character):04X}"
    shown = f"{character} ({code})" if character.isprintable() else code
    return QueryError(f"the query has the character {shown} where engines do not read it alike; leave it out, or put a name in backticks.")
