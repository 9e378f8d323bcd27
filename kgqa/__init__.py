"""kgqa turns a knowledge graph and documents into multi-hop question-answering datasets.

What users need is here; it is imported when it is first used, so that ``import kgqa`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kgqa.version import __version__

if TYPE_CHECKING:
    from kgqa.domains import Domain, load_domain
    from kgqa.errors import KgqaError
    from kgqa.export import export
    from kgqa.generate import Plan, Report, generate, plan
    from kgqa.query import query
    from kgqa.records import Candidate, Instance, Mention, Paragraph, Step
    from kgqa.show import show

_HOMES = {
    "Candidate": "kgqa.records",
    "Domain": "kgqa.domains",
    "Instance": "kgqa.records",
    "KgqaError": "kgqa.errors",
    "Mention": "kgqa.records",
    "Paragraph": "kgqa.records",
    "Plan": "kgqa.generate",
    "Report": "kgqa.generate",
    "Step": "kgqa.records",
    "export": "kgqa.export",
    "generate": "kgqa.generate",
    "load_domain": "kgqa.domains",
    "plan": "kgqa.generate",
    "query": "kgqa.query",
    "show": "kgqa.show",
}

__all__ = [
    "Candidate",
    "Domain",
    "Instance",
    "KgqaError",
    "Mention",
    "Paragraph",
    "Plan",
    "Report",
    "Step",
    "__version__",
    "export",
    "generate",
    "load_domain",
    "plan",
    "query",
    "show",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kgqa' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    # ``kgqa.generate`` is a module and a function; whoever asks the package for it wants the function.
    globals()[name] = value
    return value
