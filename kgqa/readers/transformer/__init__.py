"""Readers that stand on a pretrained encoder."""
