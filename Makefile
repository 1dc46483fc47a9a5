# Everything a newcomer needs: `make demo`, `make test`. Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo serve docs example evaluate test lint format bench searches calibrate power adaptive discovery crash
.PHONY: audit sbom overload commands clean adversary holds stories verdicts people groups lives weeks service-crash service-kills simulate contract ingest

$(VENV)/.installed: pyproject.toml packages/fairtest-client/pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "FairTest needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --editable packages/fairtest-client
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

demo: $(VENV)/.installed ## the main job on data it makes itself
	$(BIN)/fairtest demo --out demo-report

serve: $(VENV)/.installed ## the monitoring service with a made-up application that goes on deciding; make serve AGAIN=1 begins again
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[service]'
	$(BIN)/python -m examples.service $(if $(AGAIN),--again) $(if $(PORT),--port $(PORT))

FOLDERS = $(if $(DATA),--data $(DATA)) $(if $(MOVIES),--movies $(MOVIES))

$(VENV)/.installed-examples: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group examples
	@touch $@

example: $(VENV)/.installed-examples ## one of the paper's workloads: make example NAME=berkeley (healthcare, adult, staples, …)
	$(BIN)/python -m examples.$(or $(NAME),berkeley) $(FOLDERS) --out example-report

evaluate: $(VENV)/.installed-examples ## all of them, beside the paper's numbers: make evaluate DATA=folder MOVIES=folder; writes docs/evaluation
	$(BIN)/python -m evaluation $(FOLDERS)

# one process a core, each of which has one thread for its small matrices: threads that wait for each other cost a fifth
test: lint ## lint, types, layers, doctests, tests and the documentation
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

commands: $(VENV)/.installed ## every command and option; writes docs/commands.md
	$(BIN)/python -m docs.manual > docs/commands.md

docs: $(VENV)/.installed-dev ## the documentation, in docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.installed-dev .venv-bench/.installed ## against other tools and a yardstick; docs/benchmarks.md; QUICK=1 for a small one
	$(BIN)/python -m benchmarks --peers .venv-bench/bin/python $(if $(QUICK),--quick,--out docs)

.venv-bench/.installed: benchmarks/requirements.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --requirement benchmarks/requirements.txt
	@touch $@

searches: $(VENV)/.installed-dev ## guided, exhaustive and unguided search by candidates looked at; writes docs/searches.md
	$(BIN)/python -m benchmarks.searches

calibrate: $(VENV)/.installed-dev ## level, coverage and whole null runs; writes docs/calibration.md
	$(BIN)/python -m calibration --jobs 2

power: $(VENV)/.installed-dev ## how many planted contexts are reported
	$(BIN)/python -m calibration.power narrow
	$(BIN)/python -m calibration.power wide

adaptive: $(VENV)/.installed-dev ## questions made from answers, on one test set; writes docs/adaptive.md
	$(BIN)/python -m calibration.adaptive

discovery: $(VENV)/.installed-dev ## planted labels, and labels that are noise; tags with DATA=image_tags_caffe.csv.gz
	$(BIN)/python -m calibration.discovery planted --runs 20
	$(BIN)/python -m calibration.discovery noise --runs 200
	$(if $(DATA),$(BIN)/python -m calibration.discovery tags --runs 100 --data $(DATA))

adversary: $(VENV)/.installed-dev ## look for null designs with too many findings: make adversary MINUTES=30; writes docs/adversary.md
	$(BIN)/python -m calibration.adversary --minutes $(or $(MINUTES),30)

holds: $(VENV)/.installed-dev ## the designs in which tests once broke, again; writes docs/holds.md
	$(BIN)/python -m calibration.holds --runs 200 --jobs 2 --page docs/holds.md $(if $(COUNTS),--counts $(COUNTS))

stories: $(VENV)/.installed-dev ## do reports name just the contexts that were planted? then the same with rare groups and outputs
	$(BIN)/python -m calibration.stories --seeds 30 --first 1000 --jobs 2 $(if $(RESULTS),--results $(RESULTS))
	$(BIN)/python -m calibration.stories --rare --seeds 30 --first 1000 --jobs 2

verdicts: $(VENV)/.installed-dev ## small data: what is confirmed, and what is found where there is nothing; census with DATA=adult.csv
	$(BIN)/python -m calibration.verdicts small --seeds 7 --jobs 2
	$(BIN)/python -m calibration.verdicts null --seeds 300 --jobs 2 $(if $(RESULTS),--results $(RESULTS))
	$(if $(DATA),$(BIN)/python -m calibration.verdicts adult --seeds 20 --data $(DATA))

lives: $(VENV)/.installed-dev ## monitors that live for a year: false alarms, delays, claims; LIVES=20 for a short one, two hours
	$(BIN)/python -m calibration.lives null --first 100 --lives $(or $(LIVES),900)
	$(BIN)/python -m calibration.lives search --lives $(or $(LIVES),100)
	$(BIN)/python -m calibration.lives delays --lives $(or $(LIVES),100)
	$(BIN)/python -m calibration.lives claims --lives $(or $(LIVES),100)
	$(BIN)/python -m calibration.forms --lives $(or $(LIVES),200)

weeks: $(VENV)/.installed-dev ## weeks of daily reports without bias, seven tests each: how many say something false; WEEKS=20 for a short one
	$(BIN)/python -m calibration.weeks --weeks $(or $(WEEKS),200)

people: $(VENV)/.installed-dev ## several rows a person and survey weights: runs without links, coverage, power
	$(BIN)/python -m calibration.people null --seeds 60
	$(BIN)/python -m calibration.people coverage --seeds 200
	$(BIN)/python -m calibration.people weights --seeds 200
	$(BIN)/python -m calibration.people power --seeds 30

groups: $(VENV)/.installed-dev ## several groups, medians and ratios: coverage, and whole runs with something false; docs/groups.md
	$(BIN)/python -m calibration.groups cover --runs 400
	$(BIN)/python -m calibration.groups false --runs 300
	$(BIN)/python -m calibration.groups cover-rows --runs 400
	$(BIN)/python -m calibration.groups false-rows --runs 300
	$(BIN)/python -m calibration.numbers --rows --runs 1000
	$(BIN)/python -m calibration.numbers --runs 2000

# what a service runs with, and nothing else: without the libraries of tests and documentation
.venv-service/.installed: pyproject.toml packages/fairtest-client/pyproject.toml
	$(PYTHON) -m venv .venv-service
	.venv-service/bin/python -m pip install --quiet --disable-pip-version-check '.[service,arrow,s3,telemetry]' ./packages/fairtest-client
	@touch $@

.venv-supply/.installed:
	$(PYTHON) -m venv .venv-supply
	.venv-supply/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.9' 'cyclonedx-bom>=7.0'
	@touch $@

audit: .venv-service/.installed .venv-supply/.installed ## known vulnerabilities in the libraries of the service; needs the network
	.venv-supply/bin/pip-audit --path "$$(.venv-service/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" --progress-spinner off

sbom: .venv-service/.installed .venv-supply/.installed ## the libraries of the service with versions, licences and hashes: sbom.json (CycloneDX)
	.venv-supply/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type application --output-reproducible \
		--spec-version 1.6 --output-file sbom.json .venv-service/bin/python

crash: $(VENV)/.installed-dev ## processes killed at 50 moments: the ledger agrees with what was shown
	$(BIN)/python -m calibration.crashes --kills 50

service-crash: $(VENV)/.installed-dev ## the service killed at 50 moments on each database: what was acknowledged is there once
	$(BIN)/python -m calibration.service_crashes --kills $(or $(KILLS),50)

service-kills: $(VENV)/.installed-dev ## server and worker killed at 50 moments while clients send over HTTP, on each database
	$(BIN)/python -m calibration.faults.kills --kills $(or $(KILLS),50)

overload: $(VENV)/.installed-dev ## a hundred senders without a pause, on each database: refused, memory flat, nothing lost
	$(BIN)/python -m calibration.faults.overload

simulate: $(VENV)/.installed-dev ## the service simulated from many seeds: make simulate SEEDS=200000; again: make simulate SEED=17
	$(BIN)/python -m calibration.simulation $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),20000))

contract: $(VENV)/.installed-dev ## schemathesis on every operation of the interface: make contract CASES=100
	$(BIN)/python -m calibration.faults.contract --cases $(or $(CASES),100)

ingest: $(VENV)/.installed-dev ## how fast the service takes records, beside a bare script: make ingest SECONDS=60
	$(BIN)/python -m benchmarks.ingest --seconds $(or $(SECONDS),60)

clean:
	rm -rf $(VENV) .venv-bench demo-report demo-service example-report docs/_build
