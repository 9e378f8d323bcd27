"""Readers judge a set: what they are fitted to and asked, and the figures that come out."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kgqa.arrays.draws import draw
from kgqa.checks.readers.conclusions import conclusions
from kgqa.checks.readers.disconnection import ANSWER, SUPPORT, Transformed, answered, label_of, scores_of, whole_score
from kgqa.checks.readers.figures import Figure, Floats, figure_of
from kgqa.checks.readers.jobs import KINDS, PARTIAL, Plan, plan_of
from kgqa.checks.readers.material import Material
from kgqa.checks.readers.names import FULL_READER, MEASURES, TRANSFORMED_WHOLE
from kgqa.checks.readers.random_reader import DRAWS, RandomReader
from kgqa.errors import EmptyResult
from kgqa.progress import Progress, Within
from kgqa.readers.cost import Job, cost_of
from kgqa.readers.pretrained import pretrained_files, pretrained_key
from kgqa.readers.scores import answer_score, support_score
from kgqa.readers.transformer.encoder import load_encoder
from kgqa.readers.transformer.windows import Cutter
from kgqa.records import Instance
from kgqa.runs.files import Watch, key_of
from kgqa.settings.judging import JudgingSettings
from kgqa.settings.reader import EncoderSettings
from kgqa.settings.training import OF_TIME_AND_MEMORY
from kgqa.training.cross_fit import cross_fit, held_out
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
OURS = re.compile(rf"({'|'.join(('everything', *PARTIAL, *KINDS))})-[0-9a-f]{{16}}")
"""How folders of jobs are called."""
Score = Callable[[Instance, Prediction], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
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
    asked: Material
    plan: Plan
    seed: int
    encoder: str
    """Hash of its files, where they are on this machine."""
    connects: bool
    """Whether the full reader sees several paragraphs at once."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the readers, counted from the audit's seed."""
        return tuple(range(self.seed, self.seed + self.settings.seed_count(self.level)))

    def judge(self, folder: Path, progress: Progress) -> Judged:
        """Fit all readers and let them read; what is done stays in ``folder`` until :meth:`forget`, so that a stopped audit goes on."""
        progress.start("Estimating the cost of the readers")
        progress.finish(str(cost_of(self.plan.jobs, folds=self.settings.folds, seeds=len(self.seeds))))
        done: dict[str, CrossFitted] = {}
        missing = self.without_dire()
        for job in self.plan.jobs:
            try:
                done[job.name] = self._done(job, folder, progress)
            except EmptyResult as error:
                if job is self.plan.jobs[0]:
                    raise
                missing |= dict.fromkeys(OF_JOB.get(job.name, (job.name,)), str(error))
        figures = tuple(self._figures(done))
        encoder = str(getattr(self.plan.jobs[0].reader.settings, "encoder", ""))
        return Judged(
            level=self.level, encoder=encoder, seeds=self.seeds, how=self.asked.how, figures=figures, missing=missing,
            conclusions=tuple(conclusions(figures, seeds=len(self.seeds), connects=self.connects)),
        )  # fmt: skip

    def without_dire(self) -> dict[str, str]:
        """Requested measure that these questions do not allow → reason, known before training."""
        why = self.plan.without_dire if self.level == "full" else ""
        return {measure.name: why for measure in MEASURES if measure.full_only} if why else {}

    def forget(self, folder: Path) -> None:
        """The report is written: what was kept for it goes, also of audits with other settings that were stopped here."""
        for path in folder.glob("*-*") if folder.is_dir() else ():
            if OURS.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()

    def _name(self, job: Job) -> str:
        """Of its folder; another one where anything differs that its predictions depend on."""
        training = job.reader.training.model_dump(mode="json", exclude=set(OF_TIME_AND_MEMORY))
        questions = [None if some is None else of_list(some).key for some in (job.judged, job.train, *job.beside.values())]
        settings = job.reader.settings.model_dump(mode="json")
        return f"{job.name}-{key_of(job.reader.name, settings, self.encoder, training, questions, self.seeds, self.settings.folds)[:16]}"

    def _done(self, job: Job, folder: Path, progress: Progress) -> CrossFitted:
        read = of_list(job.judged)
        options = {
            "place": folder / self._name(job), "folds": self.settings.folds, "seeds": self.seeds, "settings": job.reader.training,
            "key": key_of(job.reader.record()["reader"], job.reader.record()["settings"]), "progress": Within(progress, job.name),
            "beside": {name: of_list(some) for name, some in job.beside.items()},
        }  # fmt: skip
        if job.train is None:
            return cross_fit(read, lambda _: job.reader.make(), **options)  # type: ignore[arg-type]
        return held_out(of_list(job.train), read, lambda _: job.reader.make(), **options)  # type: ignore[arg-type]

    def _figures(self, done: Mapping[str, CrossFitted]) -> Iterable[Figure]:
        judged = self.asked.judged
        marked = [any(paragraph.supporting for paragraph in each.paragraphs) and each.answerable for each in judged]
        yield self._plain(FULL_READER, ANSWERS, done["everything"], answer_score)
        if any(marked):
            yield self._plain(FULL_READER, SUPPORTS, done["everything"], support_score, only=marked)
        for name in PARTIAL:
            if name not in done:
                continue
            if name != "question-only":
                yield self._plain(name, ANSWERS, done[name], answer_score)
            elif any(each.answerable for each in judged):
                # Who sees no context cannot tell whether it suffices: an answer is asked for where there is one.
                yield self._plain(name, ANSWERS, done[name], _answer_alone, only=[each.answerable for each in judged])
            if name == "context-only" and any(marked):
                yield self._plain(name, SUPPORTS, done[name], support_score, only=marked)
        if self.plan.transforms:
            yield from self._disconnected(done)

    def _plain(self, name: str, scored: str, found: CrossFitted, score: Score, *, only: Sequence[bool] | None = None) -> Figure:
        """The mean of a score over the judged questions, or those of them that are marked."""
        judged = self.asked.judged
        keep = np.ones(len(judged), np.bool_) if only is None else np.array(only)
        rng = self._rng(name, scored)
        labels = [int(each.answerable) for each, kept in zip(judged, keep, strict=True) if kept]
        guesser = RandomReader(judged, labels, rng, hides_context=name == "question-only")
        chance = np.mean(
            [score(each, guesser.predict(each)) for _ in range(DRAWS) for each, kept in zip(judged, keep, strict=True) if kept]
        )
        groups = [each.group for each, kept in zip(judged, keep, strict=True) if kept]
        return figure_of(
            found.scores(score)[:, keep], groups, name=name, scored=scored, chance=float(chance), rng=rng,
            measure=BY_NAME.get(name) if scored == ANSWERS else None,
        )  # fmt: skip

    def _disconnected(self, done: Mapping[str, CrossFitted]) -> Iterable[Figure]:
        for kind, (name, scored) in OF_TRANSFORM.items():
            if kind in done:
                made = self.plan.transforms[kind]
                found = self._scores(made, done[kind])
                yield self._transformed(name, scored, ANSWER, made, found)
                if kind == "probe":
                    yield self._transformed(name, SUPPORTS, SUPPORT, made, found)
            if kind == "probe":
                yield self._conditional(done["everything"])

    def _scores(self, found: Transformed, done: CrossFitted, of: str = JUDGED) -> dict[str, Floats]:
        """A row for each seed, a column for each question."""
        by_seed = [scores_of(found, done.predictions(seed, of)) for seed in self.seeds]
        return {name: np.array([each[name] for each in by_seed]) for name in (ANSWER, SUPPORT)}

    def _transformed(self, name: str, scored: str, which: str, found: Transformed, scores: Mapping[str, Floats]) -> Figure:
        rng = self._rng(name, scored)
        groups = [each.group for each in found.questions]
        return figure_of(
            scores[which], groups, name=name, scored=scored, chance=float(self._guessed(found, rng)[which].mean()), rng=rng,
            measure=BY_NAME.get(name) if which == ANSWER else None,
        )  # fmt: skip

    def _guessed(self, found: Transformed, rng: np.random.Generator) -> dict[str, Floats]:
        """The mean of each question's scores by guesses, each context on its own."""
        guesser = RandomReader(found.questions, [label_of(each) for each in found.instances], rng)
        asked = answered(found)
        by_draw = [scores_of(found, map(guesser.predict, asked)) for _ in range(DRAWS)]
        return {name: np.mean([each[name] for each in by_draw], axis=0) for name in (ANSWER, SUPPORT)}

    def _conditional(self, done: CrossFitted) -> Figure:
        """The smaller of the scores on the whole question and on its probe, question by question."""
        found = self.plan.transforms["probe"]
        wanted = {each.id for each in found.questions}
        keep = np.array([each.id in wanted for each in self.asked.judged])
        whole = done.scores(lambda each, said: whole_score(each, said) if each.answers else 0.0)[:, keep]
        apart = self._scores(found, done, "probe")[ANSWER]
        rng = self._rng("dire-conditional", ANSWERS)
        guesser = RandomReader(found.questions, [1], rng)
        asked, guessed = answered(found), []
        for _ in range(DRAWS):
            once = [whole_score(each, guesser.predict(each)) for each in found.questions]
            guessed.append(np.minimum(once, scores_of(found, map(guesser.predict, asked))[ANSWER]))
        return figure_of(
            np.minimum(whole, apart), [each.group for each in found.questions], name="dire-conditional", scored=ANSWERS,
            chance=float(np.mean(guessed)), rng=rng, measure=BY_NAME["dire-conditional"],
        )  # fmt: skip

    def _rng(self, name: str, scored: str) -> np.random.Generator:
        return np.random.default_rng(draw(purpose=f"judged, {name}, {scored}", seed=self.seed, id="all"))


def _answer_alone(instance: Instance, prediction: Prediction) -> float:
    return answer_score(instance, replace(prediction, answerable=True))


def prepared(level: str, asked: Material, settings: JudgingSettings, *, encoder: str | None, device: str | None, seed: int) -> Judging:
    """Everything that can be wrong before it begins is found here. Raises SettingsError, MissingInput, BrokenInput."""
    plan = plan_of(level, asked, settings, encoder=encoder, device=device, seed=seed)
    from kgqa.training.device import device_of

    whole = plan.jobs[0].reader
    device_of(whole.training)
    assert isinstance(whole.settings, EncoderSettings)
    watch = Watch(pretrained_files(whole.settings))
    files = pretrained_key(whole.settings)
    # Loaded once here, so that one that cannot be is known before hours of training, and not after.
    connects = Cutter(load_encoder(whole.settings.encoder), whole.settings, options=False).packs
    watch.check()
    return Judging(level=level, settings=settings, asked=asked, plan=plan, seed=seed, encoder=files, connects=connects)
