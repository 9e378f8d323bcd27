"""Commands as functions, one module each, shared by the command line and ``import kgqa``."""
