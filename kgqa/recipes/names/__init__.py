"""What several recipes ask of a name: its kind, whether a text states it, and which others could stand in its place."""
