"""Human review of samples: the draw, the reading page's content, the verdicts, their table, and the figures."""
