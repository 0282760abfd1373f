# Everything a person or CI does here. Needs Python 3.11 or newer and make; the rest goes into .venv.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links $(LOCK_FLAGS)

.PHONY: run test check bench format lock setup clean frontend frontend-check

# Set up, migrate, make the demo on the first start, and serve on 127.0.0.1:$PORT (8000).
run: .venv/.base frontend
	@exec $(BIN)/python manage.py serve --prepare

# Every test; needs nothing else to be running.
test: .venv/.dev
	@$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadgroup

# What CI runs.
check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run
	@STUDIO_PRODUCTION=true STUDIO_SECRET_KEY=$$($(BIN)/python -c 'import secrets; print(secrets.token_hex(32))') \
		STUDIO_HOSTS=studio.example.com STUDIO_TRUSTED_PROXIES=1 \
		$(BIN)/python manage.py check --deploy --fail-level WARNING
	@$(MAKE) --no-print-directory frontend-check
	@$(MAKE) --no-print-directory test

bench: .venv/.dev
	@$(BIN)/python -m bench

format: .venv/.dev
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .

# The pages' scripts and styles, built with Node (the system's or a wheel's) when their sources are newer.
frontend: static/dist/.built

FRONTEND_SOURCES := $(shell find frontend/src frontend/styles -type f) frontend/build.mjs
static/dist/.built: frontend/node_modules/.installed $(FRONTEND_SOURCES)
	@frontend/run.sh run --silent build
	@touch $@

frontend/node_modules/.installed: frontend/package-lock.json
	@echo "Installing the front end's packages, once…"
	@frontend/run.sh ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Types, tests and size of the pages' scripts.
frontend-check: frontend
	@frontend/run.sh run --silent check
	@frontend/run.sh run --silent test
	@frontend/run.sh run --silent size

# All that `run` needs, without running.
setup: .venv/.base frontend

# Pins and hashes, without download addresses. Newer versions: make lock LOCK_FLAGS=--upgrade
lock: .venv/.dev
	$(PIP) uv
	$(LOCK) requirements/dev.in -o requirements/dev.txt
	for name in base postgres redis node; do \
		$(LOCK) requirements/$$name.in -c requirements/dev.txt -o requirements/$$name.txt || exit 1; done

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf frontend/node_modules static/dist frontend/dist-tests
	find . -name __pycache__ -not -path './node_modules/*' -prune -exec rm -rf {} +

# A stamp is newer than the list it was installed from, so a second run installs nothing.
.venv/.base: requirements/base.txt
	@$(MAKE) --no-print-directory install LIST=base

.venv/.dev: requirements/dev.txt
	@$(MAKE) --no-print-directory install LIST=dev

.PHONY: install
install:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Studio needs Python 3.11 or newer. Name it: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv .venv
	@echo "Installing requirements/$(LIST).txt into .venv, about a minute the first time…"
	@$(PIP) --require-hashes -r requirements/$(LIST).txt
	@touch .venv/.$(LIST)
