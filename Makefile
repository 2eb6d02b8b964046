# Everything here needs python3 (3.11 to 3.13) and make, and brings the rest itself.
# Each target ends with a one-line tally.

PYTEST := .venv/bin/python -m pytest -q
# Most tests wait for processes and clocks, so there are more at once than the two cores of CI.
SIDE_BY_SIDE := -n 3 --dist loadgroup
export PYTHON

.PHONY: app fleet test check e2e pictures faults soak conformance peers bench eval wire page constraints clean

app: page                ## open the page on a sample warehouse
	@.venv/bin/awhile app

test: page               ## all that CI runs: the gates, then every test, even if a gate failed
	@scripts/set-up browser || [ -z "$$CI" ]
	@scripts/set-up proxy || [ -z "$$CI" ]
	@scripts/set-up postgres || [ -z "$$CI" ]
	@scripts/set-up mariadb || [ -z "$$CI" ]
	@scripts/gates; gates=$$?; $(PYTEST) $(SIDE_BY_SIDE) && exit $$gates

check: page              ## lint, format, types, import directions, module size, the page's units
	@scripts/gates

e2e: page                ## the page in a real browser: also what takes too long for every run
	@scripts/set-up browser
	@$(PYTEST) -m "long or not long" tests/e2e

peers:                   ## clients and servers of other projects, in both eras
	@scripts/set-up venv
	@$(PYTEST) -m peers tests

fleet:                   ## two replicas and two workers on one store, to try what happens to them
	@scripts/set-up venv
	@.venv/bin/python -m examples.fleet

faults:                  ## kill, freeze, fill, lock and cut: also what takes too long for every run
	@scripts/set-up venv
	@scripts/set-up postgres
	@scripts/set-up mariadb
	@$(PYTEST) $(SIDE_BY_SIDE) -m "long or not long" tests/faults && \
		$(PYTEST) $(SIDE_BY_SIDE) -m long tests --ignore=tests/faults --ignore=tests/e2e

SECONDS := 120
STORES := sqlite postgres
soak:                    ## random faults and load for SECONDS=120 on each of STORES, again with SEED=
	@scripts/set-up venv
	@scripts/set-up postgres
	@for store in $(STORES); do .venv/bin/python -m tests.faults.soak --store $$store \
		--seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) || exit 1; done

conformance:             ## the official MCP suite: its tasks scenarios and all of 2026-07-28
	@scripts/set-up venv
	@$(PYTEST) -m conformance tests/interaction

bench:                   ## how fast all is, beside its peers (QUICK=1: two minutes, not ten; ENGINES=1: databases)
	@scripts/set-up venv
	@[ -z "$(ENGINES)" ] || { scripts/set-up postgres; scripts/set-up mariadb; }
	@QUICK=$(QUICK) ENGINES=$(ENGINES) scripts/bench

eval:                    ## translators against questions with known answers, into docs/questions.md (GGUF=path, MODEL=provider:name)
	@scripts/set-up venv
	@.venv/bin/python -m benchmarks.questions --page $(if $(GGUF),--model 'gguf:$(GGUF)',$(if $(MODEL),--model '$(MODEL)')) $(EVAL)

wire:                    ## record anew what docs/wire.md shows
	@scripts/set-up venv
	@.venv/bin/python -m examples.wire.page > docs/wire.md
	@echo "wire: docs/wire.md is recorded"

page:                    ## the page alone, built from web/
	@scripts/set-up page

pictures: page           ## every state of the page, as docs/images shows it
	@scripts/set-up browser
	@.venv/bin/python -m tests.e2e.pictures

constraints:             ## pin anew what a fresh install resolves to
	@scripts/pin

clean:
	rm -rf .venv web/node_modules src/awhile/ask/web/static
