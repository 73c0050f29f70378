"""One fit with more and more threads, at equal tol, on sparse text.

``python benchmarks/threads.py``: 400,000 documents x 47,236 words, float32, for 1, 2, 4, 8, 16 threads, as far as there
are processors. A fit with more threads makes more epochs, as they work with copies of the weights that lag behind.
"""

import argparse
import functools
import os

from timing import alternate, print_machine, print_table

from pegasos import LinearSVC
from pegasos.datasets import make_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="small data, to see that it runs")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--C", nargs="+", type=float, default=[0.05, 1, 10])
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    jobs = [n for n in (1, 2, 4, 8, 16) if n <= max(processors, 2 if arguments.tiny else 1)]
    Cs = arguments.C[:1] if arguments.tiny else arguments.C
    X, y = make_text(*((2_000, 500) if arguments.tiny else (arguments.rows, 47_236)), random_state=0)

    print_machine()
    for C in Cs:
        epochs: dict[str, int] = {}

        def fit(n_jobs: int, C: float = C, epochs: dict[str, int] = epochs) -> float:
            model = LinearSVC(
                C=C, fit_intercept=False, tol=arguments.tol, max_iter=10**6, n_jobs=n_jobs, random_state=0
            ).fit(X, y)
            epochs[f"n_jobs={n_jobs}"] = model.n_iter_
            return model.certificate_.seconds

        contenders = {f"n_jobs={n}": functools.partial(fit, n) for n in jobs}
        print(f"\n{X.shape[0]:,} rows, C = {C:g}, tol = {arguments.tol:g}, {processors} processors")
        medians = alternate(contenders, 1 if arguments.tiny else arguments.repeats)
        print_table(medians, "n_jobs=1")
        for name, median in medians.items():
            print(f"{name}: speed-up {medians['n_jobs=1'] / median:.2f}, {epochs[name]} epochs")
    print_machine()


if __name__ == "__main__":
    main()
