"""What can be set, one file per concern; each checks itself, and unknown keys are errors."""
