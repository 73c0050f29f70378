"""Runs tests on a core that watches itself: ``python -m tests.package.sanitize address`` or ``thread``.

``address`` looks for memory used wrongly and for undefined behaviour, ``thread`` for data that two threads use at once.
The core is compiled by g++ with the sanitizers, for the processor of this machine, into ``build/``. What else is given
goes to pytest, in place of the tests below. Python and the packages it loads are not watched.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SANITIZERS = {"address": "address,undefined", "thread": "thread"}
LIBRARIES = {"address": ["libasan.so", "libubsan.so", "libstdc++.so"], "thread": ["libtsan.so"]}

#: All that reaches the core; and of that, what uses threads.
TESTS = {
    "address": ["tests/base", "tests/io", "tests/kernel", "tests/linear", "tests/sequence"],
    "thread": [
        "tests/base/test_at_once.py",
        "tests/base/test_interrupt.py",
        "tests/base/test_threads.py",
        "tests/io/test_ahead.py",
        "tests/io/test_svmlight_fuzz.py",
        "tests/io/test_svmlight_reader.py",
        "tests/kernel/test_decisions.py",
        "tests/linear/test_multiclass.py",
        "tests/linear/test_out_of_core.py",
        "tests/linear/test_path.py",
        "tests/linear/test_scores.py",
        "tests/linear/test_shared.py",
    ],
}
#: Tests, as ``-k`` names them, that limit or measure memory, of which sanitizers need a lot; that are about roundings
#: of an optimised build; and one that is about the right moment.
LEFT_OUT = [
    "interrupting_signal_is_not_lost",
    "TestMachines",
    "test_the_same_optimum",
    "limits_of_the_address_space",
    "more_threads_than_the_system_has",
    "does_not_take_all_memory",
    "short_of_memory",
    "test_memory",
]


def build(kind: str, folder: Path) -> Path:
    """Compile the core; the folder that has the package with it."""
    import nanobind

    settings = {
        "CMAKE_CXX_COMPILER": "g++",
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS_DEBUG": "-O1 -g1",
        "PEGASOS_SANITIZE": SANITIZERS[kind],
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    tools = os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *defined], check=True, env=tools)
    subprocess.run(["cmake", "--build", folder, "--target", "modules"], check=True, env=tools)
    package = folder / "package" / "pegasos"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "pegasos", package)
    for module in folder.glob("*.so"):
        shutil.copy(module, package / "_core")
    return package.parent


def run(kind: str, tests: list[str]) -> int:
    """Build and run; 0 where all tests pass and the sanitizers have nothing to tell."""
    folder = ROOT / "build" / f"sanitize-{kind}"
    package = build(kind, folder)
    reports = folder / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    # Reports go to files, as tests swallow what the processes write that they start. Python itself leaks at its end.
    # Memory is asked for by malloc, not from Python's pools, in which nothing is watched.
    options = f"log_path={reports / 'report'}:detect_leaks=0:allocator_may_return_null=1:allow_user_segv_handler=0"
    options += f":suppressions={ROOT / 'tests' / 'package' / 'thread.supp'}" if kind == "thread" else ""
    libraries = [subprocess.check_output(["g++", f"-print-file-name={name}"], text=True) for name in LIBRARIES[kind]]
    environment = os.environ | {
        "LD_PRELOAD": " ".join(map(str.strip, libraries)),
        "PYTHONPATH": os.pathsep.join([str(package), str(ROOT)]),
        "PYTHONMALLOC": "malloc",
        **dict.fromkeys(["ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"], options),
    }
    left_out = ["-k", " and ".join(f"not {name}" for name in LEFT_OUT)]
    line = [sys.executable, "-m", "pytest", "-q", *left_out, *(tests or TESTS[kind])]
    code = subprocess.run(line, cwd=ROOT, env=environment).returncode
    for report in sorted(reports.iterdir()):
        print(report.read_text(encoding="utf-8", errors="replace")[:20_000], flush=True)
    found = len(list(reports.iterdir()))
    print(f"{kind}: {found} processes with reports", flush=True)
    return code or int(found > 0)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
