"""Conditions that fail an audit, as ``leakage>0``: a check or a family, a comparison, a share."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kgqa.checks.check import Check
from kgqa.checks.findings import FAMILIES, Finding
from kgqa.checks.readers.names import MEASURES
from kgqa.errors import SettingsError, suggestion

COMPARISONS: dict[str, Callable[[float, float], bool]] = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
"""The longer ones first, as the pattern below tries them."""
_FORM = re.compile(rf"\s*([A-Za-z][\w-]*)\s*({'|'.join(COMPARISONS)})\s*(\d+(?:\.\d*)?|\.\d+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One parsed ``--fail-on``: a check or family, a comparison and a number."""

    name: str
    """Name of a check, or of a family, whose worst check counts."""
    comparison: str
    number: float

    def __str__(self) -> str:
        """As one writes it."""
        return f"{self.name}{self.comparison}{self.number:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Whether a condition of ``--fail-on`` holds, and the figure it was compared with."""

    condition: str
    check: str
    """The check that decided."""
    figure: float | None
    """None where readers were to measure it and could not."""
    holds: bool
    """Whether the audit fails by it; so it does where it cannot be decided."""
    reason: str = ""
    """Why the figure could not be measured; empty if it could."""


ALWAYS_THE_SAME = frozenset({(">", 1.0), ("<", 0.0), (">=", 0.0), ("<=", 1.0)})
"""Conditions that hold of every share or of none."""


def parse(text: str, checks: Iterable[type[Check]], *, readers: str | None = None) -> Condition:
    """The condition in ``text``; SettingsError for one that is none, names nothing, or what this level of ``readers`` lacks."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise SettingsError(
            f"--fail-on {text!r}: this is not a condition; write a name, one of > >= < <=, and a number, such as leakage>0."
        )
    name, comparison, number = match[1], match[2], float(match[3])
    measures = {measure.name: measure for measure in MEASURES}
    names = (*FAMILIES, *(check.name for check in checks), *measures)
    if name not in names:
        raise SettingsError(f"--fail-on {text!r}: there is no check or family {name!r}; {suggestion(name, names)}")
    level = "minimal" if name == "reader" else measures[name].level if name in measures else None
    if level and readers not in ("full", level):
        raise SettingsError(f"--fail-on {text!r}: trained readers measure this; add --readers {level}, or drop the condition.")
    if number > 1:
        raise SettingsError(f"--fail-on {text!r}: figures are shares between 0 and 1; write 0.4 for 40%.")
    if (comparison, number) in ALWAYS_THE_SAME:
        raise SettingsError(f"--fail-on {text!r}: a share is always between 0 and 1, so this decides nothing; choose another number.")
    return Condition(name=name, comparison=comparison, number=number)


def unmeasured(condition: Condition, missing: Mapping[str, str]) -> str | None:
    """The measure that the condition names, itself or by their family, and that has no figure for a reason in ``missing``."""
    return next((name for name in missing if condition.name in {name, "reader"}), None)


def decide(condition: Condition, findings: Sequence[Finding], *, missing: Mapping[str, str] = MappingProxyType({})) -> Outcome:
    """Whether the condition holds. Raises SettingsError if no check that it names applies to the set, so that no gate passes unnoticed.

    ``missing``: measure → why its readers, which have done what they could, gave it no figure.
    """
    measure = unmeasured(condition, missing)
    if measure is not None:
        return Outcome(condition=str(condition), check=measure, figure=None, holds=True, reason=missing[measure].rstrip("."))
    matches = [finding for finding in findings if condition.name in {finding.check, finding.family}]
    figures = [(finding.figure, finding.check) for finding in matches if finding.figure is not None]
    if not figures:
        reason = matches[0].reason.rstrip(".")
        raise SettingsError(f"--fail-on {condition}: this cannot be decided on this set ({reason}); drop the condition, or fix the set.")
    figure, check = max(figures, key=lambda pair: pair[0])
    return Outcome(condition=str(condition), check=check, figure=figure, holds=COMPARISONS[condition.comparison](figure, condition.number))
