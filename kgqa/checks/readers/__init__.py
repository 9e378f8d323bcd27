"""What only a trained reader can tell of a set: how far one gets that is kept from reasoning (Trivedi et al. 2020; 2022, section 7.2)."""
