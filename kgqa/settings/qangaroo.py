"""The recipe of WikiHop and MedHop (Welbl et al. 2018), with the paper's values as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share, SplitShare, SplitShares


class SplitSettings(SplitShares):
    """Shares of the groups of facts per split, drawn before any filter; they add up to 1."""

    train: Share = 0.85
    """Share of the groups in the train split."""
    dev: SplitShare = 0.1
    """Share of the dev split."""
    test: SplitShare = 0.05
    """Share of the test split."""
    by: Literal["head", "pair", "bridge"] = "head"
    """Splits do not share the subject entity (``head``), the unordered ``pair`` of subject and answer, or the ``bridge`` of a path and its
    subject. With ``bridge``, no last hop can be learned from train. Queries about relations have no bridge and use their subject."""


class TraversalSettings(Settings):
    """Search for candidates and their chains (Welbl et al. 2018, section 2.1)."""

    max_documents: Annotated[int, Field(ge=1, le=8)] = 3
    """Maximum documents on a chain."""
    chains: Literal["tree", "all_shortest", "all_simple"] = "tree"
    """Chains per candidate: ``tree`` (one, from the breadth-first tree), ``all_shortest`` or ``all_simple``. Grading searches all simple
    chains; without balancing it keeps the best."""
    max_chains: Positive = 16
    """Maximum chains per candidate with ``all_shortest`` and ``all_simple`` and for grading, shorter chains first."""
    through_end_points: bool = True
    """Let chains continue through entities of the end points' kind; false requires ``endpoint_kind``."""


class BalanceSettings(Settings):
    """MedHop's rounds: the same number of chains for every candidate (section 4)."""

    candidates: Annotated[int, Field(ge=0)] = 0
    """Candidates per sample, including the answer; 0: no balancing, keep all candidates."""


class BiasSettings(Settings):
    """Filters against shortcuts (section 3.2)."""

    answer_cap: Share = 0.005
    """Maximum share of a split's samples with one answer. If that is less than one sample, the maximum is the mean number of samples per
    answer; 1: no cap."""
    answer_cap_of: Literal["entering", "kept"] = "entering"
    """Base of the share: samples that enter the filter, or samples that it keeps (docs/decisions/0005-answer-cap.md)."""
    document_cue_drops: Literal["all", "surplus"] = "surplus"
    """Which samples of such a document and answer to drop: ``all``, as in the paper, or the ``surplus`` above the limit, worst-graded
    first."""
    document_cue: Annotated[int | float, Field(ge=0)] = 0.00046
    """Maximum samples with the same document and the same correct answer. Samples above it are dropped, but never a whole split. Below 1:
    a share of the split's samples, and at least 2 of them (published: 20 of 43,738); from 1: a number of samples; 0: drop none."""
    mention_cue: bool = True
    """Drop samples whose answer is the most mentioned candidate, until there are no more of them than expected by chance, within the
    standard error."""
    position_share: Share = 1.0
    """Maximum accuracy of the baselines first bridge, nearest candidate and shared entities on a split, or chance if that is higher.
    Samples are dropped until it holds; 1: no limit."""
    count_share: Share = 1.0
    """The same for max-mention and TF-IDF, which count words."""
    train_share: Share = 1.0
    """The same for majority and document-cue, which learn from train."""
    named_answer: bool = True
    """Drop samples whose query has any form of any name of the answer. With ``answer_stated = "subject_document"``, the same holds for the
    subject's own article."""

    @field_validator("document_cue", mode="after")
    @classmethod
    def _a_number_is_whole(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError(f"a share is below 1 and a number of samples is whole, {value:g} is neither")
        return value


class EvidenceSettings(Settings):
    """Entailment of the answer by its chain (docs/wikihop.md); not in the paper, whose recipe is ``use = false``."""

    use: bool = True
    """Grade chains, and choose samples and candidates by their grades; false: the paper's recipe."""
    min_support: Positive = 5
    """Minimum training facts that a path must find to become a rule."""
    min_confidence: Share = 0.1
    """Minimum confidence of a rule."""
    grade: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Minimum grade of the answer's chain: the confidence that it entails the answer."""
    odds: Annotated[float, Field(ge=0)] = 3.0
    """Minimum odds ratio of the answer with its chain over its frequency alone."""
    grade_long: Annotated[float, Field(ge=0, le=1)] = 0.5
    """``grade`` for chains of three documents, whose grades are composed."""
    odds_long: Annotated[float, Field(ge=0)] = 10.0
    """``odds`` for chains of three documents."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum functionality of the answer's path in its better direction: the product over its hops, 1 for a function."""
    margin: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Drop candidates whose grade is within this margin of the answer's, because they may be true. Candidates with a grade high enough for
    an answer are dropped as well."""
    better: Literal["reject", "leave"] = "leave"
    """If another candidate has a higher grade than the answer: drop the candidate (``leave``) or the sample (``reject``)."""
    text: Literal["document", "near", "sentence"] = "near"
    """Minimum proximity of the two entities of each hop on the answer's chain: in one ``document``, ``near`` each other, or in one
    ``sentence``."""
    facts: Annotated[int, Field(ge=0, le=3)] = 1
    """Minimum hops of the answer's path that are facts of the graph, not only co-mentions. If facts entail nothing, none are required."""
    max_objects: Annotated[float, Field(gt=0)] = 5.0
    """Leave out relations with more objects per subject and more subjects per object than this, and symmetric relations with more than half
    of it."""
    text_lift: Annotated[float, Field(ge=0)] = 2.0
    """Minimum lift of a co-mentioned pair over a random pair: how many times more often it is a fact of the relation."""
    graded_share: Annotated[float, Field(ge=0, le=1)] = 0.02
    """Minimum share of a relation's samples with an entailed answer. Below it, leave out the relation, because its few entailed answers
    are coincidental."""
    second_truth: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Drop candidates that a fact of another relation joins to the subject, if that relation entails the query's with at least this
    confidence."""
    beside_answer: bool = False
    """Also keep candidates that a document of the answer's chain names."""
    hierarchy: bool = True
    """Drop candidates that are a part of the answer, or that contain it."""


QUALITIES: dict[str, dict[str, float | int]] = {
    "large": {
        "stated": 0.2, "read": 0.35, "lift": 0.5, "functional": 0.2, "first_functional": 0.05, "useful": 0.08, "relation_share": 0.2,
        "answer_share": 0.7, "per_documents": 8, "per_hop": 80,
    },
    "balanced": {},
    "strict": {"useful": 0.25},
}  # fmt: skip
"""Values of each ``quality`` for :class:`PathSettings`; the domain's own settings override them."""


class PathSettings(Settings):
    """Queries about two stated hops in a row (docs/paths.md)."""

    quality: Literal["large", "balanced", "strict"] = "balanced"
    """Preset for the limits below that the domain does not set itself: ``large`` for more samples, ``strict`` for more reliable ones."""
    stated: Share = 0.3
    """Minimum probability that a text states a hop that is a fact of the graph."""
    read: Share = 0.45
    """Minimum probability that a text states a hop that is not a fact of the graph."""
    lift: Annotated[float, Field(ge=0)] = 1.0
    """Minimum increase of a hop's log-odds from the words of the text, over the other facts of its entities."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Minimum functionality of the last hop's relation in its direction: subjects per fact, 1 for a function."""
    first_functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum functionality of the first hop's relation."""
    useful: Annotated[float, Field(ge=0, le=1)] = 0.12
    """Minimum estimated probability that a query is useful: entailed, unique and not trivial."""
    min_queries: Positive = 2
    """Minimum queries per path."""
    relation_share: Share = 0.1
    """Maximum share of all queries that end with the same relation; one query is always allowed."""
    answer_share: Share = 0.5
    """Maximum share of a path's queries with one answer; one query is always allowed."""
    per_documents: Positive = 5
    """Maximum queries whose chains have the same two documents."""
    per_hop: Positive = 40
    """Maximum queries with the same last hop: the same answer, stated by the same document."""
    rivals: Annotated[int, Field(ge=0)] = 2
    """Maximum distractors of a sample from the articles of entities that the subject's article mentions before the bridge."""
    candidates: Annotated[int, Field(ge=2)] = 12
    """Maximum candidates of a sample, including the answer."""
    min_alike: Annotated[int, Field(ge=1)] = 2
    """Minimum other candidates of the answer's type."""
    alike: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Minimum cosine similarity of the roles of two entities of one type."""

    @model_validator(mode="before")
    @classmethod
    def _quality_sets_the_rest(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        quality = values.get("quality", "balanced")
        return {**(QUALITIES.get(quality, {}) if isinstance(quality, str) else {}), **values}


class PairSettings(Settings):
    """Queries about pairs that two texts relate to the same third entity (docs/medhop.md)."""

    stated: Share = 0.3
    """Minimum probability that a sentence states a hop that is a fact of the graph."""
    read: Share = 0.65
    """Minimum probability that a sentence states a hop that is not a fact of the graph."""
    facts: Annotated[int, Field(ge=0, le=2)] = 2
    """Minimum hops of the answer's chain that are facts of the graph."""
    possible: Annotated[float, Field(ge=0, le=1)] = 0.4
    """Minimum probability of a hop that texts may state. A candidate that two such hops reach may be true as well, and is dropped."""
    per_document: Positive = 12
    """Maximum queries whose answer's chain has the same document."""
    per_answer: Positive = 20
    """Maximum queries with the same answer."""
    per_bridge: Positive = 120
    """Maximum queries whose answer's chain leads over the same entity."""
    per_entity: Positive = 1000
    """Maximum documents and end points to search for distractors over one entity."""


class QangarooSettings(RecipeSettings):
    """The recipe of WikiHop and MedHop (Welbl et al. 2018)."""

    queries: Literal["relations", "paths", "pairs"] = "relations"
    """Kind of query: ``relations`` of the graph that no article of their subject states, ``paths`` of two relations that two articles
    state, or ``pairs`` of two entities of one kind that two texts relate to the same third entity."""
    relations: tuple[str, ...] = ()
    """Relations to ask about, and to build paths from; empty: all."""
    both_directions: bool = True
    """Ask a symmetric fact from both of its ends."""
    endpoint_kind: str = ""
    """Kind of entity that can be an end point; empty: any object of the relation in a training fact."""
    answer_stated: Literal["subject_document", "any_document", "chain_document"] = "subject_document"
    """Where a stated answer makes kgqa drop a fact. ``subject_document``: in the subject's own article. ``any_document``: in any document
    together with the subject. ``chain_document``, for ``pairs``: together with the subject in a document of the chain; no other document
    is shown."""
    min_candidates: Annotated[int, Field(ge=2)] = 2
    """Minimum candidates of a sample, including the answer."""
    max_candidates: Positive = 100
    """Maximum candidates of a sample (section 3)."""
    max_documents: Positive = 64
    """Maximum support documents of a sample (section 3)."""
    placeholders: Annotated[int, Field(ge=2)] = 100
    """Distinct placeholder tokens of the masked twin."""
    surface: Literal["label", "id"] = "label"
    """Text in the official format: lower-cased labels (WikiHop), or ids, also in the documents (MedHop)."""
    question: str = "{relation} {subject}"
    """Form of the query; ``{relation}`` has underscores for spaces."""
    traversal: TraversalSettings = TraversalSettings()
    balance: BalanceSettings = BalanceSettings()
    bias: BiasSettings = BiasSettings()
    splits: SplitSettings = SplitSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    paths: PathSettings = PathSettings()
    pairs: PairSettings = PairSettings()

    @property
    def entity_kinds(self) -> tuple[str, ...]:
        """The kind of the end points, if it is set."""
        return (self.endpoint_kind,) if self.endpoint_kind else ()

    @model_validator(mode="after")
    def _limits_leave_room(self) -> QangarooSettings:
        most = self.balance.candidates or self.max_candidates
        if self.min_candidates > min(most, self.max_candidates):
            raise ValueError(f"min_candidates ({self.min_candidates}) is more than a sample may have ({min(most, self.max_candidates)})")
        return self

    @model_validator(mode="after")
    def _end_points_have_a_kind(self) -> QangarooSettings:
        if not self.traversal.through_end_points and not self.endpoint_kind:
            raise ValueError("traversal.through_end_points = false needs endpoint_kind, which says what chains may not lead through")
        return self

    @model_validator(mode="after")
    def _pairs_have_a_kind(self) -> QangarooSettings:
        if self.queries == "pairs" and not self.endpoint_kind:
            raise ValueError('queries = "pairs" needs endpoint_kind, the kind of subject and answer')
        if self.queries != "pairs" and self.answer_stated == "chain_document":
            raise ValueError('answer_stated = "chain_document" needs queries = "pairs"')
        return self

    @model_validator(mode="after")
    def _rounds_have_chains(self) -> QangarooSettings:
        if self.balance.candidates and self.traversal.chains == "tree":
            raise ValueError("balance.candidates needs traversal.chains 'all_shortest' or 'all_simple', a tree has one chain per candidate")
        return self

    @model_validator(mode="after")
    def _placeholders_suffice(self) -> QangarooSettings:
        if self.placeholders < self.max_candidates:
            raise ValueError(f"placeholders ({self.placeholders}) must be at least max_candidates ({self.max_candidates})")
        try:
            parts = [part[1:] for part in Formatter().parse(self.question) if part[1] is not None]
        except ValueError:
            parts = [("", "", None)]
        if any(part not in {("relation", "", None), ("subject", "", None)} for part in parts) or ("subject", "", None) not in parts:
            raise ValueError("question may use only {relation} and {subject}, and must use {subject}")
        return self
