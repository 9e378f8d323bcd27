"""Readers on a pretrained encoder."""
