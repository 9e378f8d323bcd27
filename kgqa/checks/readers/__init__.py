"""Checks with trained readers: scores with partial input (Trivedi et al. 2020; 2022, section 7.2)."""
