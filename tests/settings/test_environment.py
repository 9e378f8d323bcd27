"""Numbers in environment variables."""

from __future__ import annotations

import pytest

from kgqa.errors import SettingsError
from kgqa.settings.environment import number

VARIABLE = "KGQA_TEST_NUMBER"


@pytest.mark.parametrize(("text", "value"), [("", 3.0), ("1", 1.0), ("0.5", 0.5), (" 7 ", 7.0), ("1e1", 10.0)])
def test_a_number(text: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    assert number(VARIABLE, 3.0, least=0.5, most=10) == value
    monkeypatch.delenv(VARIABLE)
    assert number(VARIABLE, 3.0, least=0.5, most=10) == 3.0


@pytest.mark.parametrize("text", ["nonsense", "-1", "0.4", "10.1", "nan", "inf", "1_0_0", "0x1", "9" * 5000])
def test_what_is_no_number_in_its_range(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(SettingsError) as error:
        number(VARIABLE, 3.0, least=0.5, most=10, what="a number of seconds")
    assert str(error.value).startswith(f"{VARIABLE} is '{text[:20]}")
    assert str(error.value).endswith("; set it to a number of seconds from 0.5 to 10, or unset it for 3.")
