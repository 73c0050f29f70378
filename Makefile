# `make demo` and `make test` do all set-up themselves: a virtual environment, the build, the installation.
# They need Python >= 3.11, a C++20 compiler and PyPI. A second call does not install again until a source changes.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp')
SOURCES := pyproject.toml CMakeLists.txt $(CPP) $(shell find src -name '*.py' -o -name 'py.typed' -o -name '*.json' -o -name '*.css' -o -name '*.js')

.PHONY: demo test test-slow test-oldest lint install docs bench reproduce fuzz sanitize audit faults cross wheel clean

demo: $(VENV)/built
	$(BIN)/pegasos demo

test: lint
	$(BIN)/python -m pytest -n 2 --pyargs tests pegasos README.md docs

# What takes longer: the documentation, all builds of the core in a wheel, the benchmarks at a tiny size, an audit.
test-slow: install docs
	$(BIN)/pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python -m pytest -n 2 -m slow -o faulthandler_timeout=2400 tests  # two of them compile the core
	$(BIN)/python -m tests.audit --certificates 20000 --processes 2

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	rm -rf $(VENV)/typed && mkdir $(VENV)/typed && cp -r $(VENV)/lib/python*/site-packages/pegasos $(VENV)/typed/
	cd $(VENV)/typed && ../bin/mypy --config-file ../../pyproject.toml -p pegasos  # a copy: with the generated stubs

# Runs the examples, sets the pages, and fails where a page would load something from the network.
docs: install
	$(BIN)/pip install --quiet --disable-pip-version-check ".[docs]" --no-build-isolation
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

# Beside other packages, then what has a script of its own; PEGASOS_DATA names a folder of real data.
OTHERS := reader epoch steps import_time memory threads scaling path dask_fit predict sequence stream choices
bench: install
	$(BIN)/pip install --quiet --disable-pip-version-check ".[bench]" --no-build-isolation
	-$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(VENV)/liblinear-multicore liblinear-multicore
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/plot.py benchmarks/results/run.json
	for script in $(OTHERS); do $(BIN)/python benchmarks/$$script.py || exit 1; done

# The tables and figures of the papers, beside what was published; hours, and goes on where an earlier call ended.
# ARGUMENTS may be --quick, --smoke, or names such as "s0 s4_fig2". PEGASOS_DATA names a folder of real data.
reproduce: install
	$(BIN)/pip install --quiet --disable-pip-version-check ".[plot]" --no-build-isolation
	$(BIN)/python -m reproduce $(ARGUMENTS)
	$(BIN)/python docs/tables.py

# Hostile files against every reader, so many seconds each (or TARGETS alone); needs clang for those in C++.
FUZZ_SECONDS ?= 60
fuzz: install
	-$(BIN)/pip install --quiet --disable-pip-version-check --only-binary :all: atheris
	$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS) $(TARGETS)

# The tests of the core under sanitizers: memory and undefined behaviour, then threads. Arguments to pytest in WATCHED.
sanitize: install
	$(BIN)/python -m tests.package.sanitize address $(WATCHED)
	$(BIN)/python -m tests.package.sanitize thread $(WATCHED)

# Tens of thousands of certificates of random fits against an evaluation in long double; takes some minutes.
CERTIFICATES ?= 50000
SEED ?= 1
audit: install
	$(BIN)/python -m tests.audit --certificates $(CERTIFICATES) --seed $(SEED) --processes 2

# Changed files, broken arrays, full disks, kills: more than 100,000, and what came of them; takes some twenty minutes.
faults: install
	$(BIN)/python -m tests.faults --json docs/reliability.json
	$(BIN)/python docs/tables.py

# The oldest versions of what the package depends on, as pyproject.toml has them; arguments to pytest in TESTS.
TESTS ?= tests/base tests/linear tests/kernel tests/sequence tests/cli tests/io
test-oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	build/oldest/bin/python -m tests.package.oldest > build/oldest/oldest.txt
	build/oldest/bin/pip install --quiet --disable-pip-version-check --no-build-isolation -c build/oldest/oldest.txt ".[arrow]" pytest pytest-xdist pandas
	build/oldest/bin/python -m pytest -n 2 $(TESTS)

# The core for other systems, compiled and not run.
cross: $(VENV)/tools
	$(BIN)/pip install --quiet --disable-pip-version-check ziglang
	$(BIN)/python -m tests.package.cross

# What would be published, in dist/: built, checked, and tried with each Python that is found.
wheel:
	$(PYTHON) -m tests.package.wheels

install: $(VENV)/installed

$(VENV)/tools: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.26" ninja "setuptools>=77"
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
	rm -rf build dist $(VENV) docs/_build docs/auto_examples docs/api
