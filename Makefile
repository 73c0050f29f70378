# `make demo` and `make test` do all set-up themselves: a virtual environment, the build, the installation.
# They need Python >= 3.11, a C++20 compiler and PyPI. A second call does not install again until a source changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
SOURCES := pyproject.toml CMakeLists.txt $(CPP) $(shell find src -name '*.py' -o -name 'py.typed')

.PHONY: demo test test-slow test-oldest lint install docs bench fuzz audit cross wheel clean

demo: $(VENV)/built
	$(BIN)/pegasos demo

test: lint
	$(BIN)/python -m pytest -n 2 --pyargs tests pegasos README.md docs

# What takes longer: all builds of the core in a wheel, the benchmarks at a tiny size, an audit.
test-slow: install
	$(BIN)/pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python -m pytest -n 2 -m slow tests
	$(BIN)/python -m tests.audit --certificates 20000 --processes 2

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	rm -rf $(VENV)/typed && mkdir $(VENV)/typed && cp -r $(VENV)/lib/python*/site-packages/pegasos $(VENV)/typed/
	cd $(VENV)/typed && ../bin/mypy --config-file ../../pyproject.toml -p pegasos  # a copy: with the generated stubs

docs: install
	$(BIN)/pip install --quiet --disable-pip-version-check ".[docs]" --no-build-isolation
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

bench: install
	for script in reader epoch steps import_time memory threads scaling linear exact path dask_fit multiclass kernel predict sequence stream reproduce_s3 reproduce_s4; do $(BIN)/python benchmarks/$$script.py || exit 1; done

# Hostile input against the core, once with a look at memory and once at threads.
fuzz:
	mkdir -p build
	$(CXX) -std=c++20 -O1 -g -march=x86-64-v3 -fsanitize=address,undefined -fno-sanitize-recover=all -Icpp cpp/fuzz/svmlight.cpp -o build/fuzz -pthread
	build/fuzz 1 10000
	$(CXX) -std=c++20 -O1 -g -fsanitize=thread -Icpp cpp/fuzz/svmlight.cpp -o build/fuzz -pthread
	build/fuzz 2 2000

# Tens of thousands of certificates of random fits against an evaluation in long double; takes some minutes.
CERTIFICATES ?= 50000
SEED ?= 1
audit: install
	$(BIN)/python -m tests.audit --certificates $(CERTIFICATES) --seed $(SEED) --processes 2

# The oldest versions of what the package depends on, as pyproject.toml has them; arguments to pytest in TESTS.
TESTS ?= tests/base tests/linear tests/kernel tests/sequence tests/cli tests/io
test-oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	build/oldest/bin/python -m tests.package.oldest > build/oldest/oldest.txt
	build/oldest/bin/pip install --quiet --disable-pip-version-check --no-build-isolation -c build/oldest/oldest.txt . pytest pytest-xdist
	build/oldest/bin/python -m pytest -n 2 $(TESTS)

# The core for other systems, compiled and not run.
cross: install
	$(BIN)/pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python -m tests.package.cross

# What would be published, in dist/: built, checked, and tried with each Python that is found.
wheel:
	$(PYTHON) -m tests.package.wheels

install: $(VENV)/installed

$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.26" ninja
	touch $@

# Without build isolation, so that a second build compiles only what changed.
PIP_INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation -C cmake.define.PEGASOS_WERROR=ON

$(VENV)/built: $(VENV)/tools $(SOURCES)
	$(PIP_INSTALL) .
	touch $@

$(VENV)/installed: $(VENV)/tools $(SOURCES)
	$(PIP_INSTALL) ".[dev]"
	touch $(VENV)/built $@

clean:
	rm -rf build dist $(VENV) docs/_build
