# The front door: each target finds what this machine lacks (tools/setup), then hands over to CMake,
# Ninja and the scripts in tools/. Set CC to choose a compiler: make test CC=clang.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
# Where benchmarks find data that is not part of the project; what is not there is skipped.
DATA ?= ../shared/data
# A small GPT on this project's own sources, for about a minute on two cores.
RUN = build/run
TRAIN = --model gpt-micro --data src --batch 12 --steps 350 --rate 2e-3 --eval-every 100 --out $(RUN)

ifneq ($(origin CC),default)
export CC
endif
export FUZZ_SECONDS
MAKEFLAGS += --no-print-directory
.NOTPARALLEL: # the targets share build/, and Ninja is parallel itself
LINTS = lint-docs lint-format lint-layers lint-shell lint-tidy lint-web lint-words

.PHONY: build run test test-threads test-cluster bench lint $(LINTS) format fuzz install clean help
build: ## build the program, build/release/yoke, and the library (what plain `make` does)
	@tools/setup build
	@tools/build release yoke libyoke

run: build ## build, plan and train a small GPT here, generate text, and make the run's page
	@rm -rf $(RUN)
	build/release/yoke train $(TRAIN)
	build/release/yoke generate $(RUN) --prompt "/* " --tokens 400 --temperature 0.7 | tee $(RUN)/sample.txt
	build/release/yoke report $(RUN) -o $(RUN)/report.html
	@echo "the page, with the sample: $(RUN)/report.html"

test: ## all tests, as released and under the sanitizers
	@tools/setup build test
	@tools/build release
	@tools/build asan
	@tools/test release asan

test-threads: ## what runs on several threads, under the thread sanitizer
	@tools/setup build test
	@tools/build tsan
	@ctest --preset tsan

test-cluster: ## training on several hosts, pretended ones, under mpirun and Slurm; needs root
	@tools/setup build cluster
	@tools/build release
	@tests/cluster/run build/release/yoke

bench: build ## all benchmarks; DATA=FOLDER has graphs of known optimum for those that want them
	@tools/build release
	@for bench in build/release/bench/bench-*; do [ ! -x $$bench ] || $$bench $(DATA) || exit 1; done
	@bench/training/run
	@bench/ranks/run
	@bench/translation/run
	@bench/tokenize/run

lint: ## all checks of the sources; one alone: lint-docs, -format, -layers, -shell, -tidy, -web, -words
	@tools/setup build test lint
	@tools/lint docs format words web layers shell tidy

$(LINTS): lint-%:
	@tools/setup build test lint
	@tools/lint $*

format: ## lay out the sources as lint-format asks for
	@tools/setup lint
	@tools/lint --reformat

fuzz: ## the parsers under a fuzzer, FUZZ_SECONDS (60) each
	@tools/setup build test fuzz
	@tools/fuzz

install: build ## install under PREFIX (/usr/local), inside DESTDIR when set
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## remove all that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22
