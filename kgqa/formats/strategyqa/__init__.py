"""StrategyQA: yes-or-no questions, whose evidence is in a file of its own."""
