"""Fuzzes a reader in Python, guided by coverage: ``python -m tests.fuzz.guided FORMAT SECONDS OPTION ...``.

Options are libFuzzer's, which atheris has within; the last two are folders of files to begin with.
"""

import sys
import tempfile
import time
from pathlib import Path
from random import Random


def main(name: str, seconds: int, options: list[str]) -> None:
    try:
        import atheris  # not needed for the tests
    except ImportError:
        print("atheris is not there for this Python: files are changed by lot, without a look at what they reach")
        by_lot(name, seconds, [path for folder in options[-2:] for path in sorted(Path(folder).iterdir())])
        return
    with atheris.instrument_imports(include=["pegasos"]):
        from tests.fuzz.formats import outcome
    from tests.fuzz.mutations import mutated

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        rng = Random(seed)
        return mutated(name, data, rng)[:most] if rng.random() < 0.7 else atheris.Mutate(data, most)

    with tempfile.TemporaryDirectory() as folder:

        def read(data: bytes) -> None:
            outcome(name, data, Path(folder))

        atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *options], read, custom_mutator=mutate)
        atheris.Fuzz()


def by_lot(name: str, seconds: int, seeds: list[Path]) -> None:
    from tests.fuzz.formats import outcome
    from tests.fuzz.mutations import mutated

    rng, end, count = Random(seconds), time.monotonic() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            data = mutated(name, rng.choice(seeds).read_bytes(), rng)
            try:
                outcome(name, data, Path(folder))
            except BaseException:
                Path(f"build/fuzz/{name}-crash").write_bytes(data)
                raise
            count += 1
    print(f"number_of_executed_units: {count}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
