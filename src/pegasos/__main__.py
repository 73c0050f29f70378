"""``python -m pegasos`` is the command ``pegasos``; ``python -m pegasos SCRIPT.py`` runs a script of scikit-learn's
machines with ours in their place."""

import os
import sys


def main() -> None:
    """Run the command, or a script."""
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        _run_script(sys.argv[1])
        return
    from pegasos.cli import main as command

    command()


def _run_script(path: str) -> None:
    """Run a script as Python would, after `patch_sklearn`."""
    import runpy

    if not os.path.isfile(path):
        sys.exit(f"python -m pegasos: there is no script {path}")
    from pegasos.exchange.patch import patch_sklearn

    patch_sklearn()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    runpy.run_path(os.path.abspath(path), run_name="__main__")


if __name__ == "__main__":
    main()
