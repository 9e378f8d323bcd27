"""The labelling configuration that Label Studio needs to show our tasks; it holds no text of a question."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from kgqa.formats.label_studio.answers import ANSWER, VERDICTS

SPAN, PARAGRAPHS = "answer_span", "paragraphs"
LABEL = ANSWER


def write_config(path: Path, *, paragraphs: bool, text: bool, candidates: bool) -> None:
    """Write the configuration for tasks some of which have ``paragraphs``, a plain ``text``, ``candidates``."""
    view = ElementTree.Element("View")
    _add(view, "Text", name="question", value="$question")
    if paragraphs:
        _add(view, "Paragraphs", name=PARAGRAPHS, value="$paragraphs", nameKey="title", textKey="text")
        _add(_add(view, "ParagraphLabels", name=SPAN, toName=PARAGRAPHS), "Label", value=LABEL)
    if text:
        _add(view, "Text", name="text", value="$text")
        _add(_add(view, "Labels", name="text_span", toName="text"), "Label", value=LABEL)
    if candidates:
        _add(view, "Choices", name="candidate", toName="question", choice="single", value="$candidates")
    verdict = _add(view, "Choices", name="verdict", toName="question", choice="single", showInline="true")
    for value in VERDICTS:
        _add(verdict, "Choice", value=value)
    _add(view, "TextArea", name="answer", toName="question", placeholder="The answer, if it cannot be marked or chosen")
    ElementTree.indent(view)
    path.write_text(ElementTree.tostring(view, encoding="unicode") + "\n", "utf-8")


def _add(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag, attributes)
