"""Datasets in the Hugging Face hub's form, in a folder or on the hub."""
