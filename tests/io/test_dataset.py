"""Data sets on disk: what is written comes back, and what is damaged is refused (src/pegasos/io/dataset.py)."""

import json
import os
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import LinearSVC, LinearSVCCV, LinearSVR
from pegasos.base.estimator import Machine
from pegasos.io import DatasetWriter, open_dataset, write_dataset
from pegasos.io.dataset import bytes_of, header_checksum
from pegasos.linear.out_of_core.machine import fit_dataset


def examples(n=50, d=8, seed=0, dtype=np.float64):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.4)
    return X.astype(dtype), random.integers(3, size=n)


@pytest.fixture
def written(tmp_path):
    X, y = examples()
    write_dataset(tmp_path / "a.ds", sp.csr_matrix(X), y)
    return tmp_path / "a.ds"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array, sp.csc_matrix])
def test_rows_come_back_as_they_were(tmp_path, kind, dtype):
    X, y = examples(dtype=dtype)
    weights = np.arange(len(y)) / 7
    dataset = write_dataset(tmp_path / "a.ds", kind(X), y, weights)
    back = dataset.X if dataset.storage == "dense" else dataset.X.toarray()
    assert dataset.storage == ("dense" if kind is np.asarray else "csr")
    np.testing.assert_array_equal(back, X)
    np.testing.assert_array_equal(dataset.y, y)
    np.testing.assert_array_equal(dataset.sample_weight, weights)
    assert (dataset.shape, dataset.dtype, len(dataset)) == (X.shape, dtype, len(X))
    assert dataset.total_weight == pytest.approx(weights.sum())
    np.testing.assert_array_equal(dataset.labels.values, [0, 1, 2])
    np.testing.assert_array_equal(dataset.labels.counts, np.bincount(y))
    np.testing.assert_allclose(dataset.labels.weights, np.bincount(y, weights))
    dataset.verify()


@pytest.mark.parametrize("labels", [np.array(["b", "a"]), np.array(["b", "a"], object), np.array([0.5, -2.0])])
def test_labels_of_any_kind_come_back(tmp_path, labels):
    X, _ = examples(20)
    y = labels[np.arange(20) % 2]
    dataset = write_dataset(tmp_path / "a.ds", X, y)
    assert dataset.y.tolist() == y.tolist()
    assert sorted(dataset.labels.values.tolist()) == sorted(set(y.tolist()))


def test_pieces_are_put_together(tmp_path):
    X, y = examples()
    rows = sp.csr_matrix(X)
    with DatasetWriter(tmp_path / "a.ds") as writer:
        for first in range(0, 50, 7):
            piece = rows[first : first + 7]
            writer.append(piece[:, : max(1, (piece.indices.max() + 1))], y[first : first + 7])
    dataset = open_dataset(tmp_path / "a.ds")
    np.testing.assert_array_equal(dataset.X.toarray(), X[:, : dataset.shape[1]])
    np.testing.assert_array_equal(dataset.y, y)
    dataset.verify()


def test_rows_are_put_in_order_and_repeated_columns_summed(tmp_path):
    X = sp.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    assert write_dataset(tmp_path / "a.ds", X, [1]).X.toarray().tolist() == [[2, 0, 5]]
    assert X.indices.tolist() == [2, 0, 2]


def test_a_data_set_is_replaced_and_anything_else_is_not(tmp_path, written):
    X, y = examples(9)
    assert write_dataset(written, X, y, overwrite=True).shape == (9, 8)
    assert sorted(os.listdir(tmp_path)) == ["a.ds"]
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="is no data set; choose another name"):
        write_dataset(tmp_path / "other", X, y)


def write_pieces(path, pieces):
    with DatasetWriter(path) as writer:
        for piece in pieces:
            writer.append(*piece)


def test_the_path_comes_first():
    with pytest.raises(TypeError, match="path is a ndarray; the path comes first"):
        write_dataset(np.ones((2, 1)), [0, 1], "a")


def test_what_fails_leaves_nothing_behind(tmp_path, written):
    before = open_dataset(written).y.tolist()
    X, y = examples()
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3 has a value that is not finite"):
        write_dataset(written, X, y, overwrite=True)

    def pieces():
        yield np.ones((2, 2)), [1, 2]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_pieces(tmp_path / "b.ds", pieces())
    assert os.listdir(tmp_path) == ["a.ds"]
    assert open_dataset(written).y.tolist() == before


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        ([], "at least one row"),
        ([(np.ones((2, 3)), [1])], "one label for each"),
        ([(np.ones((2, 3)), [1, np.inf])], "not finite"),
        ([(np.ones((2, 3)), [1, 2]), (np.ones((2, 4)), [1, 2])], "same ones in each piece"),
        ([(np.ones((2, 3)), [1, 2]), (np.ones((2, 3), np.float32), [1, 2])], "pieces differ"),
        ([(np.ones((2, 3)), [1, 2]), (sp.csr_matrix((2, 3)), [1, 2])], "pieces differ"),
        ([(np.ones((2, 3)), [1, 2]), (np.ones((2, 3)), ["a", "b"])], "labels are words after numbers"),
        ([(np.ones((2, 3)), [1, 2]), (np.ones((2, 3)), [1, 2], [1, 1])], "pieces differ"),
        ([(np.ones((2, 3)), [1, 2], [1, -1])], "none negative"),
        ([(np.ones((2, 3)), [1, 2]), (np.ones((2, 3)), [0.5, 2])], "fractions after whole numbers"),
    ],
)
def test_pieces_that_do_not_fit_are_refused(tmp_path, pieces, message):
    with pytest.raises(ValueError, match=message):
        write_pieces(tmp_path / "a.ds", pieces)
    assert os.listdir(tmp_path) == []


def test_bad_writes_leave_the_data_set_that_was_there(written):
    before = open_dataset(written).y.tolist()
    X, y = examples()
    for bad in [(X, y, np.zeros(len(y))), (X[:, :0], y), (X, y.astype(np.uint64) + 2**63)]:
        with pytest.raises(ValueError, match=r"sum to 0|X has shape|2\^63 - 1"):
            write_dataset(written, *bad, overwrite=True)
    (written / "precious").write_text("mine")
    with pytest.raises(ValueError, match="other files in its folder, such as precious"):
        write_dataset(written, X, y, overwrite=True)
    assert (written / "precious").read_text() == "mine"
    assert open_dataset(written).y.tolist() == before


def test_a_data_set_is_replaced_only_where_asked_for(written):
    before = open_dataset(written).y.tolist()
    with pytest.raises(FileExistsError, match=r"exists and is a data set; .*, or pass overwrite=True to replace it"):
        write_dataset(written, *examples(9))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        DatasetWriter(written)
    assert open_dataset(written).y.tolist() == before
    with DatasetWriter(written, overwrite=True) as writer:
        writer.append(*examples(9))
    assert len(open_dataset(written)) == 9


def test_links_stay_links(tmp_path, written):
    (tmp_path / "link.ds").symlink_to(written)
    write_dataset(tmp_path / "link.ds", *examples(9), overwrite=True)
    assert (tmp_path / "link.ds").is_symlink()
    assert len(open_dataset(written)) == 9
    assert sorted(os.listdir(tmp_path)) == ["a.ds", "link.ds"]


def test_one_that_is_open_stays_what_it_was(written):
    dataset = open_dataset(written)
    before = dataset.X.toarray()
    write_dataset(written, sp.csr_matrix(before[:, ::-1]), dataset.y[::-1], overwrite=True)
    np.testing.assert_array_equal(dataset.X.toarray(), before)
    dataset.verify()


def test_a_copy_is_the_same_folder_opened_anew(written):
    copy = pickle.loads(pickle.dumps(open_dataset(written, memory_limit="1GiB")))
    assert (copy.path, copy.memory_limit) == (str(written), 2**30)


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="a folder cannot be held on this system")
@pytest.mark.parametrize("at", ["header.json", "labels", "starts"])
def test_one_that_is_replaced_while_it_is_opened(tmp_path, monkeypatch, at):
    """At each file that is opened, twice; in a folder that has gone, and which the new one may have the number of."""
    path, sizes, opened = tmp_path / "a.ds", iter((40, 60)), os.open
    kinds = {n: sp.random(n, 5, density=0.5, format="csr", random_state=0) for n in (20, 40, 60)}
    write_dataset(path, kinds[20], np.arange(20))

    def replace_and_open(name, *given, **options):
        if os.path.basename(name) == at and ".tmp" not in str(name) and (n := next(sizes, None)):
            with monkeypatch.context() as patch:
                patch.setattr(os, "open", opened)
                write_dataset(path, kinds[n], np.arange(n), overwrite=True)
        return opened(name, *given, **options)

    monkeypatch.setattr(os, "open", replace_and_open)
    dataset = open_dataset(path)
    monkeypatch.undo()
    dataset.verify()
    np.testing.assert_array_equal(dataset.load()[1], np.arange(len(dataset)))
    assert len(dataset) in (20, 40, 60)


def test_one_that_is_replaced_before_a_copy_is_opened(written):
    dataset = open_dataset(written)
    sent = pickle.dumps(dataset)
    write_dataset(written, *examples(seed=1), overwrite=True)
    with pytest.raises(ValueError, match=r"a\.ds was replaced since it was opened, and has other data; open it anew"):
        pickle.loads(sent)


def test_writers_are_for_with_statements(tmp_path):
    with pytest.raises(ValueError, match="in a with statement"):
        DatasetWriter(tmp_path / "a.ds").append(np.ones((1, 1)), [1])
    with pytest.raises(FileNotFoundError, match="is no folder to write"):
        DatasetWriter(tmp_path / "no" / "a.ds")


def test_what_is_no_data_set_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="pegasos convert makes one"):
        open_dataset(tmp_path)
    with pytest.raises(FileNotFoundError, match="is no data set"):
        open_dataset(tmp_path / "nothing")
    (tmp_path / "header.json").write_text("{")
    with pytest.raises(ValueError, match="not JSON"):
        open_dataset(tmp_path)
    (tmp_path / "header.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="not JSON"):
        open_dataset(tmp_path)
    (tmp_path / "header.json").unlink()
    os.mkfifo(tmp_path / "header.json")
    with pytest.raises(FileNotFoundError, match="is no data set"):
        open_dataset(tmp_path)


def test_damage_is_found(written):
    path = written / "values"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="should have"):
        open_dataset(written)
    path.write_bytes(whole[:-1] + b"\x07")
    dataset = open_dataset(written)
    with pytest.raises(ValueError, match=r"values has another checksum"):
        dataset.verify()
    path.unlink()
    with pytest.raises(ValueError, match="is missing"):
        open_dataset(written)


def test_no_header_does_harm(written):
    """Every value of a header in turn is replaced by others; it opens with the right sizes or is refused."""
    header = json.loads((written / "header.json").read_text())

    def places(node, path=()):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield (*path, key)
            if isinstance(node[key], dict | list):
                yield from places(node[key], (*path, key))

    opened = 0
    (written / "header.json").write_text(json.dumps(header | {"total_weight": 1.5}))
    with pytest.raises(ValueError, match="another checksum"):
        open_dataset(written)
    for path in list(places(header)):
        for other in (None, -1, 0, 2**63, 1e308, "x", [], {}, [None], True):
            changed = json.loads(json.dumps(header))
            node = changed
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = other
            changed["crc32"] = header_checksum(changed)
            (written / "header.json").write_text(json.dumps(changed))
            try:
                dataset = open_dataset(written)
            except ValueError:
                continue
            opened += 1
            assert dataset.shape[0] == 50
            assert dataset.X.shape == dataset.shape
    assert opened < 60  # of several hundreds: labels' counts, checksums and the like


@pytest.mark.parametrize(("given", "count"), [(5, 5), ("5", 5), ("1GB", 10**9), ("1.5 kb", 1500), ("2m", 2 * 10**6)])
def test_memory_in_words(given, count):
    assert bytes_of(given) == count


@pytest.mark.parametrize("given", ["", "GB", "x", -1, 0, True, "1e400", float("nan")])
def test_memory_that_is_none(given):
    with pytest.raises(ValueError, match="memory_limit"):
        bytes_of(given)


def test_names_of_features(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = examples(d=2)
    frame = pd.DataFrame(X, columns=["length", "width"])
    assert write_dataset(tmp_path / "a.ds", X, y).feature_names is None
    assert write_dataset(tmp_path / "a.ds", pd.DataFrame(X), y, overwrite=True).feature_names is None
    dataset = write_dataset(tmp_path / "a.ds", frame, y, overwrite=True)
    assert dataset.feature_names == open_dataset(tmp_path / "a.ds").feature_names == ["length", "width"]
    with DatasetWriter(tmp_path / "b.ds", feature_names=("length", "width")) as writer:
        writer.append(X, y)
        writer.append(frame, y)
        with pytest.raises(ValueError, match="give the same ones"):
            writer.append(frame[["width", "length"]], y)
    with (
        pytest.raises(ValueError, match="1 feature_names"),
        DatasetWriter(tmp_path / "c.ds", feature_names="a") as writer,
    ):
        writer.append(X, y)


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("warm_start", [False, True])
def test_models_of_data_sets_have_the_names(tmp_path, monkeypatch, in_memory, warm_start):
    pd = pytest.importorskip("pandas")
    monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: in_memory)
    X, y = examples(d=2)
    frame = pd.DataFrame(X, columns=["length", "width"])
    named = write_dataset(tmp_path / "a.ds", frame, y)
    swapped = write_dataset(tmp_path / "b.ds", frame[["width", "length"]], y)
    model = LinearSVC(warm_start=warm_start and in_memory, tol=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for _ in range(2):
            model.fit(named)
            assert model.feature_names_in_.tolist() == ["length", "width"]
        np.testing.assert_array_equal(model.predict(named), model.predict(frame))
    with pytest.raises(ValueError, match=r"'width' as feature 1.*trained on 'length' there"):
        model.predict(swapped)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(write_dataset(tmp_path / "c.ds", X, y))
    assert not hasattr(LinearSVC(tol=0.1).fit(open_dataset(tmp_path / "c.ds")), "feature_names_in_")


def test_cross_validation_has_the_names(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = examples(d=2)
    dataset = write_dataset(tmp_path / "a.ds", pd.DataFrame(X, columns=["length", "width"]), y > 0)
    model = LinearSVCCV(Cs=2, cv=2).fit(dataset)
    assert model.feature_names_in_.tolist() == model.best_estimator_.feature_names_in_.tolist() == ["length", "width"]


@pytest.mark.parametrize("change", ["cut", "overwritten"])
@pytest.mark.parametrize("dense", [False, True])
def test_files_that_change_during_a_fit(tmp_path, monkeypatch, change, dense):
    """The fit is that of what was checked."""
    X = sp.random(300, 40, density=0.3, format="csr", random_state=0)
    X, y = X.toarray() if dense else X, np.arange(300) % 2
    expected = LinearSVC(random_state=0).fit(X, y)
    dataset = write_dataset(tmp_path / "a.ds", X, y)

    def fit(*args):
        for path in (tmp_path / "a.ds").iterdir():
            with open(path, "r+b") as file:
                size = path.stat().st_size
                file.truncate(0) if change == "cut" else file.write(b"\x7f" * size)
        return plain(*args)

    plain = Machine._continue  # once the data are read
    monkeypatch.setattr(Machine, "_continue", fit)
    clf = LinearSVC(random_state=0)
    found = fit_dataset(clf, dataset, None, None)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


@pytest.mark.parametrize("make", [LinearSVC, LinearSVR, LinearSVCCV])
@pytest.mark.parametrize("name", ["values", "columns", "starts", "labels", "weights"])
def test_a_fit_in_memory_compares_the_checksums(tmp_path, make, name):
    X = sp.random(60, 10, density=0.5, format="csr", random_state=0)
    dataset = write_dataset(tmp_path / "a.ds", X, np.arange(60) % 2, np.ones(60))
    path = tmp_path / "a.ds" / name
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"{name} has another checksum than when it was written; convert"):
        make().fit(dataset)


def test_a_file_that_is_cut_short_while_it_is_opened(written, monkeypatch):
    def short(*args, **options):
        raise ValueError("mmap length is greater than file size")

    monkeypatch.setattr(np, "memmap", short)
    with pytest.raises(ValueError, match="was cut short while it was opened; convert the data anew"):
        open_dataset(written)


def test_a_file_that_is_cut_short_while_it_is_read(tmp_path):
    dataset = write_dataset(tmp_path / "a.ds", np.eye(40), np.arange(40) % 2)
    (tmp_path / "a.ds" / "values").write_bytes(b"")
    with pytest.raises(ValueError, match="values was cut short while it was read"):
        LinearSVC().fit(dataset)


def test_the_writer_converts_all_pieces_to_its_type(tmp_path):
    with DatasetWriter(tmp_path / "a.ds", dtype=np.float32) as writer:
        writer.append(np.ones((2, 3)), [0, 1])
        writer.append(np.ones((2, 3), np.float32), [0, 1])
    assert open_dataset(tmp_path / "a.ds").dtype == np.float32
    with pytest.raises(ValueError, match="dtype=int64: values are stored as float32 or float64"):
        DatasetWriter(tmp_path / "b.ds", dtype=np.int64)
    with pytest.raises(ValueError, match="not finite"), DatasetWriter(tmp_path / "b.ds", dtype="float32") as writer:
        writer.append(np.full((1, 1), 1e300), [0])
