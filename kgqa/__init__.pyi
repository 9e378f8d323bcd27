"""The front door, for type checkers and for :mod:`lazy_loader`, which imports each name from here when it is first used."""

from .checks.result import Audit as Audit
from .commands.audit import audit as audit
from .commands.audit import verify_certificate as verify_certificate
from .commands.contrast import Contrast as Contrast
from .commands.contrast import contrast as contrast
from .commands.convert import Conversion as Conversion
from .commands.convert import convert as convert
from .commands.doctor import doctor as doctor
from .commands.evaluate import evaluate as evaluate
from .commands.explore import explore as explore
from .commands.export import export as export
from .commands.generate import Plan as Plan
from .commands.generate import Report as Report
from .commands.generate import generate as generate
from .commands.generate import plan as plan
from .commands.load import Loaded as Loaded
from .commands.load import load as load
from .commands.query import cypher as cypher
from .commands.query import query as query
from .commands.show import named_chains as named_chains
from .commands.show import show as show
from .domains import load_domain as load_domain
from .errors import KgqaError as KgqaError
from .formats.faults import Fault as Fault
from .formats.faults import faults_of as faults_of
from .formats.question_set import QuestionSet as QuestionSet
from .formats.question_set import open_dataset as open_dataset
from .records import Candidate as Candidate
from .records import Instance as Instance
from .records import Mention as Mention
from .records import Paragraph as Paragraph
from .records import Step as Step
from .runs.domain import Domain as Domain
from .scoring.report import Evaluation as Evaluation
from .settings.neo4j import Neo4jSettings as Neo4jSettings
from .store.limits import Answer as Answer
from .store.limits import Limits as Limits
from .version import __version__ as __version__

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
