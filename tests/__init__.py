"""Tests state properties; a package, so that files of one name may live in several folders."""

from hypothesis import settings

# The first example compiles kernels, which takes as long as it takes.
settings.register_profile("kgqa", deadline=None)
settings.load_profile("kgqa")
