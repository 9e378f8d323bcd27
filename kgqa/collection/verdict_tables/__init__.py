"""Tables of judgements that one annotator made: read, counted, compared, and put on the dataset card."""
