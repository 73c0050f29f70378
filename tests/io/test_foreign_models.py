"""Model files of LIBLINEAR and LIBSVM, with the real programs: theirs here, ours there."""

import gzip
import io
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics.pairwise import rbf_kernel

from pegasos import SVC, SVR, LinearSVC, LinearSVR
from pegasos.io import (
    load_model,
    read_liblinear_model,
    read_libsvm_model,
    save_model,
    write_liblinear_model,
    write_libsvm_model,
)

X, Y = load_iris(return_X_y=True)
#: Labels of which neither program keeps the order: classes come in the order of their first examples.
LABELS = {"two": np.array([7, -3, 7])[Y], "three": np.array([5, -1, 2])[Y], "ordered": Y}


@pytest.fixture
def liblinear():
    return pytest.importorskip("liblinear.liblinearutil", reason="the real LIBLINEAR: pip install liblinear-official")


@pytest.fixture
def libsvm():
    return pytest.importorskip("libsvm.svmutil", reason="the real LIBSVM: pip install libsvm-official")


def written(save, load, model, path):
    """The model as the program reads its own file: one that was just trained refers to memory of its data."""
    save(str(path), model)
    return load(str(path))


def decisions_of(predict, model, X):
    labels, _, values = predict([], X, model, "-q")
    return np.array(labels), np.array(values)


def assert_decisions(ours, labels, values, order):
    """Decision values of a program that has its classes in this order."""
    np.testing.assert_array_equal(ours.predict(X), labels)
    decided = ours.decision_function(X)
    if len(ours.classes_) == 2:
        sign = 1 if order[0] == ours.classes_[1] else -1
        if ours.multi_class == "joint":  # LIBLINEAR's Python gives the score of the first class alone
            sign, decided = 1, ours._scores(X)[:, (order[0] == ours.classes_[1]) * 1]
        np.testing.assert_allclose(sign * values[:, 0], decided, rtol=1e-9, atol=1e-9)
    else:
        columns = [order.index(label) for label in ours.classes_]
        np.testing.assert_allclose(values[:, columns], decided, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:the model of LIBLINEAR has penalty='l1'")
@pytest.mark.parametrize("bias", [-1, 1, 2.5])
@pytest.mark.parametrize("solver", range(8))
@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
def test_liblinear_to_here(liblinear, y, solver, bias, tmp_path):
    theirs = liblinear.train(y, X, f"-s {solver} -B {bias} -q")
    theirs = written(liblinear.save_model, liblinear.load_model, theirs, tmp_path / "model")
    ours = read_liblinear_model(tmp_path / "model")
    assert type(ours) is LinearSVC
    labels, values = decisions_of(liblinear.predict, theirs, X)
    assert_decisions(ours, labels, values, theirs.get_labels())
    if ours.loss == "log_loss":
        probabilities = np.array(liblinear.predict([], X, theirs, "-b 1 -q")[2])
        columns = [theirs.get_labels().index(label) for label in ours.classes_]
        np.testing.assert_allclose(probabilities[:, columns], ours.predict_proba(X), atol=1e-9)
    save_model(ours, tmp_path / "ours")
    np.testing.assert_array_equal(load_model(tmp_path / "ours").decision_function(X), ours.decision_function(X))


@pytest.mark.parametrize("solver", [11, 12, 13])
def test_liblinear_regression_to_here(liblinear, solver, tmp_path):
    theirs = liblinear.train(X[:, 3], X[:, :3], f"-s {solver} -B 1 -q")
    theirs = written(liblinear.save_model, liblinear.load_model, theirs, tmp_path / "model")
    ours = read_liblinear_model(tmp_path / "model")
    assert ours.loss == ("epsilon_insensitive" if solver == 13 else "squared_epsilon_insensitive")
    np.testing.assert_allclose(ours.predict(X[:, :3]), decisions_of(liblinear.predict, theirs, X[:, :3])[0])


OURS = [
    LinearSVC(),
    LinearSVC(fit_intercept=False),
    LinearSVC(loss="squared_hinge", intercept_scaling=3.0),
    LinearSVC(loss="log_loss", intercept="free"),
    LinearSVC(multi_class="joint"),
    LinearSVC(scale=True),
]


@pytest.mark.filterwarnings("ignore:Column")
@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("ours", OURS)
def test_here_to_liblinear(liblinear, ours, y, tmp_path):
    ours.fit(X, y)
    write_liblinear_model(ours, tmp_path / "model")
    theirs = liblinear.load_model(str(tmp_path / "model"))
    assert_decisions(ours, *decisions_of(liblinear.predict, theirs, X), theirs.get_labels())
    back = read_liblinear_model(tmp_path / "model")
    assert (back.loss, back.multi_class) == (ours.loss, ours.multi_class)
    np.testing.assert_allclose(back.decision_function(X), ours.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("ours", [LinearSVR(), LinearSVR(loss="squared_epsilon_insensitive", fit_intercept=False)])
def test_regression_here_to_liblinear(liblinear, ours, tmp_path):
    ours.fit(X[:, :3], X[:, 3])
    write_liblinear_model(ours, tmp_path / "model")
    theirs = liblinear.load_model(str(tmp_path / "model"))
    np.testing.assert_allclose(decisions_of(liblinear.predict, theirs, X[:, :3])[0], ours.predict(X[:, :3]))


def pairs_of(theirs, values):
    """Decision values of pairs of classes, positive for the first, in increasing order of the labels."""
    order = theirs.get_labels()
    found, number = {}, 0
    for i, first in enumerate(order):
        for second in order[i + 1 :]:
            pair, sign = ((first, second), 1) if first < second else ((second, first), -1)
            found[pair] = sign * values[:, number]
            number += 1
    return np.column_stack([found[pair] for pair in sorted(found)])


def assert_pairs(ours, theirs, labels, values):
    np.testing.assert_array_equal(ours.predict(X), labels)
    ours.decision_function_shape = "ovo"
    decided = ours.decision_function(X)
    decided = -decided[:, None] if decided.ndim == 1 else decided  # for two classes, here positive for the second
    np.testing.assert_allclose(pairs_of(theirs, values), decided, rtol=1e-8, atol=1e-8)


KERNELS = {"linear": 0, "poly": "1 -d 2 -r 1.5 -g 0.3", "rbf": "2 -g 0.7", "sigmoid": "3 -g 0.01"}


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_libsvm_to_here(libsvm, kernel, y, tmp_path):
    theirs = libsvm.svm_train(y, X, f"-t {KERNELS[kernel]} -q")
    theirs = written(libsvm.svm_save_model, libsvm.svm_load_model, theirs, tmp_path / "model")
    ours = read_libsvm_model(tmp_path / "model")
    assert (type(ours), ours.kernel) == (SVC, kernel)
    assert_pairs(ours, theirs, *decisions_of(libsvm.svm_predict, theirs, X))
    save_model(ours, tmp_path / "ours")
    np.testing.assert_array_equal(load_model(tmp_path / "ours").decision_function(X), ours.decision_function(X))


def test_libsvm_with_nu(libsvm, tmp_path):
    theirs = libsvm.svm_train(LABELS["two"], X, "-s 1 -n 0.2 -q")  # of more classes its Python has too few decisions
    theirs = written(libsvm.svm_save_model, libsvm.svm_load_model, theirs, tmp_path / "model")
    with pytest.warns(UserWarning, match="nu_svc"):
        ours = read_libsvm_model(tmp_path / "model")
    assert_pairs(ours, theirs, *decisions_of(libsvm.svm_predict, theirs, X))


@pytest.mark.parametrize("y", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize(
    "ours",
    [SVC(C=5), SVC(kernel="poly", degree=2, coef0=1.0), SVC(kernel="linear"), SVC(fit_intercept=False)],
)
def test_here_to_libsvm(libsvm, ours, y, tmp_path):
    for given in (X, sp.csr_matrix(X)):
        ours.set_params(decision_function_shape="ovr").fit(given, y)
        write_libsvm_model(ours, tmp_path / "model")
        theirs = libsvm.svm_load_model(str(tmp_path / "model"))
        assert_pairs(ours, theirs, *decisions_of(libsvm.svm_predict, theirs, X))
        back = read_libsvm_model(tmp_path / "model")
        np.testing.assert_allclose(back._scores(X), ours._scores(X), rtol=1e-9, atol=1e-12)


def test_regression_with_libsvm(libsvm, tmp_path):
    X, y = load_diabetes(return_X_y=True)
    theirs = libsvm.svm_train(y, X, "-s 3 -t 2 -g 5 -c 100 -q")
    theirs = written(libsvm.svm_save_model, libsvm.svm_load_model, theirs, tmp_path / "theirs")
    there = decisions_of(libsvm.svm_predict, theirs, X)[0]
    np.testing.assert_allclose(read_libsvm_model(tmp_path / "theirs").predict(X), there)
    ours = SVR(C=100, gamma=5).fit(X, y)
    write_libsvm_model(ours, tmp_path / "ours")
    theirs = libsvm.svm_load_model(str(tmp_path / "ours"))
    np.testing.assert_allclose(decisions_of(libsvm.svm_predict, theirs, X)[0], ours.predict(X))


def test_kernel_matrix_with_libsvm(libsvm, tmp_path):
    K = rbf_kernel(X)
    rows = [{0: i + 1} | {j + 1: value for j, value in enumerate(row)} for i, row in enumerate(K)]
    theirs = libsvm.svm_train(LABELS["two"], rows, "-t 4 -q")
    theirs = written(libsvm.svm_save_model, libsvm.svm_load_model, theirs, tmp_path / "theirs")
    labels, values = decisions_of(libsvm.svm_predict, theirs, rows)
    ours = read_libsvm_model(tmp_path / "theirs", n_features=len(X))
    sign = 1 if theirs.get_labels()[0] == 7 else -1
    np.testing.assert_allclose(ours.decision_function(K), sign * values[:, 0], rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(K), labels)
    write_libsvm_model(SVC(kernel="precomputed").fit(K, LABELS["two"]), tmp_path / "ours")
    assert libsvm.svm_load_model(str(tmp_path / "ours")).get_nr_sv() > 0
    with pytest.raises(ValueError, match="n_features=3"):
        read_libsvm_model(tmp_path / "theirs", n_features=3)


def test_features_that_no_support_vector_has(tmp_path):
    """The file does not tell how many there are."""
    path = tmp_path / "model"
    write_libsvm_model(SVC(kernel="linear").fit(np.column_stack([X, np.zeros(len(X))]), Y), path)
    assert read_libsvm_model(path).n_features_in_ == 4
    assert read_libsvm_model(path, n_features=5).predict(np.zeros((1, 5))).shape == (1,)
    with pytest.raises(ValueError, match="n_features=3, and the file has a feature or example 4"):
        read_libsvm_model(path, n_features=3)


def test_models_that_the_programs_do_not_have(tmp_path):
    path = tmp_path / "model"
    words = np.array(["a", "b", "c"])[Y]
    for model, write, text in [
        (LinearSVC().fit(X, words), write_liblinear_model, "whole numbers as labels"),
        (LinearSVC().fit(X, Y * 2.0**40), write_liblinear_model, "whole numbers as labels"),
        (LinearSVC(loss="log_loss", multi_class="joint").fit(X, Y), write_liblinear_model, "all classes together"),
        (LinearSVR(loss="huber").fit(X, X[:, 0]), write_liblinear_model, "loss='huber'"),
        (SVC().fit(X, words), write_libsvm_model, "whole numbers as labels"),
        (SVC(multi_class="ovr").fit(X, Y), write_libsvm_model, "multi_class='ovr'"),
        (SVC(kernel=lambda a, b: a @ b.T).fit(X, Y), write_libsvm_model, "function"),
        (SVR(loss="quantile").fit(X, X[:, 0]), write_libsvm_model, "loss='quantile'"),
        (LinearSVC(), write_liblinear_model, "not fitted"),
        (SVC(), write_libsvm_model, "not fitted"),
    ]:
        with pytest.raises(ValueError, match=text):
            write(model, path)
        assert not path.exists()
    with pytest.raises(TypeError, match="and not a SVC"):
        write_liblinear_model(SVC().fit(X, Y), path)
    with pytest.raises(TypeError, match="and not a LinearSVC"):
        write_libsvm_model(LinearSVC().fit(X, Y), path)


def test_compressed_files_and_streams(tmp_path):
    write_liblinear_model(LinearSVC().fit(X, Y), tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    (tmp_path / "model.gz").write_bytes(gzip.compress(data))
    expected = read_liblinear_model(tmp_path / "model").coef_
    for source in (tmp_path / "model.gz", io.BytesIO(data.replace(b"\n", b"\r\n"))):
        np.testing.assert_array_equal(read_liblinear_model(source).coef_, expected)


LINEAR = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n1 \n-1 \n"
KERNEL = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\nSV\n"
KERNEL += "1 1:0.5 3:1 \n-1 2:2 \n"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("L2R_LR", "L3R", "line 1: solver_type: 'L3R' is none of"),
        ("L2R_LR", "ONECLASS_SVM", "no counterpart"),
        ("nr_class 2", "nr_class 1", "line 2: nr_class: '1' is no whole number from 2"),
        ("nr_class 2", "nr_class two", "line 2: nr_class: 'two' is no whole number"),
        ("nr_class 2", "nr_class 3", "line 3: label: 2 values where 3 are expected"),
        ("label 1 -1", "label 1 1", "line 3: label: a label is there twice"),
        ("label 1 -1", "label 1 -1.5", "'-1.5' is no whole number"),
        ("label 1 -1\n", "", "there is no line 'label'"),
        ("nr_feature 2", "nr_feature 2000000000", "3 lines of weights where 2000000001 are expected"),
        ("bias 1", "bias nan", "line 5: bias: 'nan' is no finite number"),
        ("bias 1", "bias 1e308\nbias 1", "line 6: 'bias' a second time; the first is line 5"),
        ("1 \n-1", "1 \nx", "line 9: 'x' is no finite number"),
        ("1 \n-1", "1 \n1_0", "line 9: '1_0' is no finite number"),
        ("1 \n-1", "1 2 \n-1", "line 8: 2 weights where 1 are expected"),
        ("w\n", "", "line 6: '0.5' is none of"),
        ("w\n0.5 \n1 \n-1 \n", "", "no line 'w'"),
        ("bias", "\n", "line 5: a key and its values are expected"),
        ("L2R_LR", "L2R_LR\0", "line 1: a key and its values"),
    ],
)
def test_hostile_liblinear(old, new, text, tmp_path):
    path = tmp_path / "hostile"
    path.write_text(LINEAR)
    assert read_liblinear_model(path).predict([[1.0, 2.0]]) == [1]
    path.write_text(LINEAR.replace(old, new, 1))
    with pytest.raises(ValueError, match=text) as caught:
        read_liblinear_model(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("c_svc", "one_class", "no counterpart"),
        ("c_svc", "svm", "line 1: svm_type: 'svm' is none of"),
        ("rbf", "wavelet", "line 2: kernel_type: 'wavelet' is none of"),
        ("gamma 0.5", "gamma -1", "gamma -1: a number above 0"),
        ("gamma 0.5\n", "", "there is no line 'gamma'"),
        ("total_sv 2", "total_sv 3", "2 support vectors where 3 are expected"),
        ("nr_sv 1 1", "nr_sv 2 1", "nr_sv counts 3"),
        ("nr_sv 1 1", "nr_sv 1 -1", "'-1' is no whole number from 0"),
        ("rho 0.1", "rho 0.1 0.2", "line 6: rho: 2 values where 1 are expected"),
        ("rho 0.1", "rho inf", "'inf' is no finite number"),
        ("nr_sv 1 1", "probA 1\nprobB 2\nnr_sv 1 1", "has probabilities"),
        ("1 1:0.5", "x 1:0.5", "line 10: 'x' is no finite number"),
        ("1 1:0.5", "1:0.5", "line 10: 1 coefficients are expected"),
        ("1 1:0.5 3:1", "1 3:0.5 1:1", "line 10"),
        ("1 1:0.5", "1 0:0.5", "line 10"),
        ("1:0.5", "1:nan", "line 10"),
        ("1:0.5", "qid:3 1:0.5", "line 10: index:value pairs"),
        ("3:1", "3:1 # x", "line 10: index:value pairs"),
        ("rbf\n", "precomputed\n", "each support vector is 0:N"),
        ("3:1", "99999999999:1", "feature 99999999999, and LIBSVM has at most 2147483647"),
    ],
)
def test_hostile_libsvm(old, new, text, tmp_path):
    path = tmp_path / "hostile"
    path.write_text(KERNEL)
    assert read_libsvm_model(path).predict([[1.0, 0.0, 1.0]]) == [1]
    path.write_text(KERNEL.replace(old, new, 1))
    with pytest.raises(ValueError, match=text) as caught:
        read_libsvm_model(path)
    assert str(path) in str(caught.value)


def test_files_without_support_vectors(tmp_path):
    path = tmp_path / "model"
    path.write_text(
        KERNEL.replace("total_sv 2", "total_sv 0").replace("nr_sv 1 1", "nr_sv 0 0").partition("1 1:0.5")[0]
    )
    model = read_libsvm_model(path, n_features=3)
    np.testing.assert_allclose(model.decision_function(np.ones((2, 3))), -0.1)
    write_libsvm_model(model, tmp_path / "again")
    again = read_libsvm_model(tmp_path / "again", n_features=3)
    np.testing.assert_allclose(again.decision_function(np.ones((2, 3))), -0.1)


SMALL_FILES = {
    "classes of a regression": b"solver_type L2R_L1LOSS_SVR_DUAL\nnr_class 2147483647\nnr_feature 1\nbias -1\nw\n1\n",
    "classes and features": b"solver_type MCSVM_CS\nnr_class 5000\nlabel "
    + b" ".join(b"%d" % k for k in range(5000))
    + b"\nnr_feature 20000\nbias -1\nw\n"
    + b"1\n" * 20_000,
    "a column of a kernel matrix": b"svm_type epsilon_svr\nkernel_type precomputed\nnr_class 2\ntotal_sv 1\nrho 0\nSV\n"
    b"1 0:1 2147483000:1\n",
    "classes and support vectors": b"svm_type c_svc\nkernel_type linear\nnr_class 300\ntotal_sv 50000\nrho "
    + b" ".join([b"0"] * (300 * 299 // 2))
    + b"\nlabel "
    + b" ".join(b"%d" % k for k in range(300))
    + b"\nnr_sv 50000 "
    + b" ".join([b"0"] * 299)
    + b"\nSV\n"
    + b"1\n" * 50_000,
}


@pytest.mark.parametrize("name", SMALL_FILES)
def test_no_more_memory_than_the_file_has_numbers(name):
    data = SMALL_FILES[name]
    read = read_liblinear_model if data.startswith(b"solver_type") else read_libsvm_model
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="<stream>: "):
            read(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()
