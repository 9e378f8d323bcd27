"""Numbers in environment variables."""

from __future__ import annotations

import math
import os

from kgqa.errors import SettingsError, shortened


def number(variable: str, default: float, *, least: float, most: float, what: str = "a number") -> float:
    """The number in an environment variable, by default ``default``. Raises SettingsError unless it is from ``least`` to ``most``.

    ``what`` is the number, for the message.
    """
    text = os.environ.get(variable, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = math.nan
    if not least <= value <= most:
        raise SettingsError(
            f"{variable} is {shortened(text)!r}; set it to {what} from {least:g} to {most:,g}, or unset it for {default:g}."
        )
    return value
