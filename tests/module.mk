# The tests: unit tests are cmocka programs (the module.mk of what they test has their rules),
# integration tests are Python programs, tests/integration/test_*.py. tests/run.py runs both.

# `make check T='NAME...'` runs the tests whose names contain a NAME: `make check T=unwinding`.
# `make check REPEAT=30 HOGS=2` runs the tests whose verdict rests on time or chance 30 times, half of the runs while two
# processes use the CPU, and counts failures; with T, it runs others.
T ?=
HOGS ?= 0
check: check-build
	$(if $(REPEAT),tests/repeat.py $(BUILD) --runs $(REPEAT) --hogs $(HOGS) $(T),tests/run.py $(BUILD) $(T))

# What the tests run, except the builds under sanitizers; and what integration tests run of that.
.PHONY: check-build integration-build
check-build: integration-build $(UNIT_TESTS)
integration-build: all

# A unit test that no module.mk names would never run.
UNNAMED_UNIT_TESTS = $(filter-out $(UNIT_TESTS:$(BUILD)/%=%.c),$(wildcard tests/unit/*/test_*.c))
ifneq ($(UNNAMED_UNIT_TESTS),)
$(error no module.mk builds $(UNNAMED_UNIT_TESTS))
endif

# Stubs need not look at what they get. cmocka 2 has new names for what cmocka 1 has, too.
$(BUILD)/obj/tests/unit/%.o: CFLAGS += -Wno-unused-parameter -Wno-deprecated-declarations

# Half the compile time. Those of agents and hpcrun look at code that is optimized, and some tests compute much.
$(foreach f,hpcprof hpcstruct lib viewer-tui,$(eval $(BUILD)/obj/tests/unit/$(f)/%.o: CFLAGS += -O0))
$(foreach f,hpcrun/% lib/test_measurement_damage viewer-tui/test_verdict_stability,\
	$(eval $(BUILD)/obj/tests/unit/$(f).o: CFLAGS += -O1))

# Programs that the tests profile: tests/programs/hpcrun/NAME.c, and small tools of the tests.
TEST_PROGRAMS = $(patsubst tests/programs/%.c,$(BUILD)/tests/programs/%,$(wildcard tests/programs/hpcrun/*.c)) \
	$(patsubst tests/programs/%.cc,$(BUILD)/tests/programs/%,$(wildcard tests/programs/hpcrun/*.cc))
TEST_TOOLS = $(addprefix $(BUILD)/tests/tools/,deny-perf dump-measurement dump-rules unwind-compare.so unwind-steps.so fast-clock.so fake-time.so)

TEST_PROGRAM_HEADERS = $(wildcard tests/programs/hpcrun/*.h)

$(BUILD)/tests/programs/%: tests/programs/%.c $(TEST_PROGRAM_HEADERS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I. -o $@ $< -lpthread

# Those under a parallel runtime.
LOGICAL_PROGRAMS = $(patsubst tests/programs/%.c,$(BUILD)/tests/programs/%,$(wildcard tests/programs/logical/*.c))
TEST_PROGRAMS += $(LOGICAL_PROGRAMS)

$(LOGICAL_PROGRAMS): $(BUILD)/tests/programs/%: tests/programs/%.c tests/programs/hpcrun/burn.h $(LIBMINICILK)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I. -I$(MINICILK) -o $@ $< $(LIBMINICILK) -lpthread

# With a runtime that yields in each of its windows, often.
SPAWN_TREE_CHAOS = $(BUILD)/tests/programs/logical/spawn-tree-chaos
TEST_PROGRAMS += $(SPAWN_TREE_CHAOS)

$(SPAWN_TREE_CHAOS): tests/programs/logical/spawn-tree.c $(wildcard $(MINICILK)/*.[ch])
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $@")
	$(Q)$(MINICILK_BUILD) $(FLAGS_chaos) -DMINICILK_CHAOS_ODDS=4 -o $@ $(filter %.c,$^) -lpthread

$(BUILD)/tests/programs/%: tests/programs/%.cc
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX $<")
	$(Q)$(CXX) -O2 -g -Wall -Wextra -o $@ $< -lpthread

# Compiled by hand for OpenCilk's tools: linked with our library, and with one that stands for Cilkscale's.
CILKTOOL_PROGRAMS = $(addprefix $(BUILD)/tests/programs/cilktool/,hooked hooked-elsewhere)
OTHER_CILKSCALE = $(BUILD)/tests/programs/cilktool/libother-cilkscale.so
TEST_PROGRAMS += $(CILKTOOL_PROGRAMS)
$(BUILD)/tests/programs/cilktool/hooked: $(CILKTOOL)
$(BUILD)/tests/programs/cilktool/hooked-elsewhere: $(OTHER_CILKSCALE)
$(CILKTOOL_PROGRAMS): tests/programs/cilktool/hooked.c hpcrun/cilktool/csi-hooks.h hpcrun/cilktool/probe-output.h
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $@")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -fno-omit-frame-pointer -g $(WARNINGS) -I. -o $@ $< $(filter %.so,$^) \
		-Wl,-rpath,'$$ORIGIN/../../../lib' -Wl,-rpath,'$$ORIGIN' -lpthread

$(OTHER_CILKSCALE): tests/programs/cilktool/other-cilkscale.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) -std=c11 $(WARNINGS) -I. -fPIC -shared -Wl,-soname,$(@F) -o $@ $<

# Under a simulated Cilk-5: one with our patch, and one that is used as a library.
CILK5_PROGRAMS = $(addprefix $(BUILD)/tests/programs/cilk5/,stolen library-mode)
TEST_PROGRAMS += $(CILK5_PROGRAMS)
$(CILK5_PROGRAMS): tests/programs/hpcrun/burn.h runtime-patches/cilk5/description.h

# Plain threads.
PTHREAD_PROGRAMS = $(addprefix $(BUILD)/tests/programs/pthread/,thread-states lock-semantics std-threads yields relay sleepers)
TEST_PROGRAMS += $(PTHREAD_PROGRAMS)
$(PTHREAD_PROGRAMS): $(wildcard tests/programs/pthread/*.h) tests/programs/hpcrun/burn.h tests/tools/naps.h

$(BUILD)/tests/programs/pthread/std-threads: tests/programs/pthread/std-threads.cc
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX $<")
	$(Q)$(CXX) -std=c++20 -O2 -g -Wall -Wextra -I. -o $@ $< -lpthread

# With a frame pointer in each function.
RAISES_FRAMED = $(BUILD)/tests/programs/hpcrun/raises-framed
TEST_PROGRAMS += $(RAISES_FRAMED)

$(RAISES_FRAMED): tests/programs/hpcrun/raises.cc
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CXX $@")
	$(Q)$(CXX) -O1 -fno-omit-frame-pointer -g -Wall -Wextra -o $@ $<

$(BUILD)/tests/tools/deny-perf: $(BUILD)/obj/tests/tools/deny-perf.o
$(BUILD)/tests/tools/dump-measurement: $(BUILD)/obj/tests/tools/dump-measurement.o $(TOOL_LIB)
$(BUILD)/tests/tools/dump-rules: $(BUILD)/obj/tests/tools/dump-rules.o \
	$(addprefix $(BUILD)/obj/hpcrun/,unwind/cfi.o code/module-ranges.o)
$(BUILD)/tests/tools/deny-perf $(BUILD)/tests/tools/dump-measurement $(BUILD)/tests/tools/dump-rules:
	$(call link,,-lz)

$(BUILD)/tests/tools/trace-record: $(BUILD)/obj/tests/bench/trace-record.o $(addprefix $(BUILD)/obj/hpcrun/,\
	sample/sample-trace.o tree/segments.o base/shared-pages.o base/own-pages.o base/own-fds.o)
	$(call link,,)

# Preloaded by benchmarks: what does next to nothing, the floor for hpcrun.
EMPTY_LIBRARIES = $(patsubst %,$(BUILD)/tests/tools/%.so,empty-handler empty-wrapper empty-tool)
$(patsubst $(BUILD)/tests/tools/%.so,$(BUILD)/obj/tests/bench/%.o,$(EMPTY_LIBRARIES)): CFLAGS += -fPIC
$(EMPTY_LIBRARIES): $(BUILD)/tests/tools/%.so: $(BUILD)/obj/tests/bench/%.o
	$(call link,-shared,)

$(BUILD)/obj/tests/tools/fast-clock.o $(BUILD)/obj/tests/tools/fake-time.o: CFLAGS += -fPIC
$(BUILD)/tests/tools/fast-clock.so $(BUILD)/tests/tools/fake-time.so: $(BUILD)/tests/tools/%.so: $(BUILD)/obj/tests/tools/%.o
	$(call link,-shared,)

# Preloaded into programs: everything in it is position-independent.
UNWINDER_OBJS = $(call objects_of,hpcrun/unwind) $(call objects_of,hpcrun/code) $(BUILD)/obj/hpcrun/base/own-pages.o
UNWIND_COMPARE_FLAGS = -shared -Wl,-z,defs
$(BUILD)/obj/tests/bench/unwind-compare.o: CFLAGS += -fPIC -ftls-model=initial-exec
$(BUILD)/tests/tools/unwind-compare.so: $(BUILD)/obj/tests/bench/unwind-compare.o $(UNWINDER_OBJS)
	$(call link,$(UNWIND_COMPARE_FLAGS),-lunwind)
$(BUILD)/obj/tests/tools/unwind-steps.o: CFLAGS += -fPIC -ftls-model=initial-exec
$(BUILD)/tests/tools/unwind-steps.so: $(BUILD)/obj/tests/tools/unwind-steps.o $(UNWINDER_OBJS)
	$(call link,$(UNWIND_COMPARE_FLAGS),)

integration-build: $(TEST_PROGRAMS) $(TEST_TOOLS)

# libhpcrun under sanitizers, for test_sanitizers.py: builds of their own in BUILD/address and BUILD/thread, with the
# ordinary launcher.
ADDRESS_FLAGS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
ADDRESS_TESTS = $(addprefix tests/unit/hpcrun/,test_cct test_fallback test_code_rule test_saved_sp test_logical) \
	$(addprefix tests/unit/agents/,test_openmp_events test_ready_tasks test_tbb_agent test_tbb_tasks)
ADDRESS_PARTS = lib/libhpcrun.so $(patsubst $(BUILD)/%,%,$(filter-out %.a,$(AGENT_FILES))) $(ADDRESS_TESTS)
# Agents that are opened while the program runs. The others are preloaded, before the sanitizer is.
THREAD_PARTS = lib/libhpcrun.so $(foreach a,minicilk cilk5 opencilk,lib/agents/$(a).so lib/agents/$(a).rules)
THREAD_FLAGS = -fsanitize=thread -fno-omit-frame-pointer
# Not optimized, with line numbers only: half the compile time.
SANITIZED_BUILD = $(MAKE) --no-print-directory OPT='-O0 -g1' ASSERTS=1
THREAD_PROGRAMS = $(BUILD)/thread/races $(BUILD)/thread/churn
SANITIZED = $(BUILD)/address/bin/hpcrun $(BUILD)/thread/bin/hpcrun $(THREAD_PROGRAMS)

$(BUILD)/address/bin/hpcrun: $(BUILD)/bin/hpcrun $(BUILD)/lib/libhpcrun.so $(AGENT_FILES) $(addprefix $(BUILD)/,$(ADDRESS_TESTS))
	+$(Q)CFLAGS='$(ADDRESS_FLAGS)' LDFLAGS='$(ADDRESS_FLAGS)' $(SANITIZED_BUILD) BUILD=$(BUILD)/address \
		$(addprefix $(BUILD)/address/,$(ADDRESS_PARTS))
	@mkdir -p $(@D) && cp $< $@

$(BUILD)/thread/bin/hpcrun: $(BUILD)/bin/hpcrun $(BUILD)/lib/libhpcrun.so $(AGENT_FILES) tests/tools/thread-sanitizer.h
	+$(Q)CFLAGS='$(THREAD_FLAGS) -include tests/tools/thread-sanitizer.h' LDFLAGS='$(THREAD_FLAGS)' \
		$(SANITIZED_BUILD) BUILD=$(BUILD)/thread $(addprefix $(BUILD)/thread/,$(THREAD_PARTS))
	@mkdir -p $(@D) && cp $< $@

$(THREAD_PROGRAMS): $(BUILD)/thread/%: tests/programs/hpcrun/%.c $(TEST_PROGRAM_HEADERS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $@")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) $(THREAD_FLAGS) -I. -o $@ $< -lpthread

check: $(SANITIZED)

# All tests in other environments: tests/environments.py. W='one-cpu' chooses one.
W ?=
.PHONY: test-environments
test-environments: check-build $(SANITIZED) $(MINICILK_VARIANTS)
	tests/environments.py $(BUILD) $(if $(T),--names '$(T)') $(W)

# A million samples.
.PHONY: stress-logical
stress: stress-logical
stress-logical: all $(TEST_PROGRAMS) $(TEST_TOOLS)
	cd tests/integration && BUILD="$(abspath $(BUILD))" SPAWN_TREE_SAMPLES=1000000 \
		python3 -m unittest -v test_spawn_tree

# Real programs with hpcrun and without; 26 rounds are over 10,000 runs.
.PHONY: stress-programs
stress: stress-programs
stress-programs: all $(TEST_TOOLS)
	BUILD="$(abspath $(BUILD))" tests/stress/real_programs.py --rounds 26

# OpenMP, oneTBB and threaded programs of Debian with 1, 2, 4 and 8 threads, on libgomp and on libomp.
.PHONY: stress-threads
stress: stress-threads
stress-threads: all $(TEST_TOOLS)
	BUILD="$(abspath $(BUILD))" tests/stress/threaded_programs.py --rounds 3

# The tests' own programs in twelve ways; STRESS_OWN chooses how often (--rounds N, --hours H).
STRESS_OWN ?= --rounds 3
.PHONY: stress-own
stress: stress-own
stress-own: all $(TEST_PROGRAMS) $(TEST_TOOLS)
	BUILD="$(abspath $(BUILD))" tests/stress/own_programs.py $(STRESS_OWN)

# The long form of test_sanitizers.py.
.PHONY: stress-sanitizers
stress: stress-sanitizers
stress-sanitizers: all $(TEST_PROGRAMS) $(TEST_TOOLS) $(SANITIZED)
	cd tests/integration && BUILD="$(abspath $(BUILD))" SANITIZERS_LONG=1 python3 -m unittest -v test_sanitizers

# A thousand processes killed at random moments.
.PHONY: stress-recovery
stress: stress-recovery
stress-recovery: all $(TEST_PROGRAMS) $(TEST_TOOLS)
	cd tests/integration && BUILD=$(abspath $(BUILD)) RECOVERY_KILLS=1000 python3 -m unittest -v test_recovery

# Libraries that come and go for 40 s of CPU time.
.PHONY: stress-loader
stress: stress-loader
stress-loader: all $(TEST_PROGRAMS) $(TEST_TOOLS)
	cd tests/integration && BUILD="$(abspath $(BUILD))" LOADER_MS=40000 python3 -m unittest -v test_loader

# A variant of libhpcrun.so that times its handler, for the benchmark.
WRAPPED = handler_on_signal source_measure unwind agent_query_status agent_query_path sample_record \
	source_arm
TIMED_FLAGS = $(LIBHPCRUN_FLAGS) $(addprefix -Wl$(comma)--wrap=,$(WRAPPED))
$(BUILD)/obj/tests/bench/timed-handler.o: CFLAGS += -fPIC -fvisibility=hidden -ftls-model=initial-exec
$(BUILD)/tests/tools/libhpcrun-timed.so: $(BUILD)/obj/tests/bench/timed-handler.o $(LIBHPCRUN_OBJS)
	$(call link,$(TIMED_FLAGS),)

# story: prints the session of doc/tour.md. picture: writes it there, and draws the pictures of README.md.
# tour: runs the commands of README.md and doc/, and writes their outputs there.
.PHONY: story picture tour
story: all
	tests/story.py $(BUILD)
picture: all
	tests/story.py $(BUILD) 20 --write
tour: all
	tests/tour.py $(BUILD)

BENCH ?=
# bench-deps first, also with -j, as in `make test`.
bench: bench-deps
	$(MAKE) bench-build
	BUILD=$(BUILD) tests/bench/benchmarks.py $(BENCH)

.PHONY: bench-build
bench-build: all $(TEST_PROGRAMS) $(TEST_TOOLS) $(BUILD)/tests/tools/libhpcrun-timed.so \
	$(BUILD)/tests/tools/trace-record $(EMPTY_LIBRARIES) $(BUILD)/tests/programs/bench/contexts

# Faults planted one at a time; the tests must notice every one.
.PHONY: mutants
mutants: check-build
	tests/mutants.py $(BUILD) $(T)
include tests/fuzz/module.mk
