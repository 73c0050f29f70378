"""`--checkpoint`: what is killed goes on with `--resume`, to the same model."""

import numpy as np
import pytest
from checkpoint_helpers import Killed, write_and_end

from pegasos import io
from pegasos.base.checkpoint import Store


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5))
    y = np.where(X @ random.normal(size=5) + random.normal(size=200) > 0, 1, -1)
    path = tmp_path / "train.svm"
    path.write_text(
        "".join(f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) + "\n" for t, x in zip(y, X, strict=True))
    )
    return path


@pytest.mark.parametrize("by_blocks", [False, True])
def test_killed_and_resumed(data, tmp_path, pegasos, monkeypatch, by_blocks):
    if by_blocks:
        assert pegasos(f"convert {data} {tmp_path / 'train.ds'}")[0] == 0
        data = tmp_path / "train.ds"
        monkeypatch.setattr("pegasos.linear.out_of_core.machine.fits_in_memory", lambda *_: False)
    line = f"train {data} {tmp_path / 'm'} --solver sdca --tol 1e-9 --random-state 0 --max-iter 20"
    assert pegasos(line)[0] == 0
    whole = io.load_model(tmp_path / "m").coef_
    kept = f"{line} --checkpoint {tmp_path / 'checkpoints'} --checkpoint-every 0s"

    with monkeypatch.context() as patch:
        patch.setattr(Store, "save", write_and_end)
        with pytest.raises(Killed):
            pegasos(kept)
    code, _, err = pegasos(kept)
    assert code != 0
    assert "has a checkpoint of this fit already; go on from it with resume=True, or delete" in err
    assert pegasos(f"{kept} --resume")[0] == 0
    assert np.array_equal(io.load_model(tmp_path / "m").coef_, whole)
    assert not list((tmp_path / "checkpoints").iterdir())
    code, _, err = pegasos(f"{kept} --resume")
    assert code != 0
    assert "has no checkpoint of this fit" in err
    assert "leave resume=True out" in err


def test_out_of_time(data, tmp_path, pegasos, ticks):
    line = f"train {data} {tmp_path / 'm'} --solver sdca --tol 1e-9 --checkpoint {tmp_path / 'c'}"
    code, _, err = pegasos(f"{line} --checkpoint-every 0 --max-time 0.3")
    assert code == 0
    assert f"the checkpoint in {tmp_path / 'c'} is kept; --resume goes on from it" in err
    assert pegasos(f"{line} --resume --max-iter 30")[0] != 0  # another fit
    assert pegasos(f"{line} --resume")[0] == 0


def test_a_choice_of_C_is_not_in_checkpoints(data, tmp_path, pegasos):
    line = f"train {data} {tmp_path / 'm'} --C auto --random-state 0 --tol 0.1"
    told = "choosing C, which leaves no checkpoints; the last fit does"
    for flags, is_told in (("", False), (f"--checkpoint {tmp_path / 'c'}", True)):
        code, _, err = pegasos(f"{line} {flags}")
        assert code == 0
        assert (told in err) is is_told


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--resume", "--resume needs --checkpoint FOLDER"),
        ("--checkpoint-every 5s", "--checkpoint-every needs --checkpoint FOLDER"),
        ("--checkpoint c --checkpoint-every soon", "--checkpoint-every soon: must be a time, such as 30s"),
        ("--checkpoint c --checkpoint-every 5d", "must be a time"),
        ("--checkpoint c --resume --C auto", "c has no checkpoints: the choice of C, by --C auto, leaves none"),
        ("--checkpoint=", '--checkpoint "": must name a folder'),
        ("--checkpoint c --one-pass", "--one-pass leaves no checkpoints"),
    ],
)
def test_refusals(data, tmp_path, pegasos, flags, message):
    code, _, err = pegasos(f"train {data} {tmp_path / 'm'} {flags}")
    assert code == 2
    assert message in err


@pytest.mark.parametrize("solver", ["auto", "sdca", "interior-point", "mpu"])
def test_warm_start_of_a_model_without_a_dual_point(data, tmp_path, pegasos, solver):
    """It would start anew, and may end worse than it was."""
    line = f"train {data} {tmp_path / 'm'} --quiet --solver {solver}"
    assert pegasos(line)[0] == 0
    before = (tmp_path / "m").read_bytes()
    code, _, err = pegasos(f"{line} --warm-start --max-iter 1")
    assert code == 2
    assert "was trained without --warm-start, so that there is nothing to continue from" in err
    assert (tmp_path / "m").read_bytes() == before
    assert pegasos(f"{line} --warm-start --solver pegasos")[0] == 0  # which goes on from the weights
