"""Runs the parts of stages on a Ray cluster (docs/cluster.md). Only :mod:`kgqa.cluster.ray_engine` imports Ray."""
