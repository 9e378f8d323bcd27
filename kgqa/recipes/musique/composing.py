"""Step S7 (Trivedi et al. 2022): chains become questions; the composers, the checks of their questions, and what rules can compose."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.chat.endpoint import Endpoint
from kgqa.chat.recording import Recording, hash_of
from kgqa.errors import EmptyResult
from kgqa.metrics.normalize import normalize
from kgqa.readers.trained import reader_hashes
from kgqa.recipes.musique.chains import Chains, Pool
from kgqa.recipes.musique.choice import REASONS as NOT_CHOSEN, answer_types, choose_chains
from kgqa.recipes.musique.composers import checks, llm, people, rules
from kgqa.recipes.musique.composers.chain import Chain
from kgqa.recipes.musique.composers.model import ModelComposer
from kgqa.recipes.musique.composers.written import Composer, Written
from kgqa.recipes.musique.from_graph import templates_of
from kgqa.recipes.musique.wording import ASKED
from kgqa.runs.files import file_hash
from kgqa.runs.funnel import FunnelRow, reasons_of
from kgqa.runs.stage import Run, StageOutput
from kgqa.settings.musique import CompositionSettings, MusiqueSettings, TemplateSettings

RECORDING = "recordings/composer.jsonl"
"""File of a workspace with an endpoint's answers."""
TASKS = "tasks"
"""Folder of a workspace with the annotators' tasks."""


def compose_questions(run: Run) -> StageOutput:
    """contexts → composed (``chain``, ``question``), refused, answered (``request``, ``answer``: hashes of an endpoint's answers)."""
    settings = _settings(run)
    tables = run.tables("single_hop", "paragraphs", "connected", "chains", "contexts")
    rows = tables["contexts"]["chain"].to_pylist()
    source = Chains(tables["chains"], tables["connected"], tables["single_hop"], tables["paragraphs"])
    chains = [source[row] for row in rows]
    composer = composer_of(run)
    results = list(composer.write(chains, run.progress))
    reasons = reasons_against(chains, results, settings)
    questions = [(row, result.question) for row, result, reason in zip(rows, results, reasons, strict=True) if not reason]
    refusals = [(row, reason) for row, reason in zip(rows, reasons, strict=True) if reason]
    funnel, left_count = [], len(rows)
    for reason, removed_count in Counter(reason for _, reason in refusals).most_common():
        left_count -= removed_count
        funnel.append(
            FunnelRow(
                stage="compose", what="questions", reason=reason, removed=removed_count, left=left_count, setting="musique.composition"
            )
        )
    funnel.append(FunnelRow(stage="compose", what="questions", reason=f"composed by {settings.composer}", left=left_count))
    if not questions:
        raise EmptyResult(f"no question could be composed: {reasons_of(funnel)}; give another --composer, or change [musique.composition].")
    answers = composer.answers_used() if isinstance(composer, llm.LlmComposer) else {}
    answer_table = pa.table(
        [pa.array(column, pa.string()) for column in (list(answers), list(answers.values()))], names=["request", "answer"]
    )
    return StageOutput(
        tables={"composed": _table(questions, "question"), "refused": _table(refusals, "reason"), "answered": answer_table},
        funnel=funnel, note=f"{len(questions):,} questions",
    )  # fmt: skip


def was_changed(run: Run) -> bool:
    """Whether the recording no longer holds the answers from which an endpoint's questions were made. Raises BrokenInput."""
    if _settings(run).composer != "llm":
        return False
    path = run.workspace.path / RECORDING
    recording = Recording(path) if path.is_file() else None
    requests = run.table("answered").to_pylist()
    answers = [None if recording is None else recording.find(row["request"]) for row in requests]
    return any(answer is None or hash_of(answer) != row["answer"] for row, answer in zip(requests, answers, strict=True))


def choose_expressible(run: Run, candidates: pa.Table, tables: Mapping[str, pa.Table]) -> tuple[npt.NDArray[np.int64], list[FunnelRow]]:
    """Rows of the ``candidates`` that are kept, and the funnel of the others.

    Rules are fast, so their failures show here: a chain that they cannot compose is dropped, and chains are chosen again until all chosen
    ones can be composed. Whether a phrase fits within another phrase does not show in the pairs alone.
    """
    settings = run.section(MusiqueSettings)
    pairs, single_hop = tables["connected"], tables["single_hop"]
    types = answer_types(candidates, pairs, single_hop)
    chains = Chains(candidates, pairs, single_hop, tables["paragraphs"])
    composer = _rules(run) if settings.composition.composer == "rules" else None
    reasons: Counter[str] = Counter()
    usable, tried_rows = np.ones(len(candidates), np.bool_), np.zeros(len(candidates), np.bool_)
    while True:
        among = np.flatnonzero(usable)
        picks, unchosen_count = choose_chains(candidates.take(among), pairs, types[among], settings.shapes)
        rows = among[picks]
        new_rows = rows[~tried_rows[rows]].tolist()
        if composer is None or not new_rows:
            break
        new_chains = [chains[row] for row in new_rows]
        for row, chain, result in zip(new_rows, new_chains, composer.write(new_chains, run.progress), strict=True):
            tried_rows[row] = True
            reason = _fault(chain, result, settings.composition)
            if reason:
                reasons[reason] += 1
                usable[row] = False
    funnel, count = [], len(candidates)
    for reason, removed_count in reasons.most_common():
        count -= removed_count
        funnel.append(
            FunnelRow(
                stage="compose", what="chains", reason=reason, removed=removed_count, left=count, setting="musique.composition.composer"
            )
        )
    for name, removed_count in unchosen_count.items():
        count -= removed_count
        funnel.append(
            FunnelRow(stage="shapes", what="chains", reason=NOT_CHOSEN[name], removed=removed_count, left=count, setting="musique.shapes")
        )
    return rows, funnel


def _table(rows: Sequence[tuple[int, str]], name: str) -> pa.Table:
    return pa.table({"chain": pa.array([row for row, _ in rows], pa.int32()), name: pa.array([text for _, text in rows], pa.string())})


def reasons_against(chains: Sequence[Chain], results: Sequence[Written], settings: CompositionSettings) -> list[str]:
    """The reason why each question is left out, "" where it stays. Equal questions count once if their answers agree, else not at all."""
    reasons, by_text = [], defaultdict[str, list[int]](list)
    for number, (chain, result) in enumerate(zip(chains, results, strict=True)):
        fault = _fault(chain, result, settings)
        reasons.append(fault)
        if not fault:
            by_text[normalize(result.question)].append(number)
    for numbers in by_text.values():
        answers = {normalize(chains[number].hops[-1].answer) for number in numbers}
        for number in numbers[1:] if len(answers) == 1 else numbers:
            if len(numbers) > 1:
                reasons[number] = checks.ALIKE
    return reasons


def _fault(chain: Chain, result: Written, settings: CompositionSettings) -> str:
    """The reason against a question, independent of the others; empty where there is none."""
    faults = checks.faults(result.question, chain, max_words=settings.max_words) if not result.reason else iter(())
    return result.reason or next((checks.REASONS[fault] for fault in faults), "")


def composer_of(run: Run) -> Composer:
    """The composer of the settings. Raises SettingsError, InputError."""
    settings = _settings(run)
    if settings.composer == "rules":
        return _rules(run)
    if settings.composer == "people":
        assert run.answers is not None, "without answers tasks are written, and nothing is composed"
        return people.PeopleComposer(run.answers)
    assert settings.model is not None, "it is asked for before anything is read"
    if settings.composer == "model":
        return ModelComposer(settings.model)
    endpoint = Endpoint(run.endpoint, settings.model, settings.llm, what="--composer llm")
    return llm.LlmComposer(endpoint, Recording(run.workspace.path / RECORDING), settings.llm, max_words=settings.max_words)


def depends_on(run: Run) -> object:
    """The settings and files on which the questions depend; the cost and the retries of an endpoint do not count."""
    settings = _settings(run)
    parts: list[object] = [settings.model_dump(mode="json", include={"composer", "max_words", "max_clauses"})]
    if settings.composer == "model":
        parts.append(reader_hashes(str(settings.model)))
    if settings.composer == "llm":
        parts += [settings.model, llm.settings_key(settings.llm)]
    if settings.composer == "people" and run.answers is not None:
        parts.append(file_hash(run.answers))
    return parts


def write_tasks(run: Run) -> Path:
    """contexts → the task file for annotators; returns its path."""
    tables = run.tables("single_hop", "paragraphs", "connected", "chains", "contexts")
    chains = Chains(tables["chains"], tables["connected"], tables["single_hop"], tables["paragraphs"])
    titles, texts = (tables["paragraphs"][name].to_pylist() for name in ("title", "text"))
    tasks = []
    for row in tables["contexts"]["chain"].to_pylist():
        supports = [chains.rows["paragraph"][hop] for hop in chains.hops[row].tolist() if hop >= 0]
        tasks.append(people.task(chains[row], [{"title": titles[place], "text": texts[place]} for place in supports]))
    path = run.workspace.path / TASKS / f"{run.domain.settings.dataset}.jsonl"
    people.write_tasks(path, tasks)
    return path


def expressible_pairs(run: Run, tables: dict[str, pa.Table], funnel: list[FunnelRow]) -> npt.NDArray[np.bool_]:
    """For each pair, whether the composer can compose it; pairs that rules refuse would only displace better questions."""
    pairs = tables["connected"]
    usable = np.ones(len(pairs), np.bool_)
    if _settings(run).composer != "rules":
        return usable
    pool = Pool(tables["single_hop"], tables["paragraphs"])
    questions, kinds = pool.rows["question"], pool.rows["kind"]
    heads = pairs["head"].to_numpy()
    head_rows = np.unique(heads).tolist()
    says = {row: rules.can_say(questions[row], kinds[row], is_person=pool.is_person(row)) for row in head_rows}
    sayable_heads = np.array([says[row] for row in heads.tolist()], np.bool_)
    places = zip(*(pairs[name].to_pylist() for name in ("tail", "start", "end")), strict=True)
    is_expressible = np.array(
        [kinds[tail] != ASKED or rules.can_take(questions[tail], start, end) for tail, start, end in places], np.bool_
    )
    for reason, mask in (("form", sayable_heads), ("place", sayable_heads & is_expressible)):
        funnel.append(
            FunnelRow(
                stage="compose", what="pairs", reason=rules.REFUSED[reason], removed=int(usable.sum() - mask.sum()), left=int(mask.sum()),
                setting="musique.composition.composer",
            )
        )  # fmt: skip
        usable = mask
    return usable


def _rules(run: Run) -> rules.RuleComposer:
    settings = run.section(MusiqueSettings)
    return rules.RuleComposer(_templates(run), max_clauses=settings.composition.max_clauses, forms=settings.forms, seed=run.seed)


def _templates(run: Run) -> dict[str, TemplateSettings]:
    return {} if run.sets else templates_of(run.table("relations"), run.section(MusiqueSettings))


def _settings(run: Run) -> CompositionSettings:
    return run.section(MusiqueSettings).composition
