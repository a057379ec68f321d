# each target does its own set-up; PYTHON names the interpreter (3.11 or newer)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# two processes; one that has nothing left takes tests from the other
WORKERS := -n 2 --dist worksteal
.PHONY: setup dev deep spark sdgym peers app test test-all check bench audit mutants screenshots dist docs browser sbom lock clean

setup: $(VENV)/.run
dev: $(VENV)/.dev

# pip checks every file against the hashes of the lock; the project itself is installed in place
$(VENV)/.run: requirements/run.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	touch $@

# torch for the deep systems, beside what `setup` or `dev` installed. pip takes torch from where it takes all else: where
# that offers builds for CUDA alone, name an index of CPU builds in PIP_EXTRA_INDEX_URL
deep: $(VENV)/.deep

# after `dev` where there is one: both locks pin mpmath, and torch needs the older
$(VENV)/.deep: requirements/deep.lock $(VENV)/.run $(wildcard $(VENV)/.dev)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/deep.lock
	touch $@

# pyspark, for tables on a cluster; its executors need a Java runtime beside it (Debian: default-jre-headless)
spark: $(VENV)/.spark

$(VENV)/.spark: requirements/spark.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/spark.lock
	touch $@

# SDGym in an environment of its own: what it needs contradicts the other locks. The engine is read from here
sdgym: $(VENV)/.sdgym

$(VENV)/.sdgym: requirements/sdgym.lock $(VENV)/.run
	$(PYTHON) -m venv $(VENV)/sdgym
	$(VENV)/sdgym/bin/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements/sdgym.lock
	touch $@

# others' systems, each in an environment of its own, for `python -m benchmarks.peers.run`; dpmm needs Python 3.11
PEERS := $(patsubst benchmarks/peers/%.txt,$(VENV)/peers/%/.made,$(wildcard benchmarks/peers/*.txt))
peers: dev $(PEERS)

$(VENV)/peers/%/.made: benchmarks/peers/%.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --no-deps --disable-pip-version-check -r $<
	touch $@

app: setup
	$(BIN)/dpsyn app

# what needs Python alone, in minutes; its last lines name what was left out
test: dev
	$(BIN)/python -m pytest $(WORKERS) --quick

# everything; a missing Chromium, PostgreSQL server or Java runtime is a failure. A test in a browser that fails is tried a
# second time and counted as "rerun", nothing else is (tests/tried_again.py): noise takes no seed, so every test of it
# states how often it fails by chance
test-all: dev deep spark sdgym
	$(BIN)/python -m pytest $(WORKERS) --complete

check: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tools.vulnerabilities $(UNCHECKED)

bench: dev
	$(BIN)/python -m benchmarks.run

audit: dev
	$(BIN)/python -m benchmarks.audit

# 60 small faults, one at a time, and whether the nearest tests see them; hours on two cores where they are all tried
mutants: dev
	$(BIN)/python -m benchmarks.mutants

screenshots: dev
	$(BIN)/python -m tools.screenshots

# wheel and sdist, built twice: the bytes must be the same
dist: setup
	$(BIN)/python -m tools.dist

# the site, into build/site; nothing is fetched while it is built or read
docs: $(VENV)/.docs
	$(BIN)/python -m mkdocs build --strict --quiet

$(VENV)/.docs: requirements/docs.lock $(VENV)/.run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/docs.lock
	touch $@

# the labs as a static folder, build/browser; WHEELS names a folder of Pyodide's packages (docs/install.md)
browser: setup
	$(BIN)/python -m tools.browser $(if $(WHEELS),--wheels $(WHEELS))

sbom: dev
	$(BIN)/python -m tools.sbom

# resolves anew; the locks name no host. requirements/deep.lock, requirements/spark.lock and requirements/sdgym.lock are
# kept by hand (docs/decisions/project.md)
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra app --extra build --extra codebooks --extra databases --extra excel --extra login -o requirements/run.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra app --extra excel --extra pgm --extra boost --extra databases --extra polars --extra login --extra codebooks --extra build --extra dev -o requirements/dev.lock pyproject.toml
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --extra docs --constraint requirements/dev.lock -o requirements/docs.lock pyproject.toml

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
