"""How records are divided so that splits share nothing."""
