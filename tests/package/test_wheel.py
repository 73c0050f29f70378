"""The package as a user gets it: a wheel, in an environment of its own."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pegasos._core import available

ROOT = Path(__file__).parents[2]

TRAIN = """
import pegasos
from sklearn.datasets import make_classification
X, y = make_classification(500, random_state=0)
clf = pegasos.LinearSVC(C=0.01, tol=0.05, random_state=0).fit(X, y)
assert clf.certificate_.gap <= 0.05
assert pegasos.__file__.startswith(__import__("sys").prefix)
pegasos.show_config()
"""


def call(*line):
    done = subprocess.run([str(part) for part in line], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="needs the sources")
def test_wheel(tmp_path):
    # With build isolation, as `pip wheel .` has it, and a build folder of its own, so that nothing is left over. For
    # the plainest instruction set alone, and not optimised: all of it takes many times as long, and `make install`
    # builds that.
    settings = ["-C", f"build-dir={tmp_path / 'build'}", "-C", f"cmake.define.PEGASOS_LEVELS={available()[-1]}"]
    settings += ["-C", "cmake.build-type=Debug"]
    call(sys.executable, "-m", "pip", "wheel", "--no-deps", *settings, "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("pegasos-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("pegasos/py.typed", "pegasos/_core/native.pyi", "pegasos/_core/cpu.pyi"):
        assert part in names
    assert any(name.endswith("licenses/LICENSE") for name in names)

    call(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    call(python, "-m", "pip", "install", wheel)
    assert "core: " in call(python, "-c", TRAIN)
    assert "train" in call(tmp_path / "venv" / "bin" / "pegasos", "--help")
