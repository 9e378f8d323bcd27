"""What a dump says of its wiki, and where the target of a link leads there."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from lxml import etree

from kgqa.errors import BrokenInput
from kgqa.sources.safe_xml import xml_parser

Kind = Literal["page", "text", "nothing"]
"""A link to a page that can be a document, another link that shows its text, or one that shows nothing in the text."""
MEDIA, FILE, CATEGORY = -2, 6, 14
# Every wiki knows these names beside its own (MediaWiki, includes/title/NamespaceInfo.php).
CANONICAL = {
    -2: "Media", -1: "Special", 1: "Talk", 2: "User", 3: "User talk", 4: "Project", 5: "Project talk", 6: "File", 7: "File talk",
    8: "MediaWiki", 9: "MediaWiki talk", 10: "Template", 11: "Template talk", 12: "Help", 13: "Help talk", 14: "Category",
    15: "Category talk",
}  # fmt: skip
ALIASES = {"image": 6, "image talk": 7}
# Prefixes of the sister projects, the same in all wikis of the Wikimedia Foundation (Special:Interwiki). A dump does not list them.
SISTERS = re.compile(
    "w|wikipedia|wikt|wiktionary|n|wikinews|b|wikibooks|q|wikiquote|s|wikisource|species|wikispecies|v|wikiversity|voy|wikivoyage|c|commons|"
    "m|meta|metawikimedia|d|wikidata|f|wikifunctions|mw|mediawikiwiki|wmf|foundation|incubator|phab|phabricator|doi|rfc"
)
LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z-]+)?|simple")
# A dump names its namespaces, but not their other names ("Bild:"). A file is known by its ending in any language.
MEDIA_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|svg|tiff?|webp|xcf|bmp|pdf|djvu|og[gva]|opus|webm|mpe?g|mp[34]|wav|flac|midi?|stl)\s*$", re.IGNORECASE
)
# Most targets are letters, digits and single spaces, which mean a title and nothing more.
SIMPLE = re.compile(r"[^\W_][\w ,.'()–-]{,60}")
SPACES = re.compile(r"[_\s\u180e]+")
INVISIBLE = re.compile(r"[\u200e\u200f\u202a-\u202e]")
ILLEGAL = re.compile(r"[<>\[\]{}|\x00-\x1f\x7f\ufffd]")
TURKIC = frozenset({"az", "kaa", "tr"})
TITLE_BYTES = 255


@dataclass(frozen=True, slots=True)
class Site:
    """The names and namespaces of a wiki, from the head of its dump."""

    name: str
    """Its database: enwiki."""
    language: str = ""
    names: dict[int, str] = field(default_factory=dict)
    """Number of a namespace → its name in titles."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Name of a namespace in small letters, its own or MediaWiki's → number."""
    case_sensitive: frozenset[int] = frozenset()
    """Namespaces in which titles may begin with a small letter."""
    content: frozenset[int] = frozenset({0})
    """Namespaces whose pages are documents."""

    def resolve(self, target: str) -> tuple[Kind, str]:
        """Where ``[[target]]`` leads: its kind, and the title where it is a page."""
        if SIMPLE.fullmatch(target) and "_" not in target and "  " not in target and target[-1] != " " and 0 in self.content:
            return "page", self.title(target)
        target = plain_target(target).partition("#")[0].rstrip()
        visible = target.startswith(":")
        kind, number, target = self._namespace(target[1:].lstrip() if visible else target, visible)
        if kind != "page" or number not in self.content or not target or target in {".", ".."} or ILLEGAL.search(target):
            return ("text" if kind == "page" else kind), ""
        title = self.title(target, number)
        return ("page", title) if len(title.encode()) <= TITLE_BYTES else ("text", "")

    def _namespace(self, target: str, visible: bool) -> tuple[Kind, int, str]:
        """Kind of link by what precedes a colon, the number of the namespace, and the rest of the target."""
        prefix, colon, rest = target.partition(":")
        key = prefix.strip().lower()
        if not colon:
            return "page", 0, target
        if key in self.numbers:
            number = self.numbers[key]
            return ("nothing" if number in {FILE, CATEGORY} and not visible else "page"), number, rest.lstrip()
        if SISTERS.fullmatch(key):
            return "text", 0, rest
        if LANGUAGE.fullmatch(prefix):
            return ("text" if visible else "nothing"), 0, rest
        return ("nothing" if MEDIA_FILE.search(rest) and not visible else "page"), 0, target

    def title(self, rest: str, number: int = 0) -> str:
        """Title of a page of a namespace, with the name of the namespace and the first letter as the wiki has it."""
        if number not in self.case_sensitive:
            rest = upper_first(rest, self.language)
        return f"{self.names[number]}:{rest}" if self.names.get(number) else rest


def plain_target(target: str) -> str:
    """The target of a link without percent codes, underscores, invisible marks and needless spaces."""
    if "%" in target:
        target = unquote(target, errors="replace")
    if not target.isprintable():
        target = INVISIBLE.sub("", target)
    return SPACES.sub(" ", target).strip() if "_" in target or "  " in target or not target.isprintable() else target.strip()


def upper_first(title: str, language: str) -> str:
    """The title with a capital first letter, where that is one letter; Georgian capitals are for whole words, so MediaWiki has none."""
    first = title[:1]
    upper = "İ" if first == "i" and language in TURKIC else first.upper()
    return title if upper == first or len(upper) != 1 or unicodedata.name(upper, "").startswith("GEORGIAN MTAVRULI") else upper + title[1:]


@lru_cache(maxsize=16)
def read_site(head: bytes, file: str, name: str, content: tuple[int, ...]) -> Site:
    """The wiki that the head of a dump describes: everything before its first page.

    ``name`` replaces the dump's own name of the wiki; ``content`` are the numbers of the namespaces whose pages are documents.
    """
    root = _root(head, file)
    info = root.find("{*}siteinfo")
    language = root.get("{http://www.w3.org/XML/1998/namespace}lang", "")
    names, sensitive = {0: "", **CANONICAL}, set()
    if info is not None:
        everywhere = info.findtext("{*}case", "first-letter")
        for namespace in info.iterfind("{*}namespaces/{*}namespace"):
            with_number = namespace.get("key", "")
            if re.fullmatch(r"-?\d{1,6}", with_number):
                names[int(with_number)] = unicodedata.normalize("NFC", namespace.text or "")
                if namespace.get("case", everywhere) == "case-sensitive":
                    sensitive.add(int(with_number))
    numbers = {spelling.lower(): number for number, spelling in CANONICAL.items()} | ALIASES
    numbers |= {spelling.lower(): number for number, spelling in names.items() if spelling}
    if unknown := [number for number in content if number not in names]:
        raise BrokenInput(f"{file}: the wiki has no namespace {unknown[0]}; name one of {', '.join(map(str, sorted(names)))}.")
    database = name or (info.findtext("{*}dbname", "") if info is not None else "") or (f"{language}wiki" if language else "wiki")
    return Site(database, language, names, numbers, frozenset(sensitive), frozenset(content))


def _root(head: bytes, file: str) -> etree._Element:
    """The root element of a dump's head, closed."""
    if b"<!DOCTYPE" in head:
        raise BrokenInput(f"{file}: it has a document type declaration, which no dump of MediaWiki has; download the file again.")
    head = head.strip()
    if not head:
        return etree.Element("mediawiki")
    try:
        root = etree.fromstring(head + b"</mediawiki>", xml_parser())
    except etree.XMLSyntaxError:
        root = None
    if root is None or etree.QName(root).localname != "mediawiki":
        raise BrokenInput(f"{file}: it does not begin as a dump of MediaWiki, with <mediawiki> and <siteinfo>; download the file again.")
    return root
