"""JSON files of records: streamed, validated and written."""
