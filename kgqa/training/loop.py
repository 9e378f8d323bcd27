"""The training loop: steps over length-sorted batches, checkpoints, evaluation, early stopping.

A step sees the same questions whatever the memory: they are drawn from the seed and the epoch's number. Its dropout is drawn from the seed
and the step's number. The batch is split into as many parts as needed to fit, and each part has its own dropout. So a resumed run follows
the same curve, on the CPU to the same bytes.

Memory: the network, the optimiser's two moments, the weights' averages where there are any, the activations of ``batch_tokens`` tokens, and
12 bytes per question.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kgqa.errors import EmptyResult, InterruptedRun, OutOfMemory, RunMismatch, SettingsError, TrainingError, storage_errors
from kgqa.progress import Silent
from kgqa.runs.files import key_of
from kgqa.settings.training import OF_TIME_AND_MEMORY, TrainingSettings
from kgqa.training import checkpoints
from kgqa.training.averages import Averages
from kgqa.training.batches import batches_of_epoch, token_batches
from kgqa.training.checkpoints import State
from kgqa.training.compiling import compilation_fault, compile_steps, quietly
from kgqa.training.device import device_of, is_out_of_memory, numerics, to_device
from kgqa.training.encoded import encode
from kgqa.training.loading import Collation, batches
from kgqa.training.predicting import mean_score
from kgqa.training.processes import Processes, first_alone
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting
from kgqa.training.stopping import Stopping, StopRequested
from kgqa.training.task import Batch, Task

if TYPE_CHECKING:
    import torch

VERSION = 4
"""Version of a training step; a run of another version is not resumed."""
REPORTS = 50
"""Approximate number of curve points per epoch."""
BEST = "best-{:09d}.safetensors"
"""File name by step: a killed process may have improved after its last checkpoint, and that must not overwrite the checkpoint's best
weights.
"""
NO_MEMORY = "{} has too little memory for the network and one question; take a smaller encoder or max_length, or --device cpu."


@dataclass(frozen=True, slots=True, kw_only=True)
class FitResult:
    """The outcome of a fit."""

    steps: int
    questions: int
    """Questions that were learned from, per epoch."""
    faults: Counter[str] = field(default_factory=Counter)
    """Reasons why other questions were not, with counts."""
    best: float | None
    """Mean score on the dev questions; None without dev questions."""
    best_step: int


def fit_task(task: Task, train: Questions, dev: Questions | None, fitting: Fitting, *, key: str) -> FitResult:
    """Train ``task`` to the end, from its last checkpoint if there is one; its network ends with the best weights.

    ``key``: hash of the reader's settings and version. Raises EmptyResult if no question can be learned from, TrainingError if the loss is
    not finite, OutOfMemory, RunMismatch if the folder holds another run, InterruptedRun, and StorageError.
    """
    try:
        with numerics(fitting.settings), quietly(fitting.settings.compile):
            return _Run(task, train, dev, fitting, key).fit()
    except (RuntimeError, MemoryError) as error:
        reason = compilation_fault(error)
        if reason is not None:
            raise TrainingError(f"{fitting.place}: torch cannot compile this reader ({reason}); leave out compile.") from error
        if not is_out_of_memory(error):
            raise
        # In a step the batch is read in smaller parts; this was the network on its way there, or the optimiser.
        raise OutOfMemory(f"{fitting.place}: {NO_MEMORY.format(device_of(fitting.settings).owner)}") from None


class _Run:
    """Training of one network, from its first step or from a checkpoint."""

    def __init__(self, task: Task, train: Questions, dev: Questions | None, fitting: Fitting, key: str) -> None:
        import torch

        self._settings, self._fitting, self._task = fitting.settings, fitting, task
        self._folder = fitting.place / "checkpoints"
        with storage_errors(fitting.place):
            fitting.place.mkdir(parents=True, exist_ok=True)
        self._processes = Processes(device_of(fitting.settings))
        self._dev = None if dev is None or not has_answers(dev) else dev_sample(dev, fitting.settings.dev_questions)
        tokens, progress = fitting.place / "tokens", fitting.progress if self._processes.is_first else Silent()
        with first_alone():
            self._examples = encode(task, train, tokens, progress, what="training questions")
            if self._dev is not None:
                encode(task, self._dev, tokens, progress, what="dev questions")
        if self._dev is None and self._settings.schedule == "halving":
            raise SettingsError("schedule: the rate is halved after dev evaluations, and there are no dev questions; use linear.")
        self._rows = train.rows()
        self._sound = self._rows[self._examples.sound[self._rows]]
        self._faults = self._examples.faults(self._rows)
        if not len(self._sound):
            raise EmptyResult(nothing_to_learn(len(self._rows), self._faults))
        self._per_epoch = math.ceil(len(self._sound) / self._settings.batch)
        self._total = min(self._settings.epochs * self._per_epoch, self._settings.max_steps or math.inf)
        if fitting.settings.gradient_checkpointing:
            _checkpoint_layers(task.network)
        objective = Objective(task)
        if fitting.settings.compile:
            compile_steps(objective, self._processes.device)
        self._objective = self._processes.prepare(objective)
        self._optimiser = torch.optim.AdamW(_parameter_groups(task.network, self._settings.weight_decay), lr=0.0, fused=True)
        self._averages = Averages(self._optimiser, self._settings.averaging)
        self._state = State(
            key=key_of(
                VERSION, key, train.key, self._rows.tolist() if train.keep is not None else None, fitting.seed,
                _curve_settings(self._settings),
                None if dev is None else [dev.key, None if dev.keep is None else dev.rows().tolist()], _frozen_key(task.network),
            ),
            batch_tokens=self._settings.batch_tokens, asked_tokens=self._settings.batch_tokens,
        )  # fmt: skip
        self._stopping = Stopping()
        order = partial(batches_of_epoch, self._sound, self._examples.tokens, size=self._settings.batch, seed=self._fitting.seed)
        self._order = lru_cache(maxsize=2)(lambda epoch: order(epoch=epoch))  # as batches are prepared for the next one too
        self._loaded: Iterator[Batch] | None = None

    def fit(self) -> FitResult:
        self._go_on()
        if not self._state.finished:
            with self._stopping, closing(self):
                self._steps()
                self._state.finished = True
                self._save()
            if self._processes.any(self._stopping.is_requested):
                raise InterruptedRun(f"{self._fitting.place}: stopped at its end; run the same command again to go on.")
        if self._state.best_step:
            checkpoints.load_weights(self._task.network, self._best(), trained_only=True)
        else:
            self._averages.keep()
        self._processes.wait()  # as the first may remove what the others still read
        state = self._state
        return FitResult(
            steps=state.step, questions=len(self._sound), faults=self._faults,
            best=state.best if state.best_step else None, best_step=state.best_step,
        )  # fmt: skip

    def close(self) -> None:
        """End the processes that prepare batches."""
        self._loaded = None

    def _go_on(self) -> None:
        """Resume from the last checkpoint, if there is one."""
        checkpoint = checkpoints.latest(self._folder)
        if checkpoint is None:
            self._note({"step": 0, **parameter_counts(self._task.network)})
            return
        folder, state = checkpoint
        if state.key != self._state.key:
            raise RunMismatch(
                f"{self._fitting.place}: this run was started with other settings, another dataset or another version; choose another "
                "--out, or remove it to start again."
            )
        checkpoints.restore(folder, self._task.network, self._optimiser, averaged=bool(self._averages))
        if state.asked_tokens != self._settings.batch_tokens:
            state.batch_tokens = state.asked_tokens = self._settings.batch_tokens
        self._state = state
        if not state.finished:
            self._note({"step": state.step, "resumed": True})

    def _steps(self) -> None:
        state, settings = self._state, self._settings
        progress = self._fitting.progress if self._processes.is_first else Silent()
        progress.start("Training", int(self._total) * settings.batch, "questions")
        progress.advance(state.step * settings.batch)
        last_save, meter = time.monotonic(), _Meter(state, self._processes)
        self._task.network.train()  # pretrained networks come without dropout, which they would only get back after an evaluation
        report_every, evaluate_every = max(1, self._per_epoch // REPORTS), max(1, self._per_epoch // settings.evaluations)
        # A run that was stopped during an evaluation repeats it first; it may end the run.
        is_done = state.unscored and self._evaluate()
        while not is_done and state.step < self._total:
            rows = self._batch(state.step)
            try:
                loss, norm = self._step(rows)
            except StopRequested:
                self._settle(meter)
                raise self._stopped() from None
            meter.add(loss, norm, len(rows), state.step)
            state.step += 1
            progress.advance(settings.batch)
            is_last = state.step == self._total
            if state.step % report_every == 0 or is_last:
                self._settle(meter)
                self._note(meter.point(state.step, self._total))
                meter.begin()
            if self._dev is not None and (state.step % evaluate_every == 0 or is_last):
                self._settle(meter)
                if self._evaluate():
                    break
            # All processes must agree, or one would wait for the gradients of another that has stopped.
            is_stopped = self._processes.any(self._stopping.is_requested)
            # Only the first process's clock counts, since the others wait while it writes.
            is_due = self._processes.any(self._processes.is_first and time.monotonic() - last_save >= settings.checkpoint_seconds)
            if is_stopped and not is_last:  # after the last one, what was learned is kept first
                self._settle(meter)
                raise self._stopped()
            if is_stopped or is_due:
                self._settle(meter)
                self._save()
                last_save = time.monotonic()
        progress.finish(f"{state.step:,} steps" + (f", best dev score {100 * state.best:.1f}" if state.best_step else ""))

    def _stopped(self) -> InterruptedRun:
        """Save the state after the last step; return the error to raise."""
        self._save()
        return InterruptedRun(f"{self._fitting.place}: stopped after step {self._state.step:,}; run the same command again to go on.")

    def _can_stop_here(self) -> bool:
        """Whether the user wants to stop and no other process waits for this one, so that a step can be abandoned halfway."""
        return self._stopping.is_requested and self._processes.count == 1

    def _batch(self, step: int) -> npt.NDArray[np.int64]:
        epoch, position = divmod(step, self._per_epoch)
        return self._order(epoch)[position]

    def _parts(self, rows: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """This process's share of a batch, in parts that fit into memory; if it has none, one example that weighs nothing."""
        own_rows = self._processes.share(rows)
        return list(token_batches(own_rows if len(own_rows) else rows[:1], self._examples.tokens, limit=self._state.batch_tokens))

    def _load(self) -> Iterator[Batch]:
        """The tensors of all parts from this step on."""
        steps = range(self._state.step, int(self._total))
        parts = (part for step in steps for part in self._parts(self._batch(step)))
        return batches(Collation(self._task, self._examples), parts, workers=self._settings.workers, device=self._processes.device)

    def _settle(self, meter: _Meter) -> None:
        """Bring the state up to date with the device. Raises TrainingError if the loss was not finite in a step since the last time."""
        fault = meter.settle()
        if fault is None:
            return
        step, loss = fault
        rows = self._batch(step)
        ids = ", ".join(self._examples.table.column("id").take([int(row) for row in rows[:3]]).to_pylist())
        raise TrainingError(
            f"{self._fitting.place}: the loss is {loss} in step {step + 1:,} (questions {ids} and {max(0, len(rows) - 3)} more); the "
            "last checkpoint is kept; try a lower learning_rate, or --precision fp32."
        )

    def _step(self, rows: npt.NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Do one step on the examples in ``rows``; return this process's share of the sum of their losses, and the gradients' norm.

        Neither is read here, so that a GPU is never waited for. Raises StopRequested between two parts, before any update.
        """
        import torch

        state = self._state
        self._optimiser.zero_grad(set_to_none=True)
        for group in self._optimiser.param_groups:
            group["lr"] = self._settings.learning_rate * self._rate()
        torch.manual_seed(int(np.random.default_rng([self._fitting.seed, 1, state.step, self._processes.number]).integers(2**62)))
        loss = self._loss(rows)
        if loss is None:
            self._loaded = None  # its parts are too large
            self._smaller(rows)
            return self._step(rows)
        norm = torch.nn.utils.clip_grad_norm_(self._task.network.parameters(), self._settings.clip)
        self._optimiser.step()
        self._averages.update(state.step)
        return loss, norm

    def _rate(self) -> float:
        """The next step's learning rate as a share of its maximum."""
        step, total, warm_up = self._state.step, int(self._total), self._settings.warm_up
        if self._settings.schedule == "linear":
            return rate_at(step, total, warm_up)
        return min(1.0, (step + 1) / (warm_up * total + 1)) * 0.5**self._state.halvings

    def _loss(self, rows: npt.NDArray[np.int64]) -> torch.Tensor | None:
        """:meth:`_gradients`, or None if memory does not suffice. No exception refers to the tensors then, so their memory is free."""
        try:
            return self._gradients(rows)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            return None

    def _gradients(self, rows: npt.NDArray[np.int64]) -> torch.Tensor:
        """Accumulate the gradients of a batch, part by part; return the sum of its losses, float64 (). Every process reads its share."""
        import torch

        count, own_rows = len(rows), self._processes.share(rows)
        # Whoever has none takes part with one that weighs nothing, since the others wait for its gradients.
        weight = self._processes.count / count if len(own_rows) else 0.0
        self._loaded = self._loaded or self._load()
        parts = len(self._parts(rows))
        total = torch.zeros((), dtype=torch.float64, device=self._processes.device.torch)
        for number in range(parts):
            if number and self._can_stop_here():
                raise StopRequested
            batch = to_device(next(self._loaded), self._processes.device.torch)
            with self._processes.synchronised(self._objective, last=number == parts - 1), self._processes.device.autocast():
                losses = self._objective(batch).float()
                # The mean over the whole batch, of which processes average their gradients.
                (losses.sum() * weight).backward()
            if len(own_rows):
                total += losses.detach().sum()
        return total

    def _smaller(self, rows: npt.NDArray[np.int64]) -> None:
        """Halve the tokens per forward pass after memory did not suffice for these ``rows``.

        Raises OutOfMemory if the longest of them was a part of its own already, or if other processes wait for this one.
        """
        import torch

        state, owner = self._state, self._processes.device.owner
        torch.cuda.empty_cache()
        if self._processes.count > 1:
            raise OutOfMemory(
                f"{self._fitting.place}: {owner} has too little memory for {state.batch_tokens:,} tokens at once; give a smaller "
                "batch_tokens."
            )
        if state.batch_tokens < self._examples.tokens[rows].max():
            raise OutOfMemory(f"{self._fitting.place}: {NO_MEMORY.format(owner)}")
        state.batch_tokens = max(1, state.batch_tokens // 2)
        self._note({"step": state.step, "remark": f"memory did not suffice: {state.batch_tokens:,} tokens at once from now on"})
        self._fitting.progress.start(f"Out of memory: continuing with {state.batch_tokens:,} tokens at once and the same batch size")

    def _evaluate(self) -> bool:
        """Score the dev questions, and keep the weights if they are the best; return whether to stop early.

        Raises InterruptedRun if the user stops the run during the evaluation; a resumed run begins with this evaluation.
        """
        assert self._dev is not None
        state = self._state
        dev, limit = self._dev, 4 * state.batch_tokens
        tokens = self._fitting.place / "tokens"
        state.unscored = True
        try:
            with self._averages.in_place():
                score = mean_score(self._task, dev, tokens, self._processes, limit=limit, is_asked=self._can_stop_here)
                is_better = score > state.best
                if is_better:
                    state.best, state.best_step, state.worse = score, state.step, 0
                    if self._processes.is_first:
                        checkpoints.replace_weights(self._task.network, self._best())
        except StopRequested:
            raise self._stopped() from None
        state.unscored = False
        self._note({"step": state.step, "score": score})
        if not is_better:
            state.worse += 1
            state.halvings += self._settings.schedule == "halving"
        return state.worse >= self._settings.patience

    def _save(self) -> None:
        if self._processes.is_first:
            checkpoints.save(self._folder, self._state, self._task.network, self._optimiser)
            for old_weights in set(self._fitting.place.glob(BEST.replace("{:09d}", "*"))) - {self._best()}:
                old_weights.unlink(missing_ok=True)
        self._processes.wait()

    def _best(self) -> Path:
        return self._fitting.place / BEST.format(self._state.best_step)

    def _note(self, point: dict[str, object]) -> None:
        if self._processes.is_first:
            self._fitting.record(point)


def nothing_to_learn(count: int, faults: Mapping[str, int]) -> str:
    """A sentence that says why no question can be learned from."""
    if not count:
        return "the train split has no question; give a set that has some, or a file whose name says train."
    reasons = "; ".join(f"{reason}: {number:,}" for reason, number in sorted(faults.items(), key=lambda item: -item[1]))
    return f"none of the {count:,} training questions can be learned from ({reasons}); give another set, or another reader."


def has_answers(questions: Questions) -> bool:
    """Whether any of them has a gold answer; a split with hidden answers cannot serve as dev set."""
    return any(instance.answers or not instance.answerable for instance in questions)


def dev_sample(questions: Questions, count: int) -> Questions:
    """At most ``count`` of the questions, spread over the split; always the same ones."""
    rows = questions.rows()
    if len(rows) <= count:
        return questions
    keep = np.zeros(questions.count, np.bool_)
    keep[np.random.default_rng([0, len(rows)]).choice(rows, count, replace=False)] = True
    return questions.only(keep)


def rate_at(step: int, total: int, warm_up: float) -> float:
    """The learning rate as a share of its maximum: linear warm-up, then linear decay to 0."""
    warm_up_steps = warm_up * total
    return (step + 1) / (warm_up_steps + 1) if step < warm_up_steps else max(0.0, (total - step) / max(1.0, total - warm_up_steps))


def _checkpoint_layers(network: torch.nn.Module) -> None:
    """Let pretrained encoders keep the input of each layer only. Raises SettingsError if the network has none that can."""
    from transformers import PreTrainedModel

    encoders = [module for module in network.modules() if isinstance(module, PreTrainedModel) and module.supports_gradient_checkpointing]
    if not encoders:
        raise SettingsError("gradient_checkpointing: this reader has no pretrained encoder that can do it; leave it out.")
    for encoder in encoders:
        # The older of the two names is of transformers before 5.
        enable = getattr(encoder, "activation_checkpointing_enable", None) or encoder.gradient_checkpointing_enable
        enable({"use_reentrant": False})


def Objective(task: Task) -> torch.nn.Module:  # noqa: N802 - a class of a module that is imported late
    """The task's losses as a module, so that several processes can average its gradients."""
    import torch

    class _Objective(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.network = task.network

        def forward(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
            return task.losses(batch)

    return _Objective()


def _parameter_groups(network: torch.nn.Module, decay: float) -> list[dict[str, Any]]:
    """Parameter groups of the optimiser; biases and the scales of norms have no weight decay."""
    trainable = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return [
        {"params": [parameter for parameter in trainable if parameter.ndim > 1], "weight_decay": decay},
        {"params": [parameter for parameter in trainable if parameter.ndim <= 1], "weight_decay": 0.0},
    ]


def parameter_counts(network: torch.nn.Module) -> dict[str, int]:
    """The numbers of parameters of a network: all, and those that are trained."""
    sizes = [(parameter.numel(), parameter.requires_grad) for parameter in network.parameters()]
    return {"parameters": sum(size for size, _ in sizes), "trained_parameters": sum(size for size, is_trained in sizes if is_trained)}


def _frozen_key(network: torch.nn.Module) -> str | None:
    """Hash of the weights that training does not change and checkpoints do not hold; None if there are none."""
    import torch

    frozen = [(name, weight) for name, weight in network.named_parameters() if not weight.requires_grad]
    if not frozen:
        return None
    digest = sha256()
    for name, weight in frozen:
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        digest.update(weight.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _curve_settings(settings: TrainingSettings) -> dict[str, Any]:
    """The settings that the curve depends on."""
    return settings.model_dump(mode="json", exclude=set(OF_TIME_AND_MEMORY))


class _Meter:
    """Loss and speed since the last point of the curve. The sums stay on the device until :meth:`settle`, so that no step waits for it."""

    def __init__(self, state: State, processes: Processes) -> None:
        """The sums are in the run's state, since it may be stopped between two points; the speed belongs to this process."""
        import torch

        self._state, self._processes, self._questions, self._begin = state, processes, 0, time.perf_counter()
        numbers: dict[str, Any] = {"dtype": torch.float64, "device": processes.device.torch}
        # Of the run so far, only the first process knows the sum.
        self._loss = torch.tensor(state.loss if processes.is_first else 0.0, **numbers)
        self._faulty_step = torch.tensor(math.inf, **numbers)
        self._faulty_loss = torch.tensor(0.0, **numbers)

    def begin(self) -> None:
        """Start the next point of the learning curve with empty sums."""
        self._loss.zero_()
        self._state.loss, self._state.questions = 0.0, 0
        self._questions, self._begin = 0, time.perf_counter()

    def add(self, loss: torch.Tensor, norm: torch.Tensor, questions: int, step: int) -> None:
        """Add a step: this process's part of the sum of the losses, and the norm of the gradients."""
        self._loss += loss
        is_first_fault = ~(loss.isfinite() & norm.isfinite()) & self._faulty_step.isinf()
        self._faulty_step.masked_fill_(is_first_fault, step)
        self._faulty_loss = loss.div(questions).where(is_first_fault, self._faulty_loss)
        self._state.questions += questions
        self._questions += questions

    def settle(self) -> tuple[int, float] | None:
        """Bring the run's state up to date; return the first step whose loss or gradients were not finite, and that loss."""
        self._state.loss = self._processes.sum(self._loss)
        step = float(self._faulty_step)
        if not self._processes.any(math.isfinite(step)):
            return None
        return int(step) if math.isfinite(step) else self._state.step - 1, float(self._faulty_loss)

    def point(self, step: int, total: float) -> dict[str, object]:
        """The point of the curve, after :meth:`settle`."""
        state, seconds = self._state, time.perf_counter() - self._begin
        return {"step": step, "of": int(total), "loss": state.loss / state.questions, "examples_per_second": self._questions / seconds}
