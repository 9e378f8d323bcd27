"""All heads, in the order of the network's choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kgqa.readers.transformer.numeric.boolean import BooleanHead
from kgqa.readers.transformer.numeric.count import CountHead
from kgqa.readers.transformer.numeric.head import Head
from kgqa.readers.transformer.numeric.none import NoneHead
from kgqa.readers.transformer.numeric.span import SpanHead
from kgqa.readers.transformer.numeric.spans import SpansHead
from kgqa.readers.transformer.numeric.sum import SumHead

HEADS: Mapping[str, Callable[..., Head]] = MappingProxyType(
    {head.name: head for head in (SpanHead, SpansHead, CountHead, SumHead, BooleanHead, NoneHead)}
)
"""Name → head."""
OF_TYPE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "span": ("span",),
        "candidate": ("span",),
        "spans": ("spans",),
        "number": ("span", "count", "sum"),
        "boolean": ("boolean",),
        "none": ("none",),
    }
)
"""Answer type of a question → the heads that can give its answer."""
