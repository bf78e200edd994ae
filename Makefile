# SPDX-License-Identifier: GPL-2.0-or-later
# Each target prints what it does; `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
BIN := .venv/bin
# A change in the C core rebuilds the extension. A Python file that was added, removed or moved does,
# too: the editable installation knows the place of each module.
CORE := $(shell find corelib -name '*.[ch]' -o -name CMakeLists.txt -o -name '*.py')
PACKAGES := $(shell find swapsim corelib/src corelib/include -type d -not -name __pycache__)
C_SOURCES := $(shell find corelib data/capture tests -name '*.[ch]')
TEXTS := swapsim corelib tests data/capture README.md SECURITY.md CONTRIBUTING.md patches notebooks
# Ignored: data, names of files and metrics, and the base64 text of images in notebooks.
CODESPELL = $(BIN)/codespell --skip '*.parquet,*.csv,*.cocci,*/fuzz/corpus/*' \
    --ignore-words-list simpy \
    --ignore-regex '[A-Za-z0-9+/]{50,}={0,2}|\bworld\.csv|\.tell\(\)|beside (it|the pool)\b'
PIP = $(BIN)/python -m pip --disable-pip-version-check
CMAKE = PATH="$(CURDIR)/$(BIN):$$PATH" cmake
# The C tests and the attacks share one build: of gcc, whose sanitizers can be loaded into Python.
SANITIZED := build/ctest
SANITIZE = -S corelib -B $(SANITIZED) -G Ninja -DSWAPCORE_SANITIZE=ON \
    $(if $(shell command -v gcc),-DCMAKE_C_COMPILER=gcc)
FUZZERS ?= $(patsubst corelib/fuzz/fuzz_%.c,%,$(wildcard corelib/fuzz/fuzz_*.c))
FUZZ_SECONDS ?= 60
FUZZ_UNTIL ?= -max_total_time=$(FUZZ_SECONDS)
# A process that may not write bytecode compiles all that it imports, and tests start hundreds.
unexport PYTHONDONTWRITEBYTECODE
say = @printf '\n== %s\n' "$(1)"

.DEFAULT_GOAL := help
.PHONY: help setup report test test-c test-style test-python lab bench fuzz analyse torture wasm notebooks simulate capture measure format lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-12s %s\n", $$1, $$2}'

setup: build/setup.stamp build/core.stamp ## make .venv with everything that the project needs

build/setup.stamp: requirements.lock
	$(call say,virtual environment .venv and its locked packages)
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else "Python 3.11 to 3.13 is needed, this is %d.%d: set PYTHON=" % v)'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "Python's venv is needed: install python3-venv" >&2; exit 2; }
	@test -e "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h" || \
	    { echo "Python's headers are needed: install python3-dev" >&2; exit 2; }
	@command -v cc >/dev/null || { echo 'a C compiler is needed: install gcc or clang' >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@mkdir -p build
	@awk '/^uv==/ { on = 1 } on { print } on && !/\\$$/ { exit }' requirements.lock > build/uv.lock
	$(PIP) install --quiet --require-hashes --no-deps -r build/uv.lock
	@# uv needs a fifth of pip's CPU time. A package index that only pip is configured for is left to pip.
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes --no-deps -r requirements.lock || \
	    $(PIP) install --quiet --require-hashes --no-deps -r requirements.lock
	@touch $@

build/core.stamp: build/setup.stamp pyproject.toml $(CORE) $(PACKAGES)
	$(call say,the C core and the package swapsim)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

report: setup ## run all notebooks on the shipped traces, write build/report
	$(call say,notebooks to build/report)
	$(BIN)/swapsim report -o build/report

test: setup ## set up and run all tests
	@$(MAKE) --no-print-directory -j2 --output-sync=target test-style test-c
	@$(MAKE) --no-print-directory test-python

test-style:
	$(call say,style: ruff; mypy; clang-format; codespell)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	cd data/capture && ../../$(BIN)/mypy --strict --cache-dir ../../.mypy_cache --python-version 3.11 capture.py lab.py
	@$(BIN)/clang-format --dry-run --Werror $(C_SOURCES)
	$(CODESPELL) --builtin clear $(TEXTS)

test-c: setup
	$(call say,C units under AddressSanitizer and UndefinedBehaviorSanitizer)
	@$(CMAKE) $(SANITIZE) > build/ctest.log
	@$(CMAKE) --build $(SANITIZED)
	@PATH="$(CURDIR)/$(BIN):$$PATH" ctest --test-dir $(SANITIZED) --output-on-failure --no-tests=error

test-python: setup
	$(call say,oracle; properties; golden results; the story)
	$(BIN)/python -m pytest -p no:nbval -n 2 --dist loadfile -rs tests
	$(call say,notebooks: each cell is run and compared with its committed output)
	SWAPSIM_PICTURES=no $(BIN)/python -m pytest -n 2 --dist loadfile -o faulthandler_timeout=0 --nbval --nbval-current-env \
	    --nbval-cell-timeout 3600 --nbval-sanitize-with tests/nbval.cfg notebooks

wasm: setup build/wasm.stamp ## build the C core for web pages, swapsim/live/core.wasm
	$(call say,the C core in WebAssembly)
	$(BIN)/python corelib/web/build.py "$(CURDIR)/build/wasm-env/bin/python -m ziglang" swapsim/live

build/wasm.stamp: build/setup.stamp corelib/web/requirements.lock
	$(call say,the compiler for WebAssembly: 101 MB to download)
	@$(PYTHON) -m venv build/wasm-env
	build/wasm-env/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps \
	    -r corelib/web/requirements.lock
	@touch $@

lab: setup ## open JupyterLab at notebook 00; LAB_ARGS= passes options on
	$(BIN)/jupyter lab --ServerApp.root_dir="$(CURDIR)" \
	    --FileContentsManager.pre_save_hook=swapsim.site.notebooks.before_saving \
	    $(LAB_ARGS) notebooks/00-start.ipynb

bench: setup ## run the benchmarks next to their peers, one JSON object a line
	$(BIN)/swapsim bench

fuzz: setup ## fuzz the C core: FUZZ_SECONDS= for each target, FUZZERS= chooses targets (needs clang)
	$(call say,libFuzzer: $(FUZZERS))
	@command -v clang >/dev/null || { echo 'skipped: clang is not here (Debian: clang)'; exit 0; }; \
	$(CMAKE) -S corelib -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DSWAPCORE_FUZZ=ON \
	    -DBUILD_TESTING=OFF > build/fuzz.log && $(CMAKE) --build build/fuzz && \
	for target in $(FUZZERS); do mkdir -p build/fuzz/new-$$target corelib/fuzz/corpus/$$target; \
	    build/fuzz/fuzz_$$target -timeout=60 $(FUZZ_UNTIL) -len_control=0 -max_len=4096 \
	        -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/$$target- \
	        build/fuzz/new-$$target corelib/fuzz/corpus/$$target; done

analyse: setup ## run the C core under sanitizers, analysers, other compilers and processors; ANALYSE= chooses parts
	@PATH="$(CURDIR)/$(BIN):$$PATH" corelib/analyse.sh $(ANALYSE)

TORTURE ?= fuzz properties files rows configs memory signals disks two_at_once surroundings
TORTURE_MINUTES ?= 10
minutes = $(shell awk 'BEGIN { print $(TORTURE_MINUTES) / $(words $(TORTURE)) }')
fuzz_seconds = $(shell awk 'BEGIN { print int(60 * $(minutes) / $(words $(FUZZERS))) + 1 }')
attack = TORTURE_MINUTES=$(minutes) $(BIN)/python -m pytest -rs -o faulthandler_timeout=0
parts := $(addprefix torture-,$(TORTURE))
of_their_own := $(addprefix torture-,fuzz properties rows configs)
.PHONY: $(parts)

torture: $(parts) ## attack the software for TORTURE_MINUTES= (10) in all parts, or in those of TORTURE=

$(parts): setup

$(filter-out $(of_their_own),$(parts)): torture-%:
	$(call say,attack: $*)
	@$(attack) tests/torture/test_$*.py

torture-fuzz:
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=$(fuzz_seconds) \
	    $(if $(filter 0,$(TORTURE_MINUTES)),FUZZ_UNTIL='-timeout=0 -runs=1000 -seed=$(or $(TORTURE_SEED),1)')

torture-properties:
	$(call say,attack: properties)
	@PYTHONPATH=tests/torture $(attack) -p properties \
	    $$(grep -rlE '^ *@given' tests --include='test_*.py' --exclude-dir=torture)

# Both sanitizers have to be loaded before Python. Python leaks memory at its end, and a request for
# more memory than there is has to fail as it does without sanitizers.
torture-rows torture-configs: torture-%:
	$(call say,attack: $* with AddressSanitizer and UndefinedBehaviorSanitizer)
	@command -v gcc >/dev/null || { echo 'skipped: gcc is not here (Debian: gcc)'; exit 0; }; \
	$(CMAKE) $(SANITIZE) -DSWAPCORE_EXTENSION=ON \
	    -DSKBUILD_SABI_COMPONENT=Development.SABIModule -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
	    > build/sanitized.log && $(CMAKE) --build $(SANITIZED) --target _core && \
	TORTURE_CORE="$$(echo $(SANITIZED)/_core.*.so)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	    LD_PRELOAD="$$(gcc -print-file-name=libasan.so):$$(gcc -print-file-name=libubsan.so)" \
	    $(attack) tests/torture/test_$*.py

notebooks: setup ## normalise notebooks that were run and saved, for a commit
	$(BIN)/python -m swapsim.site.notebooks

simulate: setup ## run all studies and store their results in data/simulated
	$(BIN)/swapsim simulate

capture: setup ## boot real kernels, build patched 6.1, and capture the shipped traces again
	$(BIN)/python data/capture/capture.py --all -o data/traces

measure: setup ## measure the real kernel again: about three hours, unattended
	$(BIN)/python data/capture/lab.py $(notdir $(basename $(wildcard data/capture/experiments/*.toml))) -o data/measured

format: setup ## format C and Python
	$(BIN)/ruff check --fix --exit-zero --quiet
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(C_SOURCES)

lock: setup ## resolve the locked packages again (needs uv)
	uv pip compile pyproject.toml --group test --group tools --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-annotate --quiet \
	    --custom-compile-command 'make lock' -o requirements.lock
	uv pip compile --group pyproject.toml:wasm --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-annotate --quiet \
	    --custom-compile-command 'make lock' -o corelib/web/requirements.lock

clean: ## delete everything that was built, and .venv
	rm -rf build .venv
