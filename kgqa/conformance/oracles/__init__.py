"""What each named query must answer, in plain Python."""
