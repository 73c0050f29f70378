"""One side of `compare.py`: a process that imports the pegasos it is told to and times fits, one line of JSON each.

It reads requests from standard input: {"data": file, "estimator": name, "parameters": {...}} loads a case and fits once
to warm up; {"fit": true} fits and tells the time and the certificate. A reply that has "error" says why it could not.
"""

import contextlib
import gc
import io
import json
import os
import pickle
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import pegasos
from pegasos import cli
from pegasos.io import read_svmlight

#: What is told of a certificate; older commits do not have all of it.
FIELDS = ("primal", "dual", "gap", "converged", "reason", "n_iter", "seconds", "rounding")


class Reader:
    """Reads text as examples."""

    def __init__(self, **parameters: Any) -> None:
        """What fits take, a seed and threads, is nothing to it."""

    def fit(self, text: bytes, _: None) -> None:
        read_svmlight(io.BytesIO(text))


class Stream(Reader):
    """Learns from text in one pass, by the command."""

    def fit(self, text: bytes, _: None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder, "lines.txt")
            data.write_bytes(text)
            arguments = ["pegasos", "train", "--one-pass", "--hash-bits", "18", "--quiet", str(data), f"{data}.model"]
            with mock.patch.object(sys, "argv", arguments), contextlib.suppress(SystemExit):
                cli.main()
            if not Path(f"{data}.model").exists():
                raise RuntimeError("no model was written")


#: What is timed beside fits of estimators.
OTHERS = {"reader": Reader, "stream": Stream}


class Worker:
    """The case at hand."""

    def load(self, data: str, estimator: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self.X, self.y = pickle.loads(Path(data).read_bytes())
        self.make = OTHERS.get(estimator) or getattr(pegasos, estimator)
        self.parameters = parameters
        return self.fit()

    def fit(self) -> dict[str, Any]:
        model = self.make(**self.parameters)
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(self.X, self.y)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        found = getattr(model, "certificate_", None)
        certificate = {name: plain(getattr(found, name, None)) for name in FIELDS}
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
