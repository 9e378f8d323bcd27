"""A pattern's program over the steps of a question, and the last step of its decomposition in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgqa.recipes.iirc.wording import listed
from kgqa.settings.iirc import PatternSettings

OPERATIONS = {
    "is": "Is {0} {value}?",
    "same": "Is {0} the same as {1}?",
    "shared": "What are {all} both?",
    "years": "How many full years lie between {0} and {1}?",
    "calendar_years": "What is the difference of the years {0} and {1}?",
    "difference": "What is the difference of {0} and {1}?",
    "total": "What is the sum of {all}?",
    "least": "Which of {things} has the least of {all}?",
    "most": "Which of {things} has the greatest of {all}?",
    "less": "Is {0} less than {1}?",
    "more": "Is {0} more than {1}?",
    "every_less": "Are {all} all less than {value}?",
    "calendar_range": "What is the difference of the first and the last year of {all}?",
    "range": "What is the difference of the least and the greatest of {all}?",
    "count": "How many of {all} are {value}?",
    "count_less": "How many of {all} are less than {value}?",
}
"""Operation → the last step of a decomposition."""
ON_DATES = {
    "least": "Which of {things} has the earliest of {all}?",
    "most": "Which of {things} has the latest of {all}?",
    "less": "Is {0} before {1}?",
    "more": "Is {0} after {1}?",
    "every_less": "Are {all} all before {value}?",
    "count_less": "How many of {all} are before {value}?",
}
"""The same, where the operands are dates and the words differ."""


def program_of(pattern: PatternSettings, values: Mapping[str, Mapping[str, Any]], roles: Sequence[str]) -> str:
    """The program; ``values``: step → typed answer, and ``roles``: for each operand the step that finds it (:class:`Asker`)."""
    steps = [f"#{name}" for name in values if name.isdigit() and name not in roles]
    every = ", ".join(steps)
    is_date = _is_date(values, steps)
    things = ", ".join(f"#{name}" if name.isdigit() else name for name in roles)
    value = ", value" if "value" in values else ""
    programs = {
        "ask": f"same({steps[0]})",
        "shared": f"same({steps[0]})",
        "is": f"equal({every}{value})",
        "same": f"equal({every})",
        "value": f"{'year' if is_date else 'number'}({every})",
        "difference": f"{('calendar_years' if pattern.calendar else 'years') if is_date else 'difference'}({every})",
        "total": f"total([{every}])",
        "least": f"least([{things}], [{every}])",
        "most": f"most([{things}], [{every}])",
        "less": f"less({every}{value})",
        "more": f"more({every}{value})",
        "range": f"{'calendar_range' if is_date else 'range'}([{every}])",
        "every": f"every_less([{every}]{value})",
        "count": f"{'count_less' if pattern.values else 'count_equal'}([{every}]{value})",
    }
    return programs[pattern.kind]


def operation(program: str, pattern: PatternSettings, values: Mapping[str, Mapping[str, Any]], roles: Sequence[str]) -> str:
    """The last step's question; empty where the step before it has the answer already."""
    name = program.partition("(")[0]
    if name in {"year", "number"} or (name == "same" and pattern.kind == "ask"):
        return ""
    steps = [f"#{step}" for step in values if step.isdigit() and step not in roles]
    key = {"same": "shared", "equal": pattern.kind, "count_equal": "count"}.get(name, name)
    things = [f"#{role}" if role.isdigit() else str(values[role]["text"]) for role in roles]
    text = str(values.get("value", {}).get("text", ""))
    words = ON_DATES.get(key, OPERATIONS[key]) if _is_date(values, steps) else OPERATIONS[key]
    return words.format(*steps, text, all=listed(steps), things=listed(things), value=text)


def _is_date(values: Mapping[str, Mapping[str, Any]], steps: Sequence[str]) -> bool:
    """Whether the operands are dates."""
    return "time" in values[steps[0][1:]]
