"""StrategyQA: yes-or-no questions with evidence in a separate file."""
