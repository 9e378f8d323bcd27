"""What the command line and ``import kgqa`` share: a module for each command, called as it is, with its function and what that returns."""
