"""The recipe of WikiHop and MedHop (Welbl et al. 2018), with the paper's values as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from kgqa.settings.base import Positive, RecipeSettings, Settings, Share, SplitShare, SplitShares


class SplitSettings(SplitShares):
    """Shares of the groups of facts per split, drawn before any filter; they add up to 1."""

    train: Share = 0.85
    """Share of the groups of facts in the train split."""
    dev: SplitShare = 0.1
    """Share of the groups in the dev split."""
    test: SplitShare = 0.05
    """Share of the groups in the test split."""
    by: Literal["head", "pair", "bridge"] = "head"
    """Items that two splits never share: the subject entity (``head``), the unordered ``pair`` of subject and answer, or the ``bridge`` of
    a path and its subject. With ``bridge``, no last hop can be learned from train. Queries about relations have no bridge; they are split
    by subject."""


class TraversalSettings(Settings):
    """Search for candidates and their chains (Welbl et al. 2018, section 2.1)."""

    max_documents: Annotated[int, Field(ge=1, le=8)] = 3
    """Maximum documents on a chain. Larger values reach more answers and candidates over longer chains, and take more time."""
    chains: Literal["tree", "all_shortest", "all_simple"] = "tree"
    """Chains that the search returns per candidate: ``tree`` (one, from the breadth-first tree), ``all_shortest`` or ``all_simple``.
    Grading searches all simple chains; without balancing it keeps the best one."""
    max_chains: Positive = 16
    """Maximum chains per candidate with ``all_shortest``, with ``all_simple`` and for grading; shorter chains first."""
    through_end_points: bool = True
    """Let chains continue through entities of the kind ``endpoint_kind``, which can be candidates. ``false`` requires ``endpoint_kind``."""


class BalanceSettings(Settings):
    """MedHop's rounds: the same number of chains for every candidate (section 4)."""

    candidates: Annotated[int, Field(ge=0)] = 0
    """Candidates per sample, including the answer, each reached by the same number of chains; 0: no balancing, keep all candidates."""


class BiasSettings(Settings):
    """Filters against shortcuts (section 3.2)."""

    answer_cap: Share = 0.005
    """Maximum share of a split's samples with the same answer. If that is less than one sample, the maximum is the mean number of samples
    per answer. Larger values keep more samples and let frequent answers dominate; 1: no cap."""
    answer_cap_of: Literal["entering", "kept"] = "entering"
    """Denominator of the share: samples that enter the filter (``entering``), or samples that it keeps (``kept``)."""
    document_cue_drops: Literal["all", "surplus"] = "surplus"
    """Which samples to drop if too many share a document and an answer (``document_cue``): ``all`` of them, as in the paper, or only the
    ``surplus``, lowest grade first."""
    document_cue: Annotated[int | float, Field(ge=0)] = 0.00046
    """Maximum number of samples with the same document and the same correct answer; any more are dropped, but never a whole split. A value
    below 1 is a share of the split's samples (at least 2 samples; published: 20 of 43,738), a value of 1 or more is a number of samples,
    and 0 means no limit."""
    mention_cue: bool = True
    """Drop samples whose answer is the most frequently mentioned candidate, until there are no more of them than expected by chance, within
    the standard error."""
    position_share: Share = 1.0
    """Maximum accuracy on a split of the baselines first bridge, nearest candidate and shared entities, or chance if that is higher.
    Samples that they answer correctly are dropped until the limit holds; 1: no limit."""
    count_share: Share = 1.0
    """Like ``position_share``, for the baselines max-mention and TF-IDF, which count words."""
    train_share: Share = 1.0
    """Like ``position_share``, for the baselines majority and document-cue, which are fitted on train."""
    min_filtered: Positive = 100
    """Minimum number of samples for ``position_share``, ``count_share`` and ``train_share`` to apply to a split. Smaller splits keep all
    their samples, because an accuracy above chance is hardly significant there. Smaller values also filter small splits."""
    named_answer: bool = True
    """Drop samples whose query contains any form of any name of the answer. With ``answer_stated = "subject_document"``, also drop samples
    whose subject's own article contains one."""

    @field_validator("document_cue", mode="after")
    @classmethod
    def _a_number_is_whole(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError(f"it must be a share below 1 or a whole number of samples, not {value:g}")
        return value


class EvidenceSettings(Settings):
    """Entailment of the answer by its chain (docs/wikihop.md); not in the paper, whose recipe is ``use = false``."""

    use: bool = True
    """Grade chains, and select samples and candidates by their grades; false: the paper's recipe."""
    min_support: Positive = 5
    """Minimum training facts that a path must predict correctly to become a rule. Larger values give fewer and more reliable rules."""
    min_confidence: Share = 0.1
    """Minimum confidence of a rule, from 0 to 1. Larger values give fewer and more precise rules."""
    grade: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Minimum grade of the answer's chain: the confidence, from 0 to 1, that the chain entails the answer. Larger values give fewer samples
    with better-supported answers."""
    odds: Annotated[float, Field(ge=0)] = 3.0
    """Minimum odds ratio: the odds of the answer given its chain, divided by the odds given only its frequency. Larger values drop more
    samples whose answer can be guessed; 0: no limit."""
    grade_long: Annotated[float, Field(ge=0, le=1)] = 0.5
    """The same as ``grade``, for chains of three documents, whose grades are composed."""
    odds_long: Annotated[float, Field(ge=0)] = 10.0
    """The same as ``odds``, for chains of three documents."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum functionality of the answer's path, from 0 to 1, in its better direction: the product over its hops, where 1 is a function.
    Larger values drop more paths that lead to many entities."""
    margin: Annotated[float, Field(ge=0, le=1)] = 0.05
    """Drop distractors whose grade is at most this much below the answer's, because they may be correct too. Distractors whose grade would
    suffice for an answer are dropped as well. Larger values drop more distractors."""
    better: Literal["reject", "leave"] = "leave"
    """If a distractor has a higher grade than the answer: drop the distractor (``leave``) or the whole sample (``reject``)."""
    text: Literal["document", "near", "sentence"] = "near"
    """How close together the two entities of each hop on the answer's chain must be: in one ``document``, ``near`` each other, or in one
    ``sentence``."""
    facts: Annotated[int, Field(ge=0, le=3)] = 1
    """Minimum hops of the answer's path that are facts of the graph and not only co-mentions. No facts are required if no path of facts
    entails anything."""
    max_objects: Annotated[float, Field(gt=0)] = 5.0
    """Maximum of the smaller of two numbers: the mean number of objects per subject, and of subjects per object. Relations above it are
    excluded; for symmetric relations, the limit is half of it. Larger values keep more relations with less definite answers."""
    text_lift: Annotated[float, Field(ge=0)] = 2.0
    """Minimum text lift: how many times more often a co-mentioned pair is a fact of the relation than a random pair. Larger values exclude
    more relations that texts hardly state."""
    graded_share: Annotated[float, Field(ge=0, le=1)] = 0.02
    """Minimum share of a relation's samples with an entailed answer. Relations below it are excluded, because their few entailed answers
    are probably coincidental."""
    second_truth: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Drop distractors that a fact of another relation connects to the subject, if that relation entails the relation of the query with at
    least this confidence. Larger values keep more distractors that may be correct."""
    beside_answer: bool = False
    """Also keep distractors that a document of the answer's chain names."""
    hierarchy: bool = True
    """Drop distractors that are a part of the answer or contain it."""


QUALITIES: dict[str, dict[str, float | int]] = {
    "large": {
        "stated": 0.2, "read": 0.35, "lift": 0.5, "functional": 0.2, "first_functional": 0.05, "useful": 0.08, "relation_share": 0.2,
        "per_documents": 8, "per_hop": 80,
    },
    "balanced": {},
    "strict": {"useful": 0.3},
}  # fmt: skip
"""Values of each ``quality`` for :class:`PathSettings`; the domain's own settings override them."""


class PathSettings(Settings):
    """Queries about two stated hops in a row (docs/paths.md)."""

    removed: ClassVar[Mapping[str, str]] = {
        "common": "write useful, the minimum estimated probability that a query is useful, by which all queries are ranked (docs/paths.md)"
    }
    quality: Literal["large", "balanced", "strict"] = "balanced"
    """Preset for the limits below that the domain does not set itself: ``large`` for more samples, ``strict`` for more reliable ones."""
    stated: Share = 0.3
    """Minimum probability that a text states a hop that is a fact of the graph. Larger values give fewer and more reliable samples; the
    same holds for the next four settings."""
    read: Share = 0.45
    """Minimum probability that a text states a hop that is not a fact of the graph."""
    encoder: Annotated[str, Field(min_length=1)] | None = None
    """Pretrained encoder that gives a second opinion on the hops that texts state: a folder, a name on the hub, or ``package:NAME``. It
    is slow, and needs the extra [readers]. null: none."""
    lift: Annotated[float, Field(ge=0, le=1000)] = 1.0
    """Minimum increase of a hop's log-odds (natural logarithm) due to the words of the text, compared with the other facts of its
    entities."""
    functional: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Minimum functionality of the last hop's relation in its direction, from 0 to 1: distinct subjects per fact, where 1 is a function."""
    first_functional: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Minimum functionality of the first hop's relation, from 0 to 1."""
    useful: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Minimum estimated probability that a query is useful: its answer holds, is unique and is not trivial. Larger values give fewer and
    better samples."""
    min_queries: Positive = 1
    """Minimum queries per path, that is, per pair of relations; rarer paths are dropped."""
    relation_share: Share = 0.1
    """Maximum share of all queries that end with the same relation; one query is always allowed. Larger values give more samples and less
    variety."""
    answer_share: Share = 1.0
    """Maximum share of a path's queries with the same answer; one query is always allowed."""
    per_documents: Positive = 5
    """Maximum queries whose chains consist of the same two documents."""
    per_hop: Positive = 40
    """Maximum queries with the same last hop, that is, with the same answer stated by the same document."""
    rivals: Annotated[int, Field(ge=0)] = 3
    """Maximum distractors of a sample from each of two sources: the articles of entities that the subject's article mentions before the
    bridge, and the answer's document. Larger values make it harder to guess the answer without reading."""
    candidates: Annotated[int, Field(ge=2)] = 12
    """Maximum candidates of a sample, including the answer."""
    min_alike: Annotated[int, Field(ge=1)] = 2
    """Minimum distractors of the answer's type; samples with fewer are dropped."""
    alike: Annotated[float, Field(ge=0, le=1)] = 0.2
    """Minimum cosine similarity of the roles of two entities for them to count as one type, from 0 to 1. Larger values give fewer
    distractors that resemble the answer more."""

    @model_validator(mode="before")
    @classmethod
    def _quality_sets_the_rest(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        quality = values.get("quality", "balanced")
        return {**(QUALITIES.get(quality, {}) if isinstance(quality, str) else {}), **values}


class PairSettings(Settings):
    """Queries about pairs that two texts relate to the same third entity (docs/medhop.md)."""

    stated: Share = 0.5
    """Minimum probability that a sentence states a hop that is a fact of the graph. Larger values give fewer and more reliable samples."""
    read: Share = 0.65
    """Minimum probability that a sentence states a hop that is not a fact of the graph. Larger values give fewer and more reliable
    samples."""
    facts: Annotated[int, Field(ge=0, le=2)] = 2
    """Minimum hops of the answer's chain that are facts of the graph."""
    possible: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Minimum probability for a hop to count as possibly stated. A distractor that two such hops reach may be correct too, and is dropped.
    Smaller values drop more distractors."""
    likely: Share = 0.1
    """Maximum share of the entities similar to the subject that have a fact with the distractor, averaged with the share of the entities
    similar to the distractor that have a fact with the subject. Entities are similar if facts join them to the same entities. Smaller
    values drop more distractors that may be correct too."""
    known: Annotated[int, Field(ge=0)] = 5
    """Minimum facts of the query's relations that the graph has about a distractor. If it has fewer, a missing fact does not show that the
    distractor is wrong."""
    per_pair: Annotated[int, Field(ge=1, le=2)] = 2
    """Maximum queries about the same two entities; 2: each of the two can be the subject of one."""
    per_document: Positive = 12
    """Maximum queries whose answer's chain contains the same document."""
    per_answer: Positive = 20
    """Maximum queries with the same answer."""
    per_bridge: Positive = 120
    """Maximum queries whose answer's chain passes through the same bridge entity."""
    per_entity: Positive = 1000
    """Maximum documents and end points of one bridge entity that are searched for distractors; if there are more, a random sample. Larger
    values take more time and memory."""


class QangarooSettings(RecipeSettings):
    """The recipe of WikiHop and MedHop (Welbl et al. 2018)."""

    queries: Literal["relations", "paths", "pairs"] = "relations"
    """Type of query. ``relations``: facts that the subject's own article does not state. ``paths``: two relations in a row that two
    articles state. ``pairs``: two entities of one kind that two texts relate to the same third entity."""
    relations: tuple[str, ...] = ()
    """Ids of the relations to ask about and to build paths from; empty: all."""
    both_directions: bool = True
    """Ask about a symmetric fact in both directions."""
    endpoint_kind: str = ""
    """Kind of entity that may be the answer or a candidate; empty: any object of the relation in a training fact."""
    answer_stated: Literal["subject_document", "any_document", "chain_document"] = "subject_document"
    """Where kgqa looks for a direct statement of the answer; if there is one, it drops the fact. ``subject_document``: in the subject's own
    article. ``any_document``: in any document that names both subject and answer. ``chain_document``, for ``pairs``: in a document of the
    chain that names both; no other document is shown."""
    min_candidates: Annotated[int, Field(ge=2)] = 2
    """Minimum candidates of a sample, including the answer. Larger values give fewer samples."""
    max_candidates: Positive = 100
    """Maximum candidates of a sample, including the answer; samples with more are dropped (section 3)."""
    max_documents: Positive = 64
    """Maximum support documents of a sample; samples with more are dropped (section 3)."""
    placeholders: Annotated[int, Field(ge=2, le=1_000_000)] = 100
    """Number of distinct placeholder tokens for the masked twin; at least ``max_candidates``."""
    surface: Literal["label", "id"] = "label"
    """How entities appear in the official format: as lower-cased labels (WikiHop), or as ids, in the documents too (MedHop)."""
    question: str = "{relation} {subject}"
    """Template of the query. ``{relation}`` is the relation's label with underscores for spaces."""
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
            raise ValueError(
                "traversal.through_end_points = false needs endpoint_kind, the kind of entity that chains must not pass through"
            )
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
            raise ValueError(
                "balance.candidates needs traversal.chains = 'all_shortest' or 'all_simple', as a tree has only one chain per candidate"
            )
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
