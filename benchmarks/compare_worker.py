"""One side of `compare.py`: a process that imports the pegasos it is told to and times fits, one line of JSON each.

It reads requests from standard input: {"data": file, "estimator": name, "parameters": {...}} loads a case and fits once
to warm up; {"fit": true} fits and tells the time and the certificate. A reply that has "error" says why it could not.
"""

import gc
import json
import os
import pickle
import sys
import time
import warnings
from pathlib import Path
from typing import Any, TextIO

import pegasos

#: What is told of a certificate; older commits do not have all of it.
FIELDS = ("primal", "dual", "gap", "converged", "reason", "n_iter", "seconds", "rounding")


class Worker:
    """The case at hand."""

    def load(self, data: str, estimator: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.X, self.y = pickle.loads(Path(data).read_bytes())
        self.make = getattr(pegasos, estimator)
        self.parameters = parameters
        return self.fit()

    def fit(self) -> dict[str, Any]:
        model = self.make(**self.parameters)
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(self.X, self.y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        certificate = {name: plain(getattr(model.certificate_, name, None)) for name in FIELDS}
        return {"wall": wall, "cpu": cpu, "certificate": certificate}


def plain(value: Any) -> Any:
    """What JSON can say."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return float(value)


def main(replies: TextIO) -> None:
    warnings.simplefilter("ignore")  # how a fit ended is in the certificate
    worker = Worker()
    print(json.dumps({"package": pegasos.__file__}), file=replies, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = worker.fit() if "fit" in request else worker.load(**request)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a fit prints must not come between the replies
    main(answers)
