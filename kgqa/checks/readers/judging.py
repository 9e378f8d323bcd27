"""Readers judge a set: what they are fitted to and asked, and the figures that come out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kgqa.arrays.draws import draw
from kgqa.arrays.parallel import Engine
from kgqa.chat.connection import Connection
from kgqa.checks.readers.conclusions import conclusions
from kgqa.checks.readers.disconnection import ANSWER, SUPPORT, Transformation, answered, label_of, scores_of, whole_score
from kgqa.checks.readers.figures import Figure, Floats, figure_of
from kgqa.checks.readers.jobs import BESIDE, KINDS, PARTIAL, Plan, plan_of
from kgqa.checks.readers.material import Material
from kgqa.checks.readers.names import FULL_READER, MEASURES, TRANSFORMED_WHOLE
from kgqa.checks.readers.random_reader import DRAWS, RandomReader
from kgqa.errors import EmptyResult
from kgqa.progress import Progress, Within
from kgqa.readers.cost import Job, cost_of
from kgqa.readers.llm.endpoint_reader import check_connection, show_cost
from kgqa.readers.portable import nodes_for
from kgqa.readers.pretrained import pretrained_files, pretrained_key
from kgqa.readers.scores import answer_score, support_score
from kgqa.readers.transformer.resizing import encoder_of
from kgqa.readers.transformer.windows import Cutter
from kgqa.records import Instance
from kgqa.runs.files import Watch, key_of
from kgqa.settings.judging import JudgingSettings
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import OF_TIME_AND_MEMORY
from kgqa.training.cross_fit import cross_fit
from kgqa.training.extra import require_readers
from kgqa.training.judgements import JUDGED, CrossFitted
from kgqa.training.questions import of_list
from kgqa.training.reader import Prediction

BY_NAME = {measure.name: measure for measure in MEASURES}
ANSWERS, SUPPORTS, BOTH = "answer F1", "support F1", "answer F1 + sufficiency"
OF_TRANSFORM = {
    "probe": ("dire", ANSWERS),
    "sufficiency": (TRANSFORMED_WHOLE, BOTH),
    "probe-of-sufficiency": ("dire-sufficiency", BOTH),
}
"""Kind of transform → what readers that are fitted to it give a figure of, and what of them is scored."""
OF_JOB = {kind: (name,) for kind, (name, _) in OF_TRANSFORM.items()}
OURS = re.compile(rf"({'|'.join(('everything', *PARTIAL, *KINDS, rf'{BESIDE}-[0-9]+'))})-[0-9a-f]{{16}}")
"""How folders of jobs are called."""
Score = Callable[[Instance, Prediction], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderResults:
    """Results of readers for a set."""

    level: str
    encoder: str
    seeds: tuple[int, ...]
    how: str
    """A sentence about training and evaluated questions."""
    figures: tuple[Figure, ...]
    conclusions: tuple[str, ...]
    """Conclusions and their limits, in sentences."""
    missing: Mapping[str, str]
    """Requested measure without a figure → reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """An audit's readers, ready to begin."""

    level: str
    settings: JudgingSettings
    material: Material
    plan: Plan
    seed: int
    encoder: str
    """Hash of its files, where they are on this machine."""
    connects: bool
    """Whether the full reader sees several paragraphs at once."""
    connection: Connection
    """For readers that ask an endpoint."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the readers, counted from the audit's seed."""
        return tuple(range(self.seed, self.seed + self.settings.seed_count(self.level)))

    def judge(self, folder: Path, progress: Progress, engine: Engine | None = None) -> ReaderResults:
        """Fit all readers and let them read, on a cluster if the ``engine`` has one.

        What is done stays in ``folder`` until :meth:`forget`, so that a stopped audit goes on.
        """
        show_cost(self.plan.jobs, self.connection, progress, folds=self.settings.folds, seeds=self.seeds)
        fitted = [job for job in self.plan.jobs if not job.reader.kind.asks]
        if fitted:
            progress.start("Estimating the cost of the readers")
            progress.finish(str(cost_of(fitted, folds=self.settings.folds, seeds=len(self.seeds), engine=engine)))
        results: dict[str, CrossFitted] = {}
        reasons = self.without_dire()
        for job in self.plan.jobs:
            try:
                results[job.name] = self._cross_fit(job, folder, progress, engine)
            except EmptyResult as error:
                if job is self.plan.jobs[0]:
                    raise
                reasons |= dict.fromkeys(OF_JOB.get(job.name, (job.name,)), str(error))
        figures = tuple(self._figures(results))
        full_reader = self.plan.jobs[0].reader
        # What the report names: the pretrained files, or the model behind the endpoint.
        encoder = str(getattr(full_reader.settings, "model" if full_reader.kind.asks else "encoder", ""))
        return ReaderResults(
            level=self.level, encoder=encoder, seeds=self.seeds, how=self.material.how, figures=figures, missing=reasons,
            conclusions=tuple(conclusions(figures, seeds=len(self.seeds), connects=self.connects, asks=full_reader.kind.asks)),
        )  # fmt: skip

    def check_nodes(self, engine: Engine) -> None:
        """Raise SettingsError or ClusterError for a cluster that cannot fit the readers."""
        for job in self.plan.jobs:
            nodes_for(engine, job.reader)

    def without_dire(self) -> dict[str, str]:
        """Requested measure that these questions do not allow → reason, known before training."""
        reason = self.plan.without_dire if self.level == "full" else ""
        return {measure.name: reason for measure in MEASURES if measure.full_only} if reason else {}

    def forget(self, folder: Path) -> None:
        """The report is written: what was kept for it goes, also of audits with other settings that were stopped here."""
        for path in folder.glob("*-*") if folder.is_dir() else ():
            if OURS.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def _name(self, job: Job) -> str:
        """The name of a job's folder, which changes with everything that its predictions depend on."""
        training = job.reader.training.model_dump(mode="json", exclude=set(OF_TIME_AND_MEMORY))
        questions = [None if instances is None else of_list(instances).key for instances in (job.judged, job.train, *job.beside.values())]
        settings = job.reader.record()["settings"]
        return f"{job.name}-{key_of(job.reader.name, settings, self.encoder, training, questions, self.seeds, self.settings.folds)[:16]}"

    def _cross_fit(self, job: Job, folder: Path, progress: Progress, engine: Engine | None) -> CrossFitted:
        questions = of_list(job.judged)
        options = {
            "place": folder / self._name(job), "folds": self.settings.folds, "seeds": self.seeds, "settings": job.reader.training,
            "key": key_of(job.reader.record()["reader"], job.reader.record()["settings"]), "progress": Within(progress, job.name),
            "beside": {name: of_list(some) for name, some in job.beside.items()}, "connection": self.connection,
            "nodes": nodes_for(engine, job.reader),
        }  # fmt: skip
        train = None if job.train is None else of_list(job.train)
        return cross_fit(questions, lambda _: job.reader.make(), train=train, **options)  # type: ignore[arg-type]

    def _figures(self, results: Mapping[str, CrossFitted]) -> Iterable[Figure]:
        questions = self.material.judged
        has_support = [any(paragraph.supporting for paragraph in question.paragraphs) and question.answerable for question in questions]
        yield self._plain(FULL_READER, ANSWERS, results["everything"], answer_score)
        if any(has_support):
            yield self._plain(FULL_READER, SUPPORTS, results["everything"], support_score, only=has_support)
        for name in PARTIAL:
            if name not in results:
                continue
            if name != "question-only":
                yield self._plain(name, ANSWERS, results[name], answer_score)
            elif any(question.answerable for question in questions):
                # Who sees no context cannot tell whether it suffices: an answer is asked for where there is one.
                yield self._plain(name, ANSWERS, results[name], _answer_alone, only=[question.answerable for question in questions])
            if name == "context-only" and any(has_support):
                yield self._plain(name, SUPPORTS, results[name], support_score, only=has_support)
        for job in self.plan.jobs:
            if job.name.startswith(BESIDE) and job.name in results:
                yield self._plain(job.reader.name, ANSWERS, results[job.name], answer_score)
        if self.plan.transforms:
            yield from self._disconnected(results)

    def _plain(self, name: str, scored: str, results: CrossFitted, score: Score, *, only: Sequence[bool] | None = None) -> Figure:
        """The mean of a score over the judged questions, or those of them that are marked."""
        questions = self.material.judged
        mask = np.ones(len(questions), np.bool_) if only is None else np.array(only)
        rng = self._rng(name, scored)
        labels = [int(question.answerable) for question, is_kept in zip(questions, mask, strict=True) if is_kept]
        guesser = RandomReader(questions, labels, rng, hides_context=name == "question-only")
        chance = np.mean(
            [
                score(question, guesser.predict(question))
                for _ in range(DRAWS)
                for question, is_kept in zip(questions, mask, strict=True)
                if is_kept
            ]
        )
        groups = [question.group for question, is_kept in zip(questions, mask, strict=True) if is_kept]
        return figure_of(
            results.scores(score)[:, mask], groups, name=name, scored=scored, chance=float(chance), rng=rng,
            measure=BY_NAME.get(name) if scored == ANSWERS else None,
        )  # fmt: skip

    def _disconnected(self, results: Mapping[str, CrossFitted]) -> Iterable[Figure]:
        for kind, (name, score_name) in OF_TRANSFORM.items():
            if kind in results:
                transform = self.plan.transforms[kind]
                scores = self._scores(transform, results[kind])
                yield self._transformed(name, score_name, ANSWER, transform, scores)
                if kind == "probe":
                    yield self._transformed(name, SUPPORTS, SUPPORT, transform, scores)
            if kind == "probe":
                yield self._conditional(results["everything"])

    def _scores(self, transform: Transformation, results: CrossFitted, of: str = JUDGED) -> dict[str, Floats]:
        """A row for each seed, a column for each question."""
        by_seed = [scores_of(transform, results.predictions(seed, of)) for seed in self.seeds]
        return {name: np.array([scores[name] for scores in by_seed]) for name in (ANSWER, SUPPORT)}

    def _transformed(self, name: str, score_name: str, part: str, transform: Transformation, scores: Mapping[str, Floats]) -> Figure:
        rng = self._rng(name, score_name)
        groups = [question.group for question in transform.questions]
        return figure_of(
            scores[part], groups, name=name, scored=score_name, chance=float(self._guessed(transform, rng)[part].mean()), rng=rng,
            measure=BY_NAME.get(name) if part == ANSWER else None,
        )  # fmt: skip

    def _guessed(self, transform: Transformation, rng: np.random.Generator) -> dict[str, Floats]:
        """The mean of each question's scores by guesses, each context on its own."""
        guesser = RandomReader(transform.questions, [label_of(scores) for scores in transform.instances], rng)
        contexts = answered(transform)
        by_draw = [scores_of(transform, map(guesser.predict, contexts)) for _ in range(DRAWS)]
        return {name: np.mean([scores[name] for scores in by_draw], axis=0) for name in (ANSWER, SUPPORT)}

    def _conditional(self, results: CrossFitted) -> Figure:
        """The smaller of the scores on the whole question and on its probe, question by question."""
        transform = self.plan.transforms["probe"]
        ids = {question.id for question in transform.questions}
        mask = np.array([question.id in ids for question in self.material.judged])
        whole_scores = results.scores(lambda question, prediction: whole_score(question, prediction) if question.answers else 0.0)[:, mask]
        probe_scores = self._scores(transform, results, "probe")[ANSWER]
        rng = self._rng("dire-conditional", ANSWERS)
        guesser = RandomReader(transform.questions, [1], rng)
        contexts, guesses = answered(transform), []
        for _ in range(DRAWS):
            whole_guesses = [whole_score(question, guesser.predict(question)) for question in transform.questions]
            guesses.append(np.minimum(whole_guesses, scores_of(transform, map(guesser.predict, contexts))[ANSWER]))
        return figure_of(
            np.minimum(whole_scores, probe_scores), [question.group for question in transform.questions], name="dire-conditional",
            scored=ANSWERS, chance=float(np.mean(guesses)), rng=rng, measure=BY_NAME["dire-conditional"],
        )  # fmt: skip

    def _rng(self, name: str, scored: str) -> np.random.Generator:
        return np.random.default_rng(draw(purpose=f"judged, {name}, {scored}", seed=self.seed, id="all"))


def _answer_alone(instance: Instance, prediction: Prediction) -> float:
    return answer_score(instance, replace(prediction, answerable=True))


def prepared(
    level: str, material: Material, settings: JudgingSettings, *, encoder: str | None, device: str | None, connection: Connection,
    seed: int, file: str = "", on_cluster: bool = False,
) -> Judging:  # fmt: skip
    """Everything that can be wrong before it begins is found here, but what a cluster lacks; ``file`` has the ``settings``, for messages.

    Raises SettingsError, MissingInput, BrokenInput.
    """
    plan = plan_of(level, material, settings, encoder=encoder, device=device, seed=seed, file=file)
    if any(job.reader.steps for job in plan.jobs):
        require_readers("kgqa audit --readers")
    from kgqa.training.device import device_of

    full_reader = plan.jobs[0].reader
    check_connection([job.reader for job in plan.jobs], connection)
    if full_reader.kind.asks:
        return Judging(
            level=level, settings=settings, material=material, plan=plan, seed=seed, encoder="", connects=True, connection=connection
        )
    if not on_cluster:
        device_of(full_reader.training)
    assert isinstance(full_reader.settings, EncoderSettings)
    watch = Watch(pretrained_files(full_reader.settings))
    files = pretrained_key(full_reader.settings)
    # Loaded once here, so that one that cannot be is known before hours of training, and not after.
    connects = Cutter(encoder_of(full_reader.settings), full_reader.settings, options=False).packs
    watch.check()
    return Judging(
        level=level, settings=settings, material=material, plan=plan, seed=seed, encoder=files, connects=connects,
        connection=connection,
    )  # fmt: skip
