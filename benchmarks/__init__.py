"""What the documentation claims about speed, measured: ``python -m benchmarks`` runs all and writes docs/benchmarks.md."""
