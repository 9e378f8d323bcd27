"""MuSiQue (Trivedi et al. 2022): multi-hop questions composed from single-hop ones, by steps S1 to S8 of the paper's section 5."""
