"""The checks, one idea a file; :data:`CHECKS` lists them in the order of the report."""

from __future__ import annotations

from kgqa.auditing.check import Check
from kgqa.auditing.checks.absent_answers import AbsentAnswers
from kgqa.auditing.checks.answer_frequency import AnswerFrequency
from kgqa.auditing.checks.answer_in_question import AnswerInQuestion
from kgqa.auditing.checks.answer_type import AnswerType
from kgqa.auditing.checks.broken_references import BrokenReferences
from kgqa.auditing.checks.candidate_types import CandidateTypes
from kgqa.auditing.checks.content_faults import ContentFaults
from kgqa.auditing.checks.document_cue import DocumentCue
from kgqa.auditing.checks.empty_fields import EmptyFields
from kgqa.auditing.checks.equal_titles import EqualTitles
from kgqa.auditing.checks.hop_order import HopOrderInIds, HopOrderShown
from kgqa.auditing.checks.lexical_overlap import LexicalOverlap
from kgqa.auditing.checks.near_shared import NearSharedParagraphs, NearSharedQuestions
from kgqa.auditing.checks.question_words import QuestionWords
from kgqa.auditing.checks.shared import (
    SharedAnswers,
    SharedBridgeEntities,
    SharedFacts,
    SharedParagraphs,
    SharedQuestions,
    SharedSupportingParagraphs,
    SharedWordings,
)
from kgqa.auditing.checks.support_position import SupportPosition
from kgqa.auditing.checks.unneeded_support import UnneededSupport
from kgqa.auditing.checks.wrong_spans import WrongSpans

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
    AbsentAnswers,
    EqualTitles,
    WrongSpans,
    BrokenReferences,
)
