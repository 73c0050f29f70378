"""``python -m pegasos`` is the command ``pegasos``; ``python -m pegasos SCRIPT.py`` runs a script of scikit-learn's
machines with ours in their place."""

import os
import sys
from types import ModuleType, TracebackType


def main() -> None:
    """Run the command, or a script."""
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        _run_script(sys.argv[1])
        return
    from pegasos.cli import main as command

    command()


def _run_script(path: str) -> None:
    """Run a script as Python would, after `patch_sklearn`."""
    whole = os.path.abspath(path)
    if not os.path.isfile(path):
        sys.exit(f"python -m pegasos: there is no script {path}")
    from pegasos.exchange.patch import patch_sklearn

    patch_sklearn()
    del sys.argv[0]  # the script's path stays, as it was given
    sys.path[0] = os.path.dirname(whole)
    script = ModuleType("__main__")
    script.__file__ = whole
    sys.modules["__main__"] = script
    sys.excepthook = _show
    with open(path, "rb") as file:
        code = compile(file.read(), whole, "exec")
    exec(code, script.__dict__)


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error without what called the script."""
    own = trace
    while own is not None and own.tb_frame.f_globals is not sys.modules["__main__"].__dict__:
        own = own.tb_next
    sys.__excepthook__(kind, error.with_traceback(own), own)


if __name__ == "__main__":
    main()
