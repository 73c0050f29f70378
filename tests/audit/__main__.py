"""The audit on the command line; see the package."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy: matrices are small, and processes share the cores
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import time
from pathlib import Path

from . import oracle
from .cases import KINDS, run_case
from .evaluation import IS_WIDE
from .report import Report
from .run import run


def run_one(seed, number, kind, verbose):
    """One case; all that it claims, if so wanted."""
    case, report = run_case(seed, number, kind), Report(seed, only=kind)
    report.add(case)
    if verbose:
        print(
            f"{case.kind}: {case.data.n} rows, offset {case.data.offset:g}, scale {case.data.scale:g}", *case.data.notes
        )
        for claim in case.claims:
            print(f"  {claim.what}")
            if hasattr(claim, "certificate"):
                found, value = claim.certificate, claim.objective
                told = "not known" if value is None else f"{value.value} +- {value.error:.1e}"
                print(f"    primal {found.primal!r}, objective {told}")
                print(f"    dual {found.dual!r}, optimum at most {claim.problem.best}, gap {found.gap:.2e}")
            else:
                print(f"    bound {claim.value!r}, optimum at most {sum(problem.best for problem in claim.problems)}")
    return report


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description="Audit the certificates of random fits.")
    parser.add_argument("--certificates", type=int, default=50_000, help="how many, at least")
    parser.add_argument("--seed", type=int, default=1, help="of all cases")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kind", choices=list(KINDS), help="cases of this kind alone")
    parser.add_argument("--case", type=int, help="run the case of this number alone")
    parser.add_argument("--verbose", action="store_true", help="with --case, tell all that it claims")
    parser.add_argument("--json", type=Path, help="write the report to this file too")
    given = parser.parse_args()
    if not IS_WIDE:
        sys.exit("long double is no wider than double on this machine, so that nothing can be checked")
    if oracle.clarabel is None:
        print(f"without oracle: {oracle.MISSING}", file=sys.stderr)

    started, shown = time.perf_counter(), [0.0]

    def tell(report):
        now = time.perf_counter() - started
        if now - shown[0] > 2:
            shown[0] = now
            line = f"{report.certificates} of {given.certificates} certificates, {report.false} false, {now:.0f} s"
            print(line, end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)

    if given.case is not None:
        report = run_one(given.seed, given.case, given.kind, given.verbose)
    else:
        report = run(given.seed, given.certificates, given.processes, given.kind, tell)
    print(report.tell())
    print(f"\n{time.perf_counter() - started:.0f} s")
    if given.json:
        given.json.write_text(json.dumps(report.to_dict(), indent=1))
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
