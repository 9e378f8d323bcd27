"""``python -m kgqa`` is the command ``kgqa``."""

from kgqa.cli import main

if __name__ == "__main__":
    main()
