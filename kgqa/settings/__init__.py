"""Settings, one file per concern. Each model validates itself; unknown keys are errors."""
