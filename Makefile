# The commands of the project. Each installs what it needs and this machine lacks (with apt, after saying so).

SWIFT ?= swift
MOTIONLOG = .build/debug/motionlog
FUZZ_SECONDS ?= 60

.PHONY: help run test lint lab sanitize fuzz examples release dependencies clean

help:
	@echo "make run      build, and show a simulated walk live"
	@echo "make test     build, and run the quick tests"
	@echo "make lint     check formatting and the walls between modules"
	@echo "make lab      run the tests against real kernel drivers in a virtual machine"
	@echo "make examples build the example package and run its tests"
	@echo "make sanitize run the tests of delivery and of Core Motion under the thread and address sanitizers"
	@echo "make fuzz     feed the parsers with changed files and messages, a minute each (FUZZ_SECONDS)"
	@echo "make release  build a stripped motionlog with the Swift library inside: .build/release/motionlog"

# A terminal gets the live readout until q; a pipe or a log gets twenty seconds of plain lines.
run: dependencies
	$(SWIFT) build --product motionlog
	@if [ -t 1 ]; then $(MOTIONLOG) live --source sim:walk; \
	else $(MOTIONLOG) live --source sim:walk --duration 20s; fi

# Both build the same, so that neither undoes the other's work; see the end of Package.swift.
run test: export MOTIONKIT_OPTIMIZED_FUSION = 1

# The exit status counts, not the last line: every test there is runs in this one process.
test: dependencies
	$(SWIFT) build --build-tests
	$(SWIFT) test --skip-build --disable-xctest

lint: dependencies
	$(SWIFT) format lint --strict --recursive Sources Tests Package.swift
	Tests/check-walls

lab: dependencies
	Tests/Lab/run

examples: dependencies
	$(SWIFT) test --package-path Examples --disable-xctest

sanitize: dependencies
	Tests/sanitize

fuzz: dependencies
	Tests/fuzz $(FUZZ_SECONDS)

release: dependencies
	$(SWIFT) build -c release --product motionlog --static-swift-stdlib
	strip .build/release/motionlog
	@ls -l .build/release/motionlog

dependencies:
	@packaging/install-dependencies

clean:
	rm -rf .build
