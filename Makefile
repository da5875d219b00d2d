# The make targets only call Meson, scripts/ and tests/.

BUILD ?= build

.PHONY: help run test soak bench claims build docs deb deb-test install python fuzz-semantics mutants asan tsan valgrind \
	test-aarch64 fuzz format tidy clean

help:
	@echo 'make run            crawl a web site on this machine, to see coil at work'
	@echo 'make test           run all tests; T=NAME for one test, PREFIX*, or one suite, such as judge'
	@echo 'make soak           make each call and allocation fail, and try thousands of seeds; T=NAME for one'
	@echo 'make bench          compare coil with its peers, in a table; ROWS=yield,spawn RUNS=11'
	@echo 'make claims         measure claims about tasks and threads; CLAIMS=crawl DOCS=1'
	@echo 'make build          build the library, coil-crawl and the tests, in build/'
	@echo 'make docs           generate HTML from documents and headers, in build/html'
	@echo 'make deb            build Debian packages, in build/deb'
	@echo 'make deb-test       build the packages, and install and try them in a minimal Debian'
	@echo 'make install        install coil (DESTDIR= is supported)'
	@echo 'make python         build and test the Python package coil for each installed CPython'
	@echo 'make fuzz-semantics compare random programs on asyncio and on coil; N=20000 SEED=7'
	@echo 'make mutants        break coil on purpose, to see whether the tests notice'
	@echo 'make asan           run the tests in C under ASan and UBSan'
	@echo 'make tsan           run the tests in C under TSan'
	@echo 'make valgrind       run the tests in C under Valgrind'
	@echo 'make test-aarch64   run the tests in C for aarch64, under qemu'
	@echo 'make fuzz           run each fuzz target for a minute; T=NAME SECONDS=600'
	@echo 'make format         format the code with clang-format'
	@echo 'make tidy           run clang-tidy'
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
	@tests/suites/deb/try '$(BUILD)/deb'

install: build
	meson install -C '$(BUILD)' --no-rebuild

python:
	@scripts/install-deps test
	@scripts/python

fuzz-semantics: build
	@tests/suites/judge/run --build '$(BUILD)' N=$(or $(N),20000) SEED=$(or $(SEED),1)

mutants:
	@scripts/install-deps test
	@tests/suites/mutants/try
	@tests/suites/mutants/network/try

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
