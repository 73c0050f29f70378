"""The package as a user gets it: a wheel with every build of the core, in an environment of its own."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pegasos._core import LEVELS, cpu

ROOT = Path(__file__).parents[2]

TRAIN = """
import pegasos
from sklearn.datasets import make_classification
X, y = make_classification(500, random_state=0)
clf = pegasos.LinearSVC(C=0.01, tol=1e-6, random_state=0).fit(X, y)
assert clf.certificate_.gap <= 1e-6
assert pegasos.__file__.startswith(__import__("sys").prefix)
pegasos.show_config()
print(clf.certificate_.primal)
"""


def call(*line, **environment):
    command = [str(part) for part in line]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, env=os.environ | environment)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / "CMakeLists.txt").exists(), reason="needs the sources")
def test_wheel(tmp_path):
    # With build isolation, as `pip wheel .` has it, and a build folder of its own, so that nothing is left over. Not
    # optimised, which would take many times as long.
    levels = ["plain"] if cpu.levels() == ["plain"] else list(LEVELS[::-1])
    settings = [f"build-dir={tmp_path / 'build'}", f"cmake.define.PEGASOS_LEVELS={';'.join(levels)}"]
    settings += ["cmake.build-type=Debug", "cmake.define.CMAKE_CXX_FLAGS_DEBUG=-O0"]
    options = [option for setting in settings for option in ("-C", setting)]
    call(sys.executable, "-m", "pip", "wheel", "--no-deps", *options, "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("pegasos-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("pegasos/py.typed", "pegasos/_core/native.pyi", "pegasos/_core/cpu.pyi"):
        assert part in names
    for level in levels:
        assert any(name.startswith(f"pegasos/_core/{level}.") for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)

    call(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    call(python, "-m", "pip", "install", wheel)
    objectives = []
    for level in cpu.levels():
        told = call(python, "-c", TRAIN, PEGASOS_ISA=level, PYTHONPATH="")
        assert f"core: {level} " in told
        objectives.append(float(told.splitlines()[-1]))
    assert objectives == pytest.approx([objectives[0]] * len(objectives), rel=1e-12)
    assert "train" in call(tmp_path / "venv" / "bin" / "pegasos", "--help", PYTHONPATH="")
