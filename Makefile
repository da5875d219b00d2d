# Verbs, without logic: Meson builds, scripts/ and tests/ do the rest.

BUILD ?= build

.PHONY: help run test soak bench claims build docs deb deb-test install python fuzz-semantics mutants asan tsan valgrind \
	test-aarch64 fuzz format tidy clean

help:
	@echo 'make run            crawl a web site on this machine, to see coil at work'
	@echo 'make test           all tests; T=NAME for one: a test, PREFIX*, or judge, ...'
	@echo 'make soak           all that can fail failing, thousands of seeds; T=NAME for one'
	@echo 'make bench          coil beside its peers, in a table; ROWS=yield,spawn RUNS=11'
	@echo 'make claims         what the documents claim of tasks and threads; CLAIMS=crawl DOCS=1'
	@echo 'make build          the library, coil-crawl and the tests, in build/'
	@echo 'make docs           the documents and the headers as HTML, in build/html'
	@echo 'make deb            Debian packages, in build/deb'
	@echo 'make deb-test       the same, installed and used in a Debian that has nothing else'
	@echo 'make install        install what was built (DESTDIR= is obeyed)'
	@echo 'make python         the package coil for each CPython that is found: built, tested'
	@echo 'make fuzz-semantics random programs on asyncio and on coil; N=20000 SEED=7'
	@echo 'make mutants        coil broken on purpose: who notices?'
	@echo 'make asan           the tests in C under ASan and UBSan'
	@echo 'make tsan           the tests in C under TSan'
	@echo 'make valgrind       the tests in C under Valgrind'
	@echo 'make test-aarch64   the tests in C for aarch64, under qemu'
	@echo 'make fuzz           a minute of each fuzz target; T=NAME SECONDS=600'
	@echo 'make format         lay out the code as .clang-format says'
	@echo 'make tidy           clang-tidy'
	@echo 'make clean          remove the build directories'

run:
	@scripts/install-deps run
	@scripts/build '$(BUILD)'
	@scripts/run '$(BUILD)'

test:
	@scripts/install-deps test
	@scripts/build '$(BUILD)'
	@scripts/test -b '$(BUILD)' $(if $(T),'$(T)')

soak:
	@scripts/install-deps test
	@scripts/build '$(BUILD)'
	@scripts/soak -b '$(BUILD)' $(if $(T),'$(T)')

bench:
	@scripts/install-deps bench
	@ROWS='$(ROWS)' RUNS='$(RUNS)' PEERS='$(PEERS)' bench/run

claims:
	@scripts/install-deps run
	@CLAIMS='$(CLAIMS)' bench/claims/run $(if $(QUICK),--quick) $(if $(DOCS),--docs)

build:
	@scripts/build '$(BUILD)'

docs:
	@scripts/install-deps docs
	@scripts/reference/docs '$(BUILD)/html'

deb:
	@scripts/install-deps deb
	@scripts/deb '$(BUILD)/deb'

deb-test:
	@scripts/install-deps deb
	@tests/deb/try '$(BUILD)/deb'

install: build
	meson install -C '$(BUILD)' --no-rebuild

python:
	@scripts/install-deps test
	@scripts/python

fuzz-semantics: build
	@tests/judge/run --build '$(BUILD)' N=$(or $(N),20000) SEED=$(or $(SEED),1)

mutants:
	@scripts/install-deps test
	@tests/mutants/try
	@tests/mutants/network/try

asan:
	@scripts/check asan

tsan:
	@scripts/check tsan

valgrind:
	@scripts/install-deps dev
	@scripts/check valgrind

test-aarch64:
	@scripts/install-deps dev
	@scripts/check aarch64

fuzz:
	@scripts/install-deps dev
	@scripts/fuzz $(or $(SECONDS),60) $(T)

format:
	@scripts/format

tidy:
	@scripts/tidy

clean:
	rm -rf build build-*
