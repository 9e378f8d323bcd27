"""Datasets in the form of the Hugging Face hub, in a folder or on the hub."""
