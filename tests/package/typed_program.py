"""A user's program with every public name, which runs and which type checkers accept; it says what types it expects."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import pegasos
from pegasos import (
    SVC,
    SVR,
    Certificate,
    Check,
    Checkpoint,
    FeatureMapSVC,
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    RegularizationPath,
    SequenceSVC,
    TextHasher,
    datasets,
    from_sklearn,
    io,
    listen,
    patch_sklearn,
    path,
    plot,
    register_onnx,
    report,
    show_config,
    solvers,
    to_onnx,
    unpatch_sklearn,
)
from pegasos.sequence import (
    ChunkCounts,
    ChunkScores,
    ForbiddenLink,
    Template,
    chunk_scores,
    find_chunks,
    to_iob2,
)

random = np.random.default_rng(0)
X = random.normal(size=(60, 4))
y = X[:, 0] + random.normal(size=60) > 0


def vectors(folder: Path) -> None:
    """Estimators of vectors, what they predict, and what they say of it."""
    clf = LinearSVC(C=0.5, loss="log_loss", tol=1e-2, max_time=10.0, random_state=0, class_weight={True: 2.0}).fit(X, y)
    assert_type(clf, LinearSVC)
    assert_type(clf.predict_proba(X), NDArray[np.float64])
    assert_type(clf.decision_function(X), NDArray[np.float64])
    assert_type(clf.score(X, y, sample_weight=np.ones(60)), float)
    assert_type(clf.certificate_, Certificate)
    assert_type(clf.certificate_.gap, float)
    assert_type(clf.certificate_.parts, tuple[Certificate, ...])
    assert_type(clf.intercept_, NDArray[np.float64])
    assert_type(clf.set_params(C=1.0).sparsify().densify(), LinearSVC)
    assert_type(LinearSVC(alpha=0.1).partial_fit(X, y, classes=[False, True]), LinearSVC)
    checkpoint = Checkpoint(folder / "checkpoints", every="1m", keep=True)
    assert_type(LinearSVR(epsilon=0.1, checkpoint=checkpoint).fit(X, X[:, 0]).predict(X), NDArray[np.float64])
    checkpoint.clear()
    svc = SVC(kernel="rbf", gamma="scale", solver=solvers.SMO()).fit(X, y)
    assert_type(svc.support_, NDArray[np.int32])
    assert_type(svc.predict(X), NDArray[Any])
    assert_type(SVR(kernel=lambda A, B: A @ B.T).fit(X, X[:, 1]).predict(X), NDArray[np.float64])
    cv = LinearSVCCV(Cs=[0.1, 1.0], cv=2, rule="one_standard_error").fit(X, y)
    assert_type(cv.best_estimator_, LinearSVC)
    assert_type(cv.C_, float)
    assert_type(cv.scores_, NDArray[np.float64])
    assert_type(cv.certificate_, Certificate)
    assert_type(cv.predict(X), NDArray[Any])
    found = path(X, y, Cs=3)
    assert_type(found, RegularizationPath)
    assert_type(found.decision_function(X), NDArray[np.float64])
    assert_type(found.certificates, tuple[Certificate, ...])
    report(clf, X, y, title="a model").save(folder / "report.html")
    print(plot.ConvergenceDisplay.from_estimator)


def progress() -> None:
    """Listeners."""
    gaps: list[float] = []

    def note(check: Check) -> None:
        weights: dict[str, NDArray[np.float64]] = check.weights()
        gaps.append(check.gap + 0.0 * float(weights["coef_"][0, 0]))
        if check.part == "" and check.epoch > 100:
            check.stop()

    with listen(note):
        LinearSVC(verbose=0).fit(X, y)
    with pegasos.listen(lambda check: check.stop()):
        LinearSVC().fit(X, y)


def feature_of(x: NDArray[np.float64], label: bool) -> NDArray[np.float64]:
    return x if label else -x


def structures(folder: Path) -> None:
    """Sequences, and whatever a function makes features of."""
    assert_type(FeatureMapSVC(feature_of, random_state=0).fit(X, y).predict(X), NDArray[Any])
    (folder / "words").write_text("the D\ndog N\n\ndogs N\nbark V\n")
    sentences = io.read_conll(folder / "words")
    template = Template.window(1)
    words = [[position[:1] for position in sentence] for sentence in sentences]
    labels = [[position[-1] for position in sentence] for sentence in sentences]
    features: list[list[list[str]]] = template.fit(words).transform(words)
    tagger = SequenceSVC(C=1.0, random_state=0).fit(features, labels)
    assert_type(tagger.transitions_, NDArray[np.float64])
    try:
        SequenceSVC(constraints=[("D", "N")]).fit(features, labels)
    except ForbiddenLink as error:
        print(error)
    scores = chunk_scores([["B-X", "I-X"]], [["B-X", "O"]])
    assert_type(scores, ChunkScores)
    counts: ChunkCounts = scores
    assert_type(counts.f1, float)
    assert_type(find_chunks(["B-X", "I-X"]), list[tuple[str, int, int]])
    assert_type(to_iob2(["I-X", "I-X"]), list[str])


def files(folder: Path) -> None:
    """Data and models."""
    rows, labels = datasets.make_text(200, 500, random_state=0)
    assert_type(labels, NDArray[np.int64])
    io.write_svmlight(rows, labels, folder / "a.svm")
    read_rows, read_labels = io.read_svmlight(folder / "a.svm", n_features=500)
    for part, part_labels in io.iter_svmlight(folder / "a.svm", n_features=500):
        print(part.shape, part_labels.shape)
    written = io.write_dataset(folder / "a.ds", read_rows, read_labels)
    assert_type(written, io.Dataset)
    with io.DatasetWriter(folder / "b.ds") as writer:
        writer.append(X, y)
    dataset = io.open_dataset(folder / "b.ds", memory_limit="1 GB")
    clf = LinearSVC(random_state=0).fit(dataset)
    assert_type(clf.score(dataset), float)
    io.save_model(clf, folder / "model")
    loaded: LinearSVC = io.load_model(folder / "model")
    print(loaded.certificate_)
    numbered = LinearSVC(random_state=0).fit(X, y.astype(int))
    io.write_liblinear_model(numbered, folder / "liblinear.model")
    print(io.read_liblinear_model(folder / "liblinear.model").predict(X))
    io.write_libsvm_model(SVC().fit(X, y.astype(int)), folder / "libsvm.model")
    print(io.read_libsvm_model(folder / "libsvm.model", n_features=4).predict(X))
    print(from_sklearn, to_onnx, register_onnx, patch_sklearn, unpatch_sklearn)
    (folder / "a.csv").write_text("u,v,label\n1,2,a\n3,4,b\n")
    table, _ = io.read_table(folder / "a.csv", label="label")
    assert_type(table, NDArray[Any])
    for block, block_labels in io.iter_table(folder / "a.csv", label="label"):
        assert_type(block, NDArray[Any])
        assert block_labels is not None
    (folder / "a.txt").write_text("1 | good\n-1 | bad\n")
    _, _, weights = io.read_text(folder / "a.txt")
    assert_type(weights, NDArray[np.float64])
    print(io.hash_text(["good", "bad"]).shape, TextHasher(hash_bits=10).fit(["good"]).transform(["good"]).shape)


def methods() -> None:
    """Solvers, by name, by class and with options."""
    chosen: list[solvers.Solver] = [
        solvers.AdaGrad(),
        solvers.ConstantStep(eta=0.01),
        solvers.FrankWolfe(),
        solvers.InteriorPoint(),
        solvers.LASVM(),
        solvers.MPU(),
        solvers.Newton(),
        solvers.NormBall(),
        solvers.Norma(),
        solvers.OCAS(),
        solvers.Pegasos(batch_size=4, average=True),
        solvers.Perceptron(),
        solvers.SBP(nu=0.1),
        solvers.SDCA(shrink=True),
        solvers.SGDM(),
        solvers.SGDQN(),
        solvers.SGDR(),
        solvers.SGDS(),
        solvers.SIMBA(),
        solvers.SMO(),
        solvers.SvmSgd(),
    ]
    known = {**solvers.SOLVERS, **solvers.KERNEL_SOLVERS, **solvers.SEQUENCE_SOLVERS, **solvers.STREAM_SOLVERS}
    assert_type(known["pegasos"], type[solvers.Solver])
    assert {type(solver) for solver in chosen} <= {*known.values()} <= {*solvers.ALL}
    clf = LinearSVC(solver=solvers.Pegasos(batch_size=2)).set_params(solver__batch_size=4)
    print([solver.describe() for solver in chosen], clf, solvers.solvers_of)


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        vectors(Path(name))
        structures(Path(name))
        files(Path(name))
    progress()
    methods()
    show_config()
