"""Collection by people: projects, tasks, the journal of their answers, and the figures that are computed from it."""
