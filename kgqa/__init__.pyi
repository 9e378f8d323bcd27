"""The front door, for type checkers and for :mod:`lazy_loader`, which imports each name from here when it is first used."""

from .checks.domain.problem import Problem as Problem
from .checks.result import Audit as Audit
from .collection.reading import Reading as Reading
from .collection.verdict_tables.figures import TableFigures as TableFigures
from .commands.annotate import (
    annotate as annotate,
    annotate_export as annotate_export,
    annotate_import as annotate_import,
    annotate_links as annotate_links,
    annotate_seat as annotate_seat,
    annotate_status as annotate_status,
    annotate_withdraw as annotate_withdraw,
)
from .commands.annotate_tables import annotate_figures as annotate_figures, annotate_samples as annotate_samples
from .commands.audit import audit as audit, verify_certificate as verify_certificate
from .commands.compose import Composition as Composition, compose as compose
from .commands.contrast import Contrast as Contrast, contrast as contrast
from .commands.convert import Conversion as Conversion, convert as convert
from .commands.doctor import doctor as doctor
from .commands.estimate import Estimate as Estimate, Figure as Figure, estimate as estimate
from .commands.evaluate import evaluate as evaluate
from .commands.explore import explore as explore
from .commands.export import export as export
from .commands.generate import Plan as Plan, Report as Report, generate as generate, plan as plan
from .commands.graph import graph as graph
from .commands.import_files import format_options as format_options, import_files as import_files, list_formats as list_formats
from .commands.init import NewDomain as NewDomain, init as init
from .commands.load import Loaded as Loaded, load as load
from .commands.predict import Predicted as Predicted, predict as predict
from .commands.publish import Publication as Publication, publish as publish
from .commands.query import cypher as cypher, query as query
from .commands.relations import Relations as Relations, relations as relations
from .commands.runs import TrainingRuns as TrainingRuns, training_runs as training_runs
from .commands.show import named_chains as named_chains, show as show
from .commands.split import Split as Split, split as split
from .commands.train import Trained as Trained, list_readers as list_readers, train as train
from .commands.validate import Validation as Validation, validate as validate
from .domains import load_domain as load_domain
from .errors import KgqaError as KgqaError
from .formats.faults import Fault as Fault, faults_of as faults_of
from .formats.question_set import QuestionSet as QuestionSet, open_dataset as open_dataset
from .progress import Progress as Progress
from .readers.neural import NeuralReader as NeuralReader
from .recipes.qangaroo.relation_figures import RelationFigures as RelationFigures
from .records import Candidate as Candidate, Grade as Grade, Instance as Instance, Mention as Mention, Paragraph as Paragraph, Step as Step
from .runs.domain import Domain as Domain
from .runs.importing import Imported as Imported
from .scoring.report import Evaluation as Evaluation
from .settings.base import Settings as Settings
from .settings.neo4j import Neo4jSettings as Neo4jSettings
from .settings.training import TrainingSettings as TrainingSettings
from .store.limits import Answer as Answer, Limits as Limits
from .training.questions import Questions as Questions
from .training.reader import Fitting as Fitting, Prediction as Prediction, Reader as Reader
from .training.recorded import RecordedRun as RecordedRun
from .training.task import Task as Task
from .version import __version__ as __version__
