"""The parser of XML from other people's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import XMLParser


def xml_parser(*, huge_tree: bool = False) -> XMLParser:
    """A parser that fetches nothing and expands no entities. It refuses nesting beyond 256 and texts beyond 10 MB unless ``huge_tree``."""
    from lxml import etree

    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=huge_tree,
        remove_comments=True,
        remove_pis=True,
        collect_ids=False,
    )
