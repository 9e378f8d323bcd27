"""The steps of a chain become one question (step S7): each composer in a file, and the checks that all of them must pass."""
