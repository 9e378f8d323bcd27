"""The report of an audit: a page with plots, and its machine-readable twin."""
