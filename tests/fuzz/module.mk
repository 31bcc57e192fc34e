# Targets of libFuzzer, which needs clang: build/fuzz/TARGET is a program that runs one reader of outside input under
# sanitizers (tests/fuzz/fuzz-target.h). Without clang they are not built, and their test is skipped.
#
#     make fuzz-targets FUZZ_SECONDS=60 FUZZ_T='elf cfi'     60 s for each of these targets (default: 4 s, all)
FUZZ_CC      ?= clang
FUZZ_RUNTIME := $(wildcard $(shell $(FUZZ_CC) -print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer-*.a)

# Two programs: hpcrun and the tools have functions with the same names.
FUZZ_OF_TOOLS  = measurement arenas perf-map structure elf elf-notes eh-frame debug-line debug-info set-index \
	split-debug process-list kernel-symbols database timeline run-json instructions-json
FUZZ_OF_HPCRUN = cfi config go-table outside perf-records memory-test

# Undefined behavior ends in a trap instruction: half the compile time of a report, and the stack names the line.
FUZZ_FLAGS = -O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fsanitize-trap=undefined
fuzz_objects = $(patsubst %.c,$(BUILD)/obj/fuzz/%.o,$(1))
FUZZ_COMMON  = $(addprefix tests/fuzz/,libfuzzer-main.c) $(wildcard lib/*.c)

FUZZ_TOOLS_SOURCES = $(FUZZ_COMMON) $(addprefix tests/fuzz/,measurement-checks.c structure-checks.c \
	$(addsuffix .c,$(addprefix target-,measurement structure elf dwarf lists database))) \
	$(addprefix hpcprof/modules/,structure.c structure-reader.c) $(wildcard hpcstruct/elf/*.c hpcstruct/dwarf/*.c) \
	$(addprefix viewer-tui/base/,task.c text.c) $(wildcard viewer-tui/metrics/*.c) \
	$(filter-out %/source-text.c %/syntax.c,$(wildcard viewer-tui/db/*.c))
FUZZ_HPCRUN_SOURCES = $(FUZZ_COMMON) $(addprefix tests/fuzz/target-,cfi.c config.c go.c memory.c outside.c records.c) \
	$(wildcard hpcrun/unwind/*.c) $(addprefix hpcrun/,code/module-instances.c config/run-config.c base/own-pages.c \
	base/text-buffer.c $(addprefix outside/,caught-memory.c copy-size.c eh-frame-index.c foreign-memory.c \
	foreign-modules.c go-frames.c module-image.c perf-records.c record-queue.c ring-reader.c) source/kernel-frames.c)

# The address sanitizer does not know about guarded regions, in which stacks of any alignment are read.
FUZZ_GUARDED = $(call fuzz_objects,tests/fuzz/target-cfi.c tests/fuzz/target-outside.c $(wildcard hpcrun/unwind/*.c) \
	hpcrun/code/module-instances.c)
$(FUZZ_GUARDED): FUZZ_FLAGS += -fno-sanitize=address,alignment

# A loop over all 65,536 metric ids for each input: without this, libFuzzer would see each comparison.
$(call fuzz_objects,viewer-tui/db/summary-values.c): FUZZ_FLAGS += -fno-sanitize-coverage=trace-cmp

$(BUILD)/obj/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $< (fuzz)")
	$(Q)$(filter ccache,$(CC)) $(FUZZ_CC) $(filter-out $(OPT),$(CFLAGS)) $(FUZZ_FLAGS) -c -o $@ $<

FUZZ_LINK = $(FUZZ_CC) -fsanitize=fuzzer,address -o $@ $^

$(BUILD)/fuzz/fuzz-tools: $(call fuzz_objects,$(FUZZ_TOOLS_SOURCES))
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(FUZZ_LINK) -lelf -liberty -lzstd -ljansson -lz -lm -lpthread

$(BUILD)/fuzz/fuzz-hpcrun: $(call fuzz_objects,$(FUZZ_HPCRUN_SOURCES))
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(FUZZ_LINK) -lz -lm

FUZZ_TARGETS = $(addprefix $(BUILD)/fuzz/,$(FUZZ_OF_TOOLS) $(FUZZ_OF_HPCRUN))
$(addprefix $(BUILD)/fuzz/,$(FUZZ_OF_TOOLS)): $(BUILD)/fuzz/fuzz-tools
	$(Q)ln -sf $(<F) $@
$(addprefix $(BUILD)/fuzz/,$(FUZZ_OF_HPCRUN)): $(BUILD)/fuzz/fuzz-hpcrun
	$(Q)ln -sf $(<F) $@

# The seeds.
FUZZ_CORPUS = $(BUILD)/fuzz/corpus
$(FUZZ_CORPUS): tests/fuzz/make_corpus.py $(BUILD)/tests/tools/dump-measurement
	$(Q)rm -rf $@ $@.new $@.damaged $@.new.damaged && BUILD=$(BUILD) $< $(BUILD) $@.new && \
		mv $@.new.damaged $@.damaged && mv $@.new $@

# They take 23 s of CPU time to build.
check-build: $(if $(TEST_ALL),$(if $(FUZZ_RUNTIME),$(FUZZ_TARGETS) $(FUZZ_CORPUS)))

# All targets for FUZZ_SECONDS each; the usual time makes a minute in all.
FUZZ_SECONDS ?= 4
.PHONY: fuzz-targets
fuzz: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS) $(FUZZ_CORPUS)
	tests/fuzz/run_targets.py $(BUILD) $(FUZZ_SECONDS) $(FUZZ_T)
