"""How long random tests are."""

from __future__ import annotations

from hypothesis import settings

THOROUGH = 100
"""Examples of a property with ``--thorough``."""
QUICK = 15
"""Examples of a property without."""


def example_count(thorough: int) -> int:
    """How many examples of a property that takes ``thorough`` of them with ``--thorough``."""
    return max(1, thorough * settings().max_examples // THOROUGH)
