"""kgqa turns a knowledge graph and documents into multi-hop question-answering datasets.

What users need is here; it is imported when it is first used, so that ``import kgqa`` costs nothing. No module or package has the name of a
function here, because importing such a module would put it in the function's place.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kgqa.version import __version__

if TYPE_CHECKING:
    from kgqa.auditing.auditing import Audit, audit, verify_certificate
    from kgqa.contrasting import Contrast, contrast
    from kgqa.converting import Conversion, convert
    from kgqa.domains import Domain, load_domain
    from kgqa.errors import KgqaError
    from kgqa.evaluating import evaluate
    from kgqa.evaluation.report import Evaluation
    from kgqa.examination.examine import doctor
    from kgqa.exporting import export
    from kgqa.formats.faults import Fault, faults_of
    from kgqa.formats.opening import QuestionSet, open_dataset
    from kgqa.generation import Plan, Report, generate, plan
    from kgqa.loading import Loaded, load
    from kgqa.querying import cypher, query
    from kgqa.records import Candidate, Instance, Mention, Paragraph, Step
    from kgqa.showing import named_chains, show
    from kgqa.store.limits import Answer, Limits
    from kgqa.store.neo4j import Neo4jSettings
    from kgqa.web.explore.serving import explore

_HOMES = {
    "Answer": "kgqa.store.limits",
    "Audit": "kgqa.auditing.auditing",
    "Candidate": "kgqa.records",
    "Contrast": "kgqa.contrasting",
    "Conversion": "kgqa.converting",
    "Domain": "kgqa.domains",
    "Evaluation": "kgqa.evaluation.report",
    "Fault": "kgqa.formats.faults",
    "Instance": "kgqa.records",
    "KgqaError": "kgqa.errors",
    "Limits": "kgqa.store.limits",
    "Loaded": "kgqa.loading",
    "Mention": "kgqa.records",
    "Neo4jSettings": "kgqa.store.neo4j",
    "Paragraph": "kgqa.records",
    "Plan": "kgqa.generation",
    "QuestionSet": "kgqa.formats.opening",
    "Report": "kgqa.generation",
    "Step": "kgqa.records",
    "audit": "kgqa.auditing.auditing",
    "contrast": "kgqa.contrasting",
    "convert": "kgqa.converting",
    "cypher": "kgqa.querying",
    "doctor": "kgqa.examination.examine",
    "evaluate": "kgqa.evaluating",
    "explore": "kgqa.web.explore.serving",
    "export": "kgqa.exporting",
    "faults_of": "kgqa.formats.faults",
    "generate": "kgqa.generation",
    "load": "kgqa.loading",
    "load_domain": "kgqa.domains",
    "named_chains": "kgqa.showing",
    "open_dataset": "kgqa.formats.opening",
    "plan": "kgqa.generation",
    "query": "kgqa.querying",
    "show": "kgqa.showing",
    "verify_certificate": "kgqa.auditing.auditing",
}

__all__ = [
    "Answer",
    "Audit",
    "Candidate",
    "Contrast",
    "Conversion",
    "Domain",
    "Evaluation",
    "Fault",
    "Instance",
    "KgqaError",
    "Limits",
    "Loaded",
    "Mention",
    "Neo4jSettings",
    "Paragraph",
    "Plan",
    "QuestionSet",
    "Report",
    "Step",
    "__version__",
    "audit",
    "contrast",
    "convert",
    "cypher",
    "doctor",
    "evaluate",
    "explore",
    "export",
    "faults_of",
    "generate",
    "load",
    "load_domain",
    "named_chains",
    "open_dataset",
    "plan",
    "query",
    "show",
    "verify_certificate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kgqa' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
