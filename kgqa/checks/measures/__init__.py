"""What checks measure by: words and mentions of a text, shapes of answers, and what can be guessed from one feature."""
