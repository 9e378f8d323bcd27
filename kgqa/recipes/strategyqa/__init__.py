"""The recipe of StrategyQA (Geva et al. 2021) from a graph: implicit yes/no questions composed from facts about two entities."""
