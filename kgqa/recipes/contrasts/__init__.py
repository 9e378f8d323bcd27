"""Transforms of finished questions: DiRe's probes and sufficiency, false paragraphs, unanswerable twins."""
