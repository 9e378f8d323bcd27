"""The checks, one idea a file; :data:`CHECKS` lists them in the order of the report."""

from __future__ import annotations

from kgqa.checks.absent_answers import AbsentAnswers
from kgqa.checks.answer_frequency import AnswerFrequency
from kgqa.checks.answer_in_question import AnswerInQuestion
from kgqa.checks.answer_type import AnswerType
from kgqa.checks.broken_references import BrokenReferences
from kgqa.checks.candidate_types import CandidateTypes
from kgqa.checks.check import Check
from kgqa.checks.content_faults import ContentFaults
from kgqa.checks.degenerate_questions import DegenerateQuestions
from kgqa.checks.document_cue import DocumentCue
from kgqa.checks.empty_fields import EmptyFields
from kgqa.checks.equal_titles import EqualTitles
from kgqa.checks.hop_order import HopOrderInIds, HopOrderShown
from kgqa.checks.lexical_overlap import LexicalOverlap
from kgqa.checks.near_shared import NearSharedParagraphs, NearSharedQuestions
from kgqa.checks.question_words import QuestionWords
from kgqa.checks.repeated_questions import RepeatedQuestions, SeveralAnswers
from kgqa.checks.shared import (
    SharedAnswers,
    SharedBridgeEntities,
    SharedFacts,
    SharedParagraphs,
    SharedQuestions,
    SharedSupportingParagraphs,
    SharedWordings,
)
from kgqa.checks.steps import LastStep, StepAnswers
from kgqa.checks.support_position import SupportPosition
from kgqa.checks.unneeded_support import UnneededSupport
from kgqa.checks.unsupported_answers import UnsupportedAnswers
from kgqa.checks.wrong_spans import WrongSpans

CHECKS: tuple[type[Check], ...] = (
    SharedQuestions,
    NearSharedQuestions,
    SharedFacts,
    SharedSupportingParagraphs,
    SharedParagraphs,
    NearSharedParagraphs,
    SharedWordings,
    SharedAnswers,
    SharedBridgeEntities,
    AnswerInQuestion,
    QuestionWords,
    AnswerType,
    AnswerFrequency,
    CandidateTypes,
    LexicalOverlap,
    UnneededSupport,
    DocumentCue,
    SupportPosition,
    HopOrderShown,
    HopOrderInIds,
    ContentFaults,
    EmptyFields,
    DegenerateQuestions,
    RepeatedQuestions,
    SeveralAnswers,
    AbsentAnswers,
    UnsupportedAnswers,
    StepAnswers,
    LastStep,
    EqualTitles,
    WrongSpans,
    BrokenReferences,
)
