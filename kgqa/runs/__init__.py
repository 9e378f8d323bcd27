"""A run: its workspace and files, its stages and how they are performed, the funnel, the manifest and the card."""
