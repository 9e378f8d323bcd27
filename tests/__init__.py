"""Tests state properties; a package, so that files of one name may live in several folders."""

from hypothesis import HealthCheck, settings

# The first example compiles kernels, which takes as long as it takes; a busy machine draws slowly, which is no fault either.
settings.register_profile("kgqa", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kgqa")
