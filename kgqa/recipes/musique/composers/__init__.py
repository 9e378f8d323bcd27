"""Step S7 (Trivedi et al. 2022): a file for each composer, and the checks that all of them must pass."""
