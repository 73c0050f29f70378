"""``python -m pegasos`` is the command ``pegasos``."""

from pegasos.cli import main

if __name__ == "__main__":
    main()
