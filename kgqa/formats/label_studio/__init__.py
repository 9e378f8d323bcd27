"""Label Studio: tasks, what people marked in them, and the labelling interface."""
