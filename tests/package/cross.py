"""Compiles the core for other systems with the compiler of the package ziglang; runs nothing.

``python -m tests.package.cross`` does so for every target below. Names of targets choose among them.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
FLAGS = ["-std=c++20", "-O0", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-fPIC", "-Icpp"]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]

#: Target, its processor ("" is the oldest one), and whether the bindings are compiled too.
TARGETS = {
    "x86_64-linux-gnu": ("x86_64_v2", True),
    "x86_64-linux-musl": ("x86_64_v4", True),
    "aarch64-linux-gnu": ("", True),
    "aarch64-macos": ("", True),
    "x86_64-windows-gnu": ("x86_64_v3", False),
}


def sources(bindings: bool) -> list[Path]:
    """Those of the core, and of the bindings if wanted."""
    found = sorted((ROOT / "cpp").glob("*/**/*.cpp"))
    found = [path for path in found if "fuzz" not in path.parts and (bindings or "bindings" not in path.parts)]
    return [*found, ROOT / "cpp" / "probe.cpp"]


def command(target: str, source: Path, out: Path) -> list[str]:
    """What compiles one file."""
    processor, _ = TARGETS[target]
    line = [sys.executable, "-m", "ziglang", "c++", "-target", target, *FLAGS, *WARNINGS]
    line += [f"-mcpu={processor}"] if processor else []
    if "bindings" in source.parts:
        # Python's headers are those of this machine. What differs elsewhere, sizes of types apart, is nothing the
        # bindings use.
        import nanobind

        include = sysconfig.get_path("include")
        line += ["-isystem", nanobind.include_dir(), "-isystem", include, "-DPEGASOS_MODULE=plain"]
    return [*line, "-c", str(source), "-o", str(out)]


def compile_for(target: str, processes: int) -> list[str]:
    """Compile everything; what the compiler had to say, file by file."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as pool:

        def run(number_and_source: tuple[int, Path]) -> str:
            number, source = number_and_source
            line = command(target, source, Path(folder) / f"{number}.o")
            done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
            return done.stdout + done.stderr if done.returncode else ""

        return [told for told in pool.map(run, enumerate(sources(TARGETS[target][1]))) if told]


def main() -> None:
    """Compile for the targets named, or for all."""
    failures = 0
    for target in sys.argv[1:] or TARGETS:
        told = compile_for(target, min(2, os.cpu_count() or 1))
        failures += len(told)
        print(f"{target}: {'compiles' if not told else f'{len(told)} files do not compile'}", flush=True)
        print(*told, sep="\n", end="", flush=True)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
