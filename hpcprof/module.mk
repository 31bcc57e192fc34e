# hpcprof, which makes a database of measurements and program structure.
HPCPROF_LIBRARIES = -lxml2 -lz -lm -lpthread
CFLAGS_hpcprof    := $(shell pkg-config --cflags libxml-2.0)

PROGRAMS += $(BUILD)/bin/hpcprof

$(BUILD)/bin/hpcprof: $(call objects_of,hpcprof) $(TOOL_LIB)
	$(call link,,$(HPCPROF_LIBRARIES))

hpcprof_objects = $(patsubst %,$(BUILD)/obj/hpcprof/%.o,$(1))

$(eval $(call unit_test,hpcprof/test_structure,$(call hpcprof_objects,structure structure-reader) $(TOOL_LIB),$(HPCPROF_LIBRARIES)))
$(eval $(call unit_test,hpcprof/test_contexts,$(call hpcprof_objects,context-tree) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_file_writer,$(call hpcprof_objects,file-writer output-file) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_modules,$(call hpcprof_objects,modules structure) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_values,$(call hpcprof_objects,values inputs executables modules structure rules) $(TOOL_LIB),-lz -lpthread))

# For the tests: its readers on damaged input.
FUZZ_READERS = $(BUILD)/tests/tools/fuzz-readers

$(FUZZ_READERS): $(BUILD)/obj/tests/fuzz/fuzz-readers.o $(call hpcprof_objects,structure structure-reader) $(TOOL_LIB)
	$(call link,,$(HPCPROF_LIBRARIES))

$(BUILD)/obj/tests/fuzz/fuzz-readers.o: CFLAGS += $(CFLAGS_hpcprof)

check: $(FUZZ_READERS)

# The long form, under sanitizers; FUZZ_ROUNDS and FUZZ_SEED choose how much of what is tried.
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

.PHONY: fuzz-hpcprof
fuzz: fuzz-hpcprof
fuzz-hpcprof:
	CFLAGS='$(SANITIZERS)' LDFLAGS='$(SANITIZERS)' $(MAKE) BUILD=$(BUILD)/sanitized \
		$(BUILD)/sanitized/bin/hpcprof $(BUILD)/sanitized/tests/tools/fuzz-readers
	cd tests/integration && BUILD=$(abspath $(BUILD))/sanitized FUZZ_ROUNDS=$${FUZZ_ROUNDS:-2000} \
		python3 -m unittest -v test_hpcprof_fuzz
