# `make demo` and `make test` need Python 3.11+ with venv, make and a package index; nothing else.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV   ?= .venv
JOBS   ?= 2
ARGS    =
FILE    =
DATA    =

BIN  := $(VENV)/bin
PIP  := $(BIN)/python -m pip --disable-pip-version-check --quiet
BASE := $(VENV)/.base
DEV  := $(VENV)/.dev
NPM  := $(VENV)/.npm

# Directories that hold Python; the runnable benchmarks among them.
CODE    := $(foreach dir,src tests bench,$(if $(wildcard $(dir)/*.py $(dir)/*/*.py),$(dir)))
BENCHES ?= $(basename $(notdir $(shell grep -ls '^if __name__ ==' bench/*.py)))

.PHONY: help demo run test test-long check format bench screenshots lock clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(BASE)  ## the tour: no key, no server; FILE=conversation.jsonl takes your own
	@$(BIN)/memstrata demo $(if $(FILE),"$(FILE)") $(ARGS)

run: $(BASE)  ## the command line: make run ARGS="search nomad"
	@$(BIN)/memstrata $(or $(ARGS),--help)

test: $(DEV) $(NPM)  ## the tests, without the long ones; ARGS go to pytest
	$(BIN)/pytest -n $(JOBS) $(ARGS)

test-long: $(DEV)  ## state machine, kill runs, a million rows
	$(BIN)/pytest -n $(JOBS) -m long --timeout 1800 $(ARGS)

check: $(DEV)  ## lint, format, types, imports, lock
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)
	@# ruff cannot see that a variable is an agent; a thread's to_thread.run_sync is fine.
	@! grep -rnE '\.run_sync\(' --include='*.py' $(filter-out tests,$(CODE)) | grep -vE '(to|from)_thread\.run_sync\('
	$(BIN)/mypy $(CODE)
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m pip --disable-pip-version-check check
	@! grep -nE 'https?://' requirements/*.txt

format: $(DEV)  ## ruff format and the safe fixes
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

bench: $(DEV)  ## the benchmarks; DATA=path for your own data, BENCHES="speed" for some
	@test -n "$(strip $(BENCHES))" || { echo "bench/ holds no benchmark yet"; exit 1; }
	@for name in $(BENCHES); do \
		echo "== $$name"; \
		$(BIN)/python -m "bench.$$name" $(if $(DATA),--data "$(DATA)") $(ARGS) || exit 1; \
	done

screenshots: $(DEV)  ## every page of the panel, light and dark, into docs/images
	MEMSTRATA_EMBEDDING__MODEL=none $(BIN)/python -m tests.panel.screenshots docs/images

# uv resolves for all platforms at once; it is only needed here, so it is not locked itself.
LOCK = $(BIN)/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-emit-index-url
lock: export UV_CUSTOM_COMPILE_COMMAND = make lock
lock: $(BASE)  ## requirements/*.txt from pyproject.toml; ARGS="--upgrade" for newer versions
	$(PIP) install 'uv>=0.8,<1'
	$(LOCK) $(ARGS) pyproject.toml --group dev -o requirements/dev.txt
	$(LOCK) $(ARGS) pyproject.toml -c requirements/dev.txt -o requirements/base.txt
	$(LOCK) $(ARGS) --group build -c requirements/dev.txt -o requirements/build.txt
	@! grep -nE 'https?://' requirements/*.txt

clean:  ## the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

$(BASE): pyproject.toml requirements/base.txt requirements/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "memstrata needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)."; \
		echo "Name another one: make PYTHON=python3.12 …"; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -m pip --version >/dev/null 2>&1 \
		|| $(PYTHON) -m venv --clear $(VENV) || { \
		echo "$(PYTHON) cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 1; }
	$(PIP) install --require-hashes --only-binary :all: -r requirements/base.txt
	$(PIP) install --require-hashes --only-binary :all: -r requirements/build.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(BASE) requirements/dev.txt
	$(PIP) install --require-hashes --only-binary :all: -r requirements/dev.txt
	@touch $@

# The real Mermaid, for tests of what we draw for it; they are skipped, and say so, without npm.
$(NPM): tests/mermaid/package.json tests/mermaid/package-lock.json
	@mkdir -p $(VENV)/npm && cp $^ $(VENV)/npm
	@if command -v npm >/dev/null && (cd $(VENV)/npm && npm ci --ignore-scripts --no-audit --no-fund --silent); \
	then touch $@; else echo "npm could not install Mermaid: its tests will be skipped"; fi
