# Everything Clerk needs is made here: `make demo` to see it, `make test` to prove it. `make` alone lists the rest.

SHELL := /bin/sh
BIN := .venv/bin
STAMP := .venv/.installed
DEMO_STAMP := .venv/.installed-demo
# Private ones whatever the environment says: the tests empty their queue and the demo fills its own.
PRIVATE := env -u DATABASE_URL -u REDIS_URL -u STORAGE_DIR -u DEPLOY_DIR CLERK_ENV_FILE=
WITH_SERVICES := $(PRIVATE) scripts/with-services
# For commands that only load the settings.
QUIET_SETTINGS := CLERK_ENV_FILE= DEBUG=1 DATABASE_URL=sqlite://:memory:

.DEFAULT_GOAL := help
.PHONY: help env browser demo legacy-demo long-takeover test lint bench chaos machines mutants clean

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-11s %s\n' "$$name" "$$text"; done

env: $(STAMP)  ## create .venv and install everything: what the demo, the tests and the checks need

$(BIN)/python:
	@python=$$(scripts/find-python) || exit 1; \
	"$$python" -m venv .venv || { \
		echo "make: $$python cannot create an environment; on Debian: apt-get install python3-venv" >&2; \
		rm -rf .venv; exit 1; }

# Two stamps: a first look needs a third of the packages.
$(DEMO_STAMP): requirements.txt requirements-demo.txt constraints.txt | $(BIN)/python
	@$(BIN)/python scripts/install-packages requirements-demo.txt
	@touch $@

$(STAMP): requirements.txt requirements-demo.txt requirements-extras.txt requirements-dev.txt constraints.txt | $(BIN)/python
	@$(BIN)/python scripts/install-packages requirements-dev.txt
	@ln -sf ../../scripts/clerk $(BIN)/clerk
	@touch $(DEMO_STAMP) $@

browser:  ## install Chromium for the browser tests, where that is allowed
	@scripts/install-browser

demo: $(DEMO_STAMP)  ## bring up a made-up city, run the pipeline over it, show the result (ONCE=1: end after the summary)
	@$(WITH_SERVICES) --sqlite $(BIN)/python -m demo $(if $(filter-out 0,$(ONCE)),--once)

legacy-demo: $(DEMO_STAMP)  ## the old system on its worst day, taken over before your eyes
	@$(WITH_SERVICES) $(BIN)/python -m demo.legacy

long-takeover: env  ## the move of 300 sites by the guide, killed at every step, and every way back; an hour (SITES=)
	TAKEOVER_SITES=$(or $(SITES),300) $(WITH_SERVICES) $(BIN)/pytest -q \
		tests/migrations/test_whole_installation.py tests/migrations/test_way_back.py

test: env lint browser  ## lint, then the whole suite on real services (ARGS="-k name" for a part of it)
	$(if $(ARGS),$(WITH_SERVICES) $(BIN)/pytest $(ARGS),$(PRIVATE) $(BIN)/python scripts/suite.py)

lint: env  ## format, style, types, migrations, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(QUIET_SETTINGS) $(BIN)/mypy .
	$(QUIET_SETTINGS) $(BIN)/python manage.py makemigrations --check --dry-run
	$(QUIET_SETTINGS) $(BIN)/pytest -q --noconftest tests/test_layers.py

bench: env  ## measure; prints a table and writes var/bench.json (ONLY=ocr for one benchmark)
	$(WITH_SERVICES) $(BIN)/python -m benchmarks $(ONLY)

chaos: env  ## break things on purpose and check that nothing is lost (SEED= SITES= DOCS= SECONDS= MODE=)
	$(BIN)/python scripts/chaos $(if $(SEED),--seed $(SEED)) $(if $(SITES),--sites $(SITES)) \
		$(if $(DOCS),--docs $(DOCS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(MODE),--mode $(MODE))

machines: env  ## several worker machines that lose one another, their storage, their clock (SITES= DOCS=)
	MACHINES_SITES=$(or $(SITES),5) MACHINES_DOCUMENTS=$(or $(DOCS),8) $(WITH_SERVICES) $(BIN)/pytest -q tests/machines

mutants: env  ## take the guards of the state rooms out one by one; do the tests notice? (ONLY=words of a name)
	$(WITH_SERVICES) $(BIN)/python scripts/mutants.py $(ONLY)

clean:  ## remove caches and what the demo and the benchmarks left; your own data in var/ stay
	rm -rf var/demo var/bench.json staticfiles .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
