"""Conclusions from figures of readers, and their limits, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kgqa.checks.findings import MARGIN
from kgqa.checks.readers.figures import WIDE, Figure
from kgqa.checks.readers.names import FULL_READER, TRANSFORMED_WHOLE

AFTER = "dire-sufficiency"


def conclusions(figures: Sequence[Figure], *, seeds: int, connects: bool = True, asks: bool = False) -> Iterator[str]:
    """One thought a sentence, the general ones last.

    ``connects``: whether the full reader sees several paragraphs at once; ``asks``: whether it asks a model, which this set does not train.
    """
    failed = "cannot do" if asks else "has not learned"
    by_name = {figure.name: figure for figure in reversed(figures)}
    full_reader = by_name[FULL_READER]
    has_learned = _is_above_chance(full_reader)
    if not has_learned:
        yield (
            f"The full reader ({percent(full_reader.value)}, interval {_interval(full_reader)}) is not clearly better than a random one "
            f"({percent(full_reader.chance)}): it {failed} the task{'' if asks else ' from so few questions'}, and that a reader which is "
            "kept from something is no better says nothing about the set. Give "
            f"{'another model, or examples (shots)' if asks else 'more questions, a larger encoder or longer training'}."
        )
    if not connects:
        yield (
            "The encoder takes one paragraph at a time, so the full reader cannot connect two of them in one pass: that 1-Para is as good "
            "says nothing about the set, and sufficiency, for which paragraphs have to be seen together, may not be learned. Take an "
            "encoder that reads more than 1,024 tokens, or give it positions = 2048 in the settings of the readers."
        )
    is_transform_unlearned = _undone(by_name)
    for figure in figures:
        if figure.measure is not None:
            has_learned_this = has_learned and not (is_transform_unlearned and figure.name == AFTER)
            yield _about(figure, full_reader, failed="" if has_learned_this else failed)
    yield from _after(by_name, failed=failed if is_transform_unlearned else "")
    imprecise = [figure for figure in figures if figure.half > WIDE]
    if imprecise:
        widest = max(imprecise, key=lambda figure: figure.half)
        yield (
            f"{len(imprecise)} of the {len(figures)} intervals {'is' if len(imprecise) == 1 else 'are'} wider than "
            f"±{100 * WIDE:.0f} points, that of {widest.name} ±{100 * widest.half:.0f}, as {widest.questions:,} questions of "
            f"{widest.groups:,} groups were judged: smaller "
            "differences between figures cannot be told from chance. Four times as many groups halve an interval."
        )
    if seeds == 1:
        yield (
            f"There is one reader of each kind: how much {'other answers of its model' if asks else 'another draw of its weights'} would "
            "change a figure is not known, and no interval has it."
        )
    yield "A figure is what this reader reaches, not what any could: a stronger one may find a shortcut where this one found none."


def _about(figure: Figure, full_reader: Figure, *, failed: str) -> str:
    """Conclusion about one figure. ``failed``: that the full reader did not do the task, in words; empty if it did."""
    start = f"{figure.name}: {percent(figure.value)} (interval {_interval(figure)}), a random reader {percent(figure.chance)}"
    if _is_above_chance(figure):
        comparison = (
            f", the full reader {percent(full_reader.value)}" if figure.name in {"question-only", "context-only", "one-paragraph"} else ""
        )
        return f"{start}{comparison}: at least {percent(figure.low)} of the answer score can be had this way."
    if failed:
        return f"{start}: nothing can be concluded, as the full reader {failed} the task either."
    if figure.high > figure.chance + 2 * MARGIN:
        return f"{start}: a shortcut was not shown, and one of up to {percent(figure.high)} is not excluded."
    return f"{start}: this reader finds no shortcut here."


def _undone(by_name: Mapping[str, Figure]) -> bool:
    """Whether the full reader, shown all supporting facts, does the transformed task no better than chance does."""
    figure = by_name.get(TRANSFORMED_WHOLE)
    return figure is not None and not _is_above_chance(figure)


def _after(by_name: Mapping[str, Figure], *, failed: str) -> Iterator[str]:
    """Conclusion about the sufficiency transform; ``failed`` as for :func:`_about`, on the transformed task."""
    before, after = by_name.get("dire"), by_name.get(AFTER)
    if before is None or after is None:
        return
    change = f"The sufficiency transform takes the DiRe score from {percent(before.value)} to {percent(after.value)}"
    if not _is_above_chance(before):
        yield f"{change}; as the first is no better than a random reader's, there was nothing for it to take away."
    elif failed:
        yield (
            f"{change}; but a reader that is shown all facts of the transformed questions reaches "
            f"{percent(by_name[TRANSFORMED_WHOLE].value)}: it {failed} that task, so whether the transform leaves less cannot be said."
        )
    elif after.high < before.low:
        yield f"{change}; the intervals do not meet, so it leaves clearly less to be cheated."
    else:
        yield f"{change}; the intervals ({_interval(before)}, {_interval(after)}) meet, so that whether it leaves less cannot be said."


def _is_above_chance(figure: Figure) -> bool:
    return figure.low > figure.chance + MARGIN


def _interval(figure: Figure) -> str:
    return f"{percent(figure.low)} to {percent(figure.high)}"


def percent(share: float) -> str:
    """A share as a percentage with one decimal, ``34.5%``."""
    return f"{100 * share:.1f}%"
