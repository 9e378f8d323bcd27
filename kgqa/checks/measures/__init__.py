"""Measures of the checks: words and mentions of a text, shapes of answers, and guesses from one feature."""
