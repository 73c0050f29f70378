"""Fuzzes every reader for a while: ``python -m tests.fuzz SECONDS [TARGET ...]``, as ``make fuzz`` does.

Readers in C++ are compiled by clang with libFuzzer and sanitizers, those in Python run under atheris. Both look for
input that reaches code which no input before it did. What they find interesting stays in ``build/fuzz/TARGET`` for the
next call. What breaks a reader is kept in ``build/fuzz`` and is an error of the call; it belongs to the corpus once the
reader is mended.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
BUILD = ROOT / "build" / "fuzz"

FLAGS = ["-std=c++20", "-O1", "-g", "-march=native", "-fopenmp-simd", "-Icpp", "-pthread", "-fno-sanitize-recover=all"]
NATIVE = ["svmlight", "text", "vocabulary"]
PYTHON = ["conll", "raw_text", "liblinear", "libsvm", "model", "dataset", "checkpoint"]


def clang() -> str:
    """A compiler that has libFuzzer."""
    names = ["clang++", *(f"clang++-{version}" for version in range(30, 13, -1))]
    for name in filter(None, [os.environ.get("CLANG"), *names]):
        if path := shutil.which(name):
            return path
    raise SystemExit(
        "make fuzz needs clang 14 or later with libFuzzer; on Debian: apt install clang-16 libclang-rt-16-dev. "
        "Set CLANG to its path where it has another name"
    )


def compiled(target: str, sanitizers: str, guided: bool = True) -> Path:
    """The program of a target; `guided` by coverage or to replay, as counters race with threads."""
    program, name = BUILD / f"{target}.{sanitizers[:7]}", BUILD / f"{target}.o"
    flags = [clang(), *FLAGS, f"-fsanitize={sanitizers}"]
    compiled = [*flags, *(["-fsanitize=fuzzer-no-link"] if guided else []), "-c", f"cpp/fuzz/{target}.cpp", "-o", name]
    subprocess.run(compiled, cwd=ROOT, check=True)
    subprocess.run([*flags, "-fsanitize=fuzzer", name, "-o", program], cwd=ROOT, check=True)
    return program


def run(label: str, line: list[Any], target: str, *options: str) -> tuple[bool, str]:
    """Whether nothing broke, and a row of the table."""
    found, log = BUILD / target, BUILD / f"{label}.log"
    found.mkdir(parents=True, exist_ok=True)
    line += [
        *options,
        "-timeout=20",
        "-rss_limit_mb=3000",
        "-print_final_stats=1",
        f"-artifact_prefix={BUILD}/{label}-",
    ]
    with log.open("w") as file:
        code = subprocess.run([*line, found, CORPUS / target], cwd=ROOT, stdout=file, stderr=file).returncode
    told = log.read_text(errors="replace")
    if code:
        print(told[-4000:], flush=True)
    numbers = {
        "executions": re.findall(r"number_of_executed_units: (\d+)", told),
        "reached": re.findall(r"cov: (\d+)", told),
        "all": re.findall(r"\((\d+) inline 8-bit counters\)", told),
    }
    executions, reached, total = (int(found[-1]) if found else 0 for found in numbers.values())
    edges = f"{reached:,} of {total:,}" if total else f"{reached:,}" if reached else ""
    row = f"| {label} | {executions:,} | {edges} | {'something' if code else 'nothing'} |"
    print(row, flush=True)
    return code == 0, row


def fuzz(target: str, seconds: int) -> list[tuple[bool, str]]:
    BUILD.mkdir(parents=True, exist_ok=True)
    if target in PYTHON:
        line = [sys.executable, "-m", "tests.fuzz.guided", target, str(seconds)]
        return [run(target, line, target, "-max_len=8192")]
    options = [f"-max_total_time={seconds}", "-max_len=600"]
    results = [run(target, [compiled(target, "address,undefined")], target, *options)]
    if target == "svmlight":
        results += [run("svmlight, threads", [compiled(target, "thread", guided=False)], target, "-runs=0")]
    return results


def main(seconds: int, targets: list[str]) -> int:
    results = [result for target in targets or [*NATIVE, *PYTHON] for result in fuzz(target, seconds)]
    print(
        "",
        "| reader | executions | edges reached | broke |",
        "|---|---|---|---|",
        *(row for _, row in results),
        sep="\n",
    )
    return int(not all(well for well, _ in results))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
