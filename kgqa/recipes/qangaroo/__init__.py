"""WikiHop and MedHop (Welbl, Stenetorp and Riedel 2018): questions, candidates, support documents, and what is done against shortcuts."""
