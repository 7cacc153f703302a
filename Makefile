# The front of the build. Each target sets up what it needs on a fresh Debian 12 or 13 machine.
#   make         build/release/bin/guestlist, and build/release/lib/guestlist.so for Redis and Valkey
#   make demo    the main job on real input; ONCE=1 ends after the table
#   make demo-redis  the same with a Redis and a PostgreSQL of its own, and three services
#   make test    builds the command and passes every test
#   make bench   runs the benchmarks; FILTER=regex picks some
#   make format  clang-format over the tree
#   make interop real Redisson, Guava, redis-py, node-redis and Jedis beside it; SPEED=1 measures Redisson
# For those who work on guestlist (CONTRIBUTING.md): make dev asan tsan tidy fuzz test-large

BUILD := build/release
JOBS  ?= $(shell nproc)
FUZZ_SECONDS ?= 30
# The modules whose tests run under the sanitizers. Pure functions have no threads.
SANITIZED := base hash filter port guard sqlite lines http sync gate
THREADED  := $(filter-out base hash,$(SANITIZED))
# Units that clang-tidy finds nothing in, and shall not.
TIDY := app/|lib/(base|filter|guard|hash|http|port|sqlite)/

.DEFAULT_GOAL := all
.PHONY: all setup setup-dev setup-interop demo test test-large bench interop format format-check dev asan tsan tidy fuzz clean

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

setup-interop:
	@scripts/setup.sh --interop

build/%/build.ninja: CMakeLists.txt CMakePresets.json $(wildcard cmake/*.cmake) | setup
	@cmake --preset $* --log-level=WARNING

all: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) --parallel $(JOBS) --target guestlist guestlist_module

demo: all
	@$(BUILD)/bin/guestlist demo --svg build/demo.svg $(if $(ONCE),--once) $(DEMO_FLAGS)

demo-redis: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) --parallel $(JOBS) --target demo_redis
	@$(BUILD)/bin/demo_redis --svg build/demo-redis.svg $(if $(ONCE),--once) $(DEMO_FLAGS)

test: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) --parallel $(JOBS) --target guestlist guestlist_module tests
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $(JOBS) --label-exclude large

test-large: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) --parallel $(JOBS)
	@ctest --test-dir $(BUILD) --output-on-failure --label-regex large

bench: setup $(BUILD)/build.ninja
	@cmake --build $(BUILD) --parallel $(JOBS)
	@scripts/bench.sh $(BUILD) $(FILTER)

interop: all setup-interop
	@interop/run.sh check $(BUILD)/bin/guestlist $(BUILD)/lib/guestlist.so build/interop
ifdef SPEED
	@cmake --build $(BUILD) --parallel $(JOBS) --target redis_bench
	@interop/run.sh speed $(BUILD)/bin/redis_bench build/interop
endif

dev: setup-dev
	@cmake --preset $@ --log-level=WARNING
	@cmake --build build/$@ --parallel $(JOBS) --target guestlist tests
	@ctest --test-dir build/$@ --output-on-failure --parallel $(JOBS) --label-exclude large

# The command's readers run under AddressSanitizer in their fuzzers.
asan: setup-dev
	@cmake --preset $@ --log-level=WARNING
	@cmake --build build/$@ --parallel $(JOBS) --target $(SANITIZED:%=%_test)
	@for test in $(SANITIZED); do build/$@/bin/$${test}_test --gtest_brief=1 || exit 1; done

tsan: setup-dev
	@cmake --preset $@ --log-level=WARNING
	@cmake --build build/$@ --parallel $(JOBS) --target $(THREADED:%=%_test)
	@for test in $(THREADED); do build/$@/bin/$${test}_test --gtest_brief=1 || exit 1; done

# In the build of AddressSanitizer, so that the libraries are compiled once for both.
fuzz: setup-dev
	@cmake --preset asan --log-level=WARNING
	@scripts/fuzz.sh build/asan $(FUZZ_SECONDS)

tidy: setup-dev
	@cmake --preset $@ --log-level=WARNING
	@scripts/tidy.sh build/$@ '$(TIDY)'

format: setup-dev
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format -i

format-check: setup-dev
	@git ls-files '*.hpp' '*.cpp' | xargs clang-format --dry-run --Werror

clean:
	@rm -rf build
