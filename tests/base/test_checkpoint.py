"""Fits that are killed and go on from a checkpoint end with the same bits as those that are not."""

import errno
import itertools
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from checkpoint_helpers import Killed, bits_of, fit_in_pieces, fit_under_fire, write_and_end
from linear_helpers import suited_loss
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from pegasos import SVC, SVR, Checkpoint, LinearSVC, LinearSVR, SequenceSVC, io, listen
from pegasos.base import checkpoint as module
from pegasos.base.checkpoint import Store, fingerprint, pack, read
from pegasos.io import atomic
from pegasos.io.atomic import open_atomic
from pegasos.solvers import OCAS, SMO, Pegasos

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 8))
Y = (X @ RANDOM.normal(size=8) + RANDOM.normal(size=300) > 0).astype(int)
CLASSES = np.digitize(X[:, 0] + 0.5 * RANDOM.normal(size=300), [-0.5, 0.5])
TARGETS = X @ RANDOM.normal(size=8) + RANDOM.normal(size=300)
WORDS = [[[f"w{k}", f"p{k % 3}"] for k in RANDOM.integers(12, size=7)] for _ in range(30)]
TAGS = [["ABC"[int(word[0][1:]) % 3] if RANDOM.random() < 0.8 else "A" for word in words] for words in WORDS]


def svc(**parameters):
    return LinearSVC(**{"random_state": 0, "max_iter": 15, "tol": 1e-9} | parameters)


def kernel(**parameters):
    return SVC(**{"random_state": 0, "max_iter": 15, "tol": 1e-9, "fit_intercept": False} | parameters)


CASES = {
    **{f"linear {name}": (svc(solver=name, loss=suited_loss(name)), X, Y) for name in LinearSVC.solvers},
    "sparse": (svc(solver="sdca"), sp.csr_matrix(X).astype(np.float32), Y),
    "free intercept": (svc(solver="sdca", intercept="free"), X, Y),
    "free intercept, pegasos": (svc(solver="pegasos", intercept="free"), X, Y),
    "suffix": (svc(solver=Pegasos(average="suffix")), X, Y),
    "cutting planes": (svc(solver=OCAS(line_search=False), max_iter=80), X, Y),
    "early stopping": (svc(early_stopping=True, solver="sgd-s"), X, Y),
    "one against the rest": (svc(solver="sdca"), X, CLASSES),
    "classes that share passes": (svc(solver="sdca", loss="log_loss"), X, CLASSES),
    "two threads": (svc(solver="sdca", n_jobs=2), X, CLASSES),
    **{f"joint {name}": (svc(multi_class="joint", solver=name), X, CLASSES) for name in ("sdca", "pegasos", "sgd-s")},
    "joint newton": (svc(multi_class="joint", solver="newton", loss="log_loss"), X, CLASSES),
    "regression": (LinearSVR(random_state=0, tol=1e-9, max_iter=15, solver="sdca"), X, TARGETS),
    **{
        f"kernel {name}": (kernel(solver=name, max_iter=2 if name in ("sbp", "simba") else 15), X, Y)
        for name in SVC.solvers
    },
    "kernel and intercept": (kernel(fit_intercept=True, solver=SMO(working_set=64)), X, Y),
    "kernel lasvm and intercept": (kernel(fit_intercept=True, solver="lasvm"), X, Y),
    "kernel simba and intercept": (kernel(fit_intercept=True, solver="simba", max_iter=2), X, Y),
    "kernel sbp and intercept": (kernel(fit_intercept=True, solver="sbp", max_iter=2), X, Y),
    "kernel, few rows kept": (kernel(cache_size=0.2, solver=SMO(working_set=64)), X, Y),
    "kernel classes": (SVC(random_state=0, tol=1e-6), X, CLASSES),
    "kernel early stopping": (kernel(solver="pegasos", early_stopping=True), X, Y),
    "kernel regression": (SVR(random_state=0, tol=1e-6), X, TARGETS),
    **{
        f"sequence {name}": (SequenceSVC(solver=name, random_state=0, tol=1e-6, max_iter=25), WORDS, TAGS)
        for name in SequenceSVC.solvers
    },
}
any_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@any_case
def test_a_fit_that_goes_on_ends_with_the_same_bits(case, tmp_path, monkeypatch):
    estimator, data, y = case
    whole = clone(estimator).fit(data, y)
    fitted, tries = fit_in_pieces(estimator, data, y, folder=tmp_path, monkeypatch=monkeypatch)
    assert np.array_equal(bits_of(fitted), bits_of(whole))
    assert tries > 1
    assert not os.listdir(tmp_path)  # the fit is over


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.parametrize(
    ("name", "kills"),
    [
        ("linear sdca", 50),
        ("linear pegasos", 10),
        ("one against the rest", 10),
        ("joint sdca", 10),
        ("kernel smo", 50),
        ("kernel sdca", 10),
        ("kernel classes", 10),
        ("sequence frank-wolfe", 50),
    ],
)
def test_killed_at_random(name, kills, tmp_path):
    """kill -9 at random moments; whatever is left of a fit, the next one ends with the same bits."""
    estimator, data, y = CASES[name]
    whole = bits_of(clone(estimator).fit(data, y))
    for bits in fit_under_fire(estimator, data, y, folder=tmp_path, kills=kills):
        assert np.array_equal(bits, whole)


class TestFolder:
    def test_damaged_files_are_refused(self, tmp_path):
        path = tmp_path / "0"
        whole = b"".join(pack(b"state", False, 1.5))
        path.write_bytes(whole)
        assert read(path) == ({"finished": False, "seconds": 1.5}, b"state")
        for k in range(len(whole)):
            path.write_bytes(whole[:k])
            with pytest.raises(ValueError, match="damaged checkpoint; delete it"):
                read(path)
            path.write_bytes(whole[:k] + bytes([whole[k] ^ 1]) + whole[k + 1 :])
            try:
                head, state = read(path)
            except ValueError:
                continue
            assert state == b"state"  # the time alone may differ, which is told and nothing else
            assert not head["finished"]

    def interrupted(self, folder, monkeypatch, **parameters):
        """A fit that leaves a checkpoint."""
        with monkeypatch.context() as patch:
            patch.setattr(Store, "save", write_and_end)
            with pytest.raises(Killed):
                svc(solver="sdca", checkpoint=Checkpoint(folder, every=0), **parameters).fit(X, Y)

    def test_resume(self, tmp_path, monkeypatch):
        def fit(resume):
            return svc(solver="sdca", checkpoint=Checkpoint(tmp_path, resume=resume)).fit(X, Y)

        with pytest.raises(ValueError, match="has no checkpoint of this fit"):
            fit(True)
        self.interrupted(tmp_path, monkeypatch)
        with pytest.raises(
            ValueError, match="has a checkpoint of this fit already; go on from it with resume=True, or delete"
        ):
            fit(False)
        assert np.array_equal(bits_of(fit(True)), bits_of(svc(solver="sdca").fit(X, Y)))

    def test_whose_they_are(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch, C=30.0, verbose=0, on_interrupt="keep")
        (path,) = tmp_path.glob("*/manifest.json")
        told = json.loads(path.read_text())
        assert told["estimator"] == "LinearSVC(C=30.0, max_iter=15, random_state=0, solver='sdca', tol=1e-09)"
        assert told["data"] == "300 x 8"
        with pytest.raises(ValueError, match="has no checkpoint of this fit") as error:
            svc(solver="sdca", checkpoint=Checkpoint(tmp_path, resume=True)).fit(X, Y)
        others = f"There are checkpoints of other fits: {told['estimator']} of 300 x 8 data, {told['began']}"
        assert str(error.value).endswith(others)

    def test_many_others(self, tmp_path):
        fits = [
            *({"estimator": f"SVC(C={k})\n\t" + 500 * "x", "began": f"2026-01-0{k}"} for k in range(1, 5)),
            {},
            [],
            5,
        ]
        for k, fit in enumerate(fits):
            (tmp_path / str(k)).mkdir()
            (tmp_path / str(k) / "manifest.json").write_text(json.dumps(fit))
        with pytest.raises(ValueError, match="has no checkpoint of this fit") as error:
            svc(checkpoint=Checkpoint(tmp_path, resume=True)).fit(X, Y)
        text = str(error.value)
        assert text.index("SVC(C=4)xxx") < text.index("SVC(C=3)xxx") < text.index("SVC(C=2)xxx")
        assert text.endswith("; 3 more")
        assert len(text) < 1500

    def test_manifests_that_do_not_say_whose_they_are(self, tmp_path, monkeypatch):
        """As of earlier versions."""
        self.interrupted(tmp_path, monkeypatch)
        (path,) = tmp_path.glob("*/manifest.json")
        manifest = json.loads(path.read_text())
        path.write_text(json.dumps({name: manifest[name] for name in ("seed", "choices", "checksum")}))
        with pytest.raises(ValueError, match="a fit of unknown name of"):
            svc(C=2.0, checkpoint=Checkpoint(tmp_path, resume=True)).fit(X, Y)
        fitted = svc(solver="sdca", checkpoint=Checkpoint(tmp_path, resume=True)).fit(X, Y)
        assert np.array_equal(bits_of(fitted), bits_of(svc(solver="sdca").fit(X, Y)))

    def test_a_state_of_another_run_is_refused(self, tmp_path, monkeypatch):
        """Whole by its checksum, and yet too short, too long, or with sizes that cannot be."""
        self.interrupted(tmp_path, monkeypatch)
        (path,) = (path for path in tmp_path.glob("*/*") if path.name != "manifest.json")
        state = read(path)[1]
        for other in (b"", state[:-1], state + b"0", b"\xff" * len(state), state[: len(state) // 2]):
            path.write_bytes(b"".join(pack(other, False, 1.0)))
            if other:
                with pytest.raises(ValueError, match=rf"^{path.parent}: the checkpoint does not belong to this run"):
                    svc(solver="sdca", checkpoint=tmp_path).fit(X, Y)

    @pytest.mark.parametrize(
        ("name", "change"),
        [
            ("manifest.json", lambda text: text.replace('"seed": ', '"seed": 1')),
            ("manifest.json", lambda text: "[" * 100_000),
            ("0", lambda text: text.replace('"finished": false', '"finished": true ')),
            ("0", lambda text: text.replace('"seconds": ', '"seconds": 1')),
            ("0", lambda text: text.replace("{", "[" * 900, 1)),
        ],
        ids=["seed", "depth", "finished", "seconds", "depth of a line"],
    )
    def test_all_of_a_file_has_a_checksum(self, tmp_path, monkeypatch, name, change):
        self.interrupted(tmp_path, monkeypatch)
        (path,) = tmp_path.glob(f"*/{name}")
        text = path.read_text(encoding="latin-1")
        path.write_text(change(text), encoding="latin-1", newline="")
        assert change(text) != text
        with pytest.raises(ValueError, match="a damaged checkpoint; delete"):
            svc(solver="sdca", checkpoint=tmp_path).fit(X, Y)

    def test_the_seed_is_kept(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch, random_state=None)
        (folder,) = tmp_path.iterdir()
        seed = json.loads((folder / "manifest.json").read_text())["seed"]
        fitted = svc(solver="sdca", random_state=None, checkpoint=tmp_path).fit(X, Y)
        monkeypatch.setattr(LinearSVC, "_seed", lambda self: seed)
        assert np.array_equal(bits_of(fitted), bits_of(svc(solver="sdca").fit(X, Y)))

    def test_seconds_go_on(self, tmp_path, monkeypatch):
        self.interrupted(tmp_path, monkeypatch)
        (folder,) = tmp_path.iterdir()
        (path,) = (path for path in folder.iterdir() if path.name != "manifest.json")
        path.write_bytes(b"".join(pack(read(path)[1], False, 1000.0)))
        assert 1000 < svc(solver="sdca", checkpoint=tmp_path).fit(X, Y).certificate_.seconds < 1100

    def test_a_fit_that_runs_out_of_time_leaves_its_checkpoint(self, tmp_path, ticks):
        short = svc(solver="sdca", checkpoint=Checkpoint(tmp_path, every=0), max_time=0.3).fit(X, Y)
        assert short.certificate_.reason == "max_time"
        assert len(os.listdir(tmp_path)) == 1
        whole = svc(solver="sdca", checkpoint=tmp_path).fit(X, Y)
        assert np.array_equal(bits_of(whole), bits_of(svc(solver="sdca").fit(X, Y)))

    @pytest.mark.filterwarnings("default::sklearn.exceptions.ConvergenceWarning")
    def test_time_that_had_gone_by_is_told(self, tmp_path, ticks):
        told = r"max_time was reached\. .* Of max_time 0\.\d+ s had gone by when the fit went on from its checkpoint\."
        clf = svc(solver="sdca", max_time=0.3)
        with pytest.warns(ConvergenceWarning, match=r"max_time was reached\. The objective"):
            clf.set_params(checkpoint=Checkpoint(tmp_path, every=0)).fit(X, Y)
        with pytest.warns(ConvergenceWarning, match=told):
            clf.set_params(max_time=0.4).fit(X, Y)
        with pytest.warns(ConvergenceWarning, match=r"max_time was reached\. The objective"):
            clf.set_params(checkpoint=None).fit(X, Y)

    def test_a_fit_that_a_listener_ends_leaves_its_checkpoint(self, tmp_path):
        with listen(lambda progress: progress.stop()):
            short = svc(solver="sdca", checkpoint=tmp_path).fit(X, Y)
        assert short.certificate_.reason == "callback"
        assert len(os.listdir(tmp_path)) == 1
        whole = svc(solver="sdca", checkpoint=Checkpoint(tmp_path, resume=True)).fit(X, Y)
        assert np.array_equal(bits_of(whole), bits_of(svc(solver="sdca").fit(X, Y)))

    def test_what_a_fit_rests_on(self):
        def of(**parameters):
            return fingerprint(svc(**parameters), (X, Y, None))

        assert of() == of(verbose=1, max_time=5.0, checkpoint="elsewhere", on_interrupt="keep")
        others = [
            of(C=2.0),
            of(loss="log_loss"),
            of(random_state=1),
            of(solver=Pegasos()),
            of(solver=Pegasos(average=False)),
        ]
        others += [
            fingerprint(svc(), data) for data in ((X + 0, Y, Y * 1.0), (X[:-1], Y, None), (sp.csr_matrix(X), Y, None))
        ]
        assert len({of(), *others}) == len(others) + 1

    def test_kept_and_cleared(self, tmp_path):
        settings = Checkpoint(tmp_path, keep=True)
        (tmp_path / "mine.txt").write_text("stays")
        first = svc(solver="sdca", checkpoint=settings).fit(X, Y)
        assert len(os.listdir(tmp_path)) == 2
        assert np.array_equal(bits_of(svc(solver="sdca", checkpoint=settings).fit(X, Y)), bits_of(first))
        settings.clear()
        assert os.listdir(tmp_path) == ["mine.txt"]

    def test_refusals(self, tmp_path):
        with pytest.raises(ValueError, match=r"checkpoint=5: must be the name of a folder, pegasos.Checkpoint"):
            svc(checkpoint=5).fit(X, Y)
        with pytest.raises(ValueError, match="checkpoint does not go with warm_start=True"):
            svc(checkpoint=tmp_path, warm_start=True).fit(X, Y)
        with pytest.raises(ValueError, match="every=-1"):
            svc(checkpoint=Checkpoint(tmp_path, every=-1)).fit(X, Y)
        for folder in ("", 5, None):
            with pytest.raises(ValueError, match="must be the name of a folder"):
                Checkpoint(folder)
        with pytest.raises(ValueError, match="must be the name of a folder"):
            svc(checkpoint="").fit(X, Y)
        (tmp_path / "file").write_text("no folder")
        with pytest.raises(OSError, match="no checkpoint can be made"):
            svc(checkpoint=tmp_path / "file").fit(X, Y)

    @pytest.mark.parametrize(("time", "seconds"), [("30s", 30), ("5m", 300), ("0", 0), (np.inf, np.inf)])
    def test_times_between_checkpoints(self, tmp_path, monkeypatch, time, seconds):
        stores = []
        load = Store.load
        monkeypatch.setattr(Store, "load", lambda self, name: stores.append(self) or load(self, name))
        svc(solver="sdca", checkpoint=Checkpoint(tmp_path, every=time)).fit(X, Y)
        assert stores[0].every == seconds

    @pytest.mark.parametrize("time", ["soon", "5d", "", "m", "-1s", None, [5], np.nan])
    def test_what_is_no_time(self, time):
        with pytest.raises(ValueError, match=r"^every=.*: must be seconds, 0 or more, or a time such as \"30s\""):
            Checkpoint("c", every=time)

    def test_an_error_before_the_first_checkpoint_leaves_nothing(self, tmp_path):
        """What a fit chose that failed must not be what the next one has to go on with."""
        with pytest.raises(ValueError, match="class_weight"):
            svc(checkpoint=tmp_path, class_weight={7: 1.0}).fit(X, Y)
        assert not os.listdir(tmp_path)

    def test_models_know_nothing_of_it(self, tmp_path):
        clf = svc(solver="sdca", checkpoint=tmp_path / "checkpoints").fit(X, Y)
        io.save_model(clf, tmp_path / "model")
        assert io.load_model(tmp_path / "model").checkpoint is None

    def test_the_machines_choices_are_kept(self, tmp_path, monkeypatch):
        """How many rows of the kernel matrix are kept goes by free memory, which another time may be less."""
        rooms = []

        def keep(self, name, make):
            rooms.append(kept(self, name, make))
            return rooms[-1]

        kept = module.Runs.choice
        monkeypatch.setattr(module.Runs, "choice", keep)
        settings = Checkpoint(tmp_path, keep=True)
        kernel(checkpoint=settings).fit(X, Y)
        monkeypatch.setattr("pegasos.kernel.fit.free_memory", lambda: 1)
        kernel(checkpoint=settings).fit(X, Y)
        assert len(rooms) == 2
        assert rooms[0] == rooms[1]


@pytest.mark.skipif("fcntl" not in sys.modules, reason="there are no locks on this system")
class TestTwoAtATime:
    """Equal fits with one folder, as of a job that is queued twice: the second is refused, and the first goes on."""

    def fit(self, folder, **parameters):
        return svc(solver="sdca", checkpoint=Checkpoint(folder, every=0), **parameters).fit(X, Y)

    def test_the_second_is_refused(self, tmp_path, monkeypatch):
        refused, save = [], Store.save

        def save_and_try(self, *given):
            save(self, *given)
            if not refused:
                with pytest.raises(ValueError, match="is in use by another fit") as error:
                    TestTwoAtATime.fit(None, tmp_path)
                refused.append(str(error.value))
                TestTwoAtATime.fit(None, tmp_path, C=2.0)  # another fit

        monkeypatch.setattr(Store, "save", save_and_try)
        fitted = self.fit(tmp_path)
        assert f"(process {os.getpid()} on " in refused[0]
        assert refused[0].endswith("): wait for it, or name another folder")
        assert np.array_equal(bits_of(fitted), bits_of(svc(solver="sdca").fit(X, Y)))
        assert not os.listdir(tmp_path)
        self.fit(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
    def test_a_kill_lets_go(self, tmp_path, monkeypatch):
        """In another process, which is killed by kill -9 in the middle of its fit."""
        context = multiprocessing.get_context("fork")
        begun = context.Event()

        def save_and_wait(self, *given):
            save(self, *given)
            begun.set()
            time.sleep(600)

        with monkeypatch.context() as patch:
            save = Store.save
            patch.setattr(Store, "save", save_and_wait)
            other = context.Process(target=self.fit, args=(tmp_path,))
            other.start()
            assert begun.wait(60)
        with pytest.raises(ValueError, match=rf"is in use by another fit of .*\(process {other.pid} on "):
            self.fit(tmp_path)
        os.kill(other.pid, signal.SIGKILL)
        other.join()
        assert np.array_equal(bits_of(self.fit(tmp_path)), bits_of(svc(solver="sdca").fit(X, Y)))
        assert not os.listdir(tmp_path)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
    @pytest.mark.parametrize("how", ["os", "multiprocessing"])
    def test_a_kill_lets_go_beside_a_forked_process(self, tmp_path, how):
        """Which was forked in the middle of the fit, on another thread, and outlives it."""
        reader, writer = os.pipe()

        def sleep():
            os.write(writer, f"{os.getpid()}\n".encode())
            time.sleep(600)

        def fork():
            if how == "multiprocessing":
                multiprocessing.get_context("fork").Process(target=sleep).start()
            elif os.fork() == 0:
                sleep()

        def save_and_fork(self, *given):
            save(self, *given)
            thread = threading.Thread(target=fork)
            thread.start()
            thread.join()
            os.write(writer, b"begun\n")
            time.sleep(600)

        save, owner = Store.save, os.fork()
        if owner == 0:
            Store.save = save_and_fork
            try:
                self.fit(tmp_path)
            finally:
                os._exit(0)
        os.close(writer)
        with open(reader) as lines:
            told = {lines.readline().strip(), lines.readline().strip()}
        other = int(next(iter(told - {"begun"})))
        try:
            os.kill(owner, signal.SIGKILL)
            os.waitpid(owner, 0)
            assert np.array_equal(bits_of(self.fit(tmp_path)), bits_of(svc(solver="sdca").fit(X, Y)))
        finally:
            os.kill(other, signal.SIGKILL)

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
    @pytest.mark.parametrize("end", ["fit", "error", "exit"])
    def test_a_forked_process_leaves_the_files_alone(self, tmp_path, monkeypatch, end):
        """Also where it goes on with the fit itself, to its end or to an error."""
        children, seen, save = [], [], Store.save

        def save_and_fork(self, *given):
            save(self, *given)
            if not children:
                children.append(os.fork())
                if children[0] == 0 and end != "fit":
                    raise ValueError if end == "error" else SystemExit
                if children[0]:
                    before = sorted(tmp_path.rglob("*"))
                    os.waitpid(children[0], 0)
                    seen.append(sorted(tmp_path.rglob("*")) == before)

        monkeypatch.setattr(Store, "save", save_and_fork)
        try:
            fitted = self.fit(tmp_path)
        finally:
            if children == [0]:
                os._exit(0)
        assert seen == [True]
        assert np.array_equal(bits_of(fitted), bits_of(svc(solver="sdca").fit(X, Y)))
        assert not os.listdir(tmp_path)

    def test_an_owner_that_ends_meanwhile(self, tmp_path, monkeypatch):
        """A lock that its owner removed, after it was opened here and before it was locked, is none."""
        path, flock = tmp_path / "lock", atomic.fcntl.flock
        locked = []

        def remove_and_lock(*given):
            if not locked:
                path.unlink()
            locked.append(flock(*given))

        monkeypatch.setattr(atomic.fcntl, "flock", remove_and_lock)
        with atomic.held(path):
            assert len(locked) == 2
            with pytest.raises(atomic.InUse), atomic.held(path):
                pass
        assert not path.exists()

    def test_no_locks(self, tmp_path, monkeypatch):
        def flock(*given):
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(atomic.fcntl, "flock", flock)
        self.fit(tmp_path)
        assert not os.listdir(tmp_path)

    def test_fits_of_a_search_differ(self, tmp_path):
        settings = Checkpoint(tmp_path, every=0)
        search = GridSearchCV(svc(solver="sdca", checkpoint=settings), {"C": [0.1, 1.0]}, n_jobs=2, cv=2)
        with joblib.parallel_config(backend="threading"):  # processes are slow to start
            search.fit(X, Y)
        assert search.best_score_ > 0.5
        assert not os.listdir(tmp_path)


class FullDisk:
    """In place of `open_atomic`: there is room for so many files, and then for none, until there is again."""

    def __init__(self, room):
        self.room, self.tries = room, 0

    @contextmanager
    def __call__(self, path):
        self.tries += 1
        if self.tries > self.room:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        with open_atomic(path) as file:
            yield file


class TestFullDisk:
    def fit(self, folder, **parameters):
        return svc(solver="sdca", checkpoint=Checkpoint(folder, every=0, keep=True), **parameters).fit(X, Y)

    def test_the_fit_goes_on_and_the_last_checkpoint_stays(self, tmp_path, monkeypatch):
        disk = FullDisk(3)
        monkeypatch.setattr(module, "open_atomic", disk)
        with pytest.warns(RuntimeWarning) as told:
            fitted = self.fit(tmp_path)
        (message,) = [str(one.message) for one in told if one.category is RuntimeWarning]
        (folder,) = tmp_path.iterdir()
        assert message.startswith(f"{folder}: no checkpoint could be written (No space left on device); the fit goes")
        assert disk.tries > 5  # it is tried again
        assert np.array_equal(bits_of(fitted), bits_of(svc(solver="sdca").fit(X, Y)))
        disk.room = 10**9
        assert not read(folder / "0")[0]["finished"]
        assert np.array_equal(bits_of(self.fit(tmp_path)), bits_of(fitted))

    def test_there_is_room_again(self, tmp_path, monkeypatch):
        """What was found meanwhile is written, with the choices that it rests on."""
        disk = FullDisk(1)
        monkeypatch.setattr(module, "open_atomic", disk)
        store = Store(tmp_path, 0.0, 0.0, {"seed": 1, "choices": {}})
        store.write_manifest()
        with pytest.warns(RuntimeWarning, match="no checkpoint could be written"):
            assert store.choice("room", lambda: 5.0) == 5
        store.save("0", b"found", True)
        store.save("1", b"state", False)
        assert list(store.waiting) == ["0"]  # the other state may be of memory that has changed since
        disk.room = 10**9
        store.save("2", b"state", False)
        assert sorted(os.listdir(tmp_path)) == ["0", "2", "manifest.json"]
        assert json.loads((tmp_path / "manifest.json").read_text())["choices"] == {"room": 5.0}

    def test_full_from_the_start(self, tmp_path, monkeypatch):
        monkeypatch.setattr(module, "open_atomic", FullDisk(0))
        with pytest.raises(OSError, match=r"no checkpoint can be made \(No space left on device\)"):
            self.fit(tmp_path)
        assert not os.listdir(tmp_path)


def test_time_between_two_checkpoints(tmp_path, ticks, monkeypatch):
    """A run that takes many ticks writes its state every so many of them."""
    written = []
    save = Store.save
    monkeypatch.setattr(
        Store,
        "save",
        lambda self, name, state, finished: (written.append(self.seconds()), save(self, name, state, finished)),
    )
    svc(solver="sdca", checkpoint=Checkpoint(tmp_path, every=0.05)).fit(X, Y)
    assert len(written) > 2
    assert all(b - a >= 0.05 for a, b in itertools.pairwise(written[:-1]))  # the last is what was found
