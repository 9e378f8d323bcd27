"""Label Studio: tasks, annotations, and the labelling interface."""
