# hpcstruct, which recovers the structure of a binary.
#
# Its folders, from the ground up: a file includes headers of its own folder and of those further left.
#   elf/        the file: sections, symbols, relocations, frame description entries, compressed parts
#   code/       machine code: decoding, jump tables, functions and the parts split off from them
#   flow/       control flow: calls that never return, control-flow graphs, loop nests
#   dwarf/      debug information: line tables, inlined functions
#   structure/  the scopes of each procedure, written as a structure file
HPCSTRUCT_FOLDERS = elf code flow dwarf structure

HPCSTRUCT_LIBRARIES = -lZydis -liberty -lzstd -lz -lpthread

PROGRAMS += $(BUILD)/bin/hpcstruct

# All but the program itself: what the tests are linked with.
HPCSTRUCT_PARTS = $(foreach folder,$(HPCSTRUCT_FOLDERS),$(call objects_of,hpcstruct/$(folder))) $(TOOL_LIB)

$(BUILD)/bin/hpcstruct: $(call objects_of,hpcstruct) $(HPCSTRUCT_PARTS)
	$(call link,,$(HPCSTRUCT_LIBRARIES))

$(foreach name,sorted_addresses binary_text debug_info line_table split_units quick_decode loop_nest loop_location eh_frame,\
	$(eval $(call unit_test,hpcstruct/test_$(name),$(HPCSTRUCT_PARTS),$(HPCSTRUCT_LIBRARIES))))

# This compares with libxml2.
$(eval $(call unit_test,hpcstruct/test_xml_text,$(HPCSTRUCT_PARTS),$(HPCSTRUCT_LIBRARIES) -lxml2))
$(BUILD)/obj/tests/unit/hpcstruct/test_xml_text.o: CFLAGS += $(shell pkg-config --cflags libxml-2.0)

# This compares with libdwarf.
$(eval $(call unit_test,hpcstruct/test_dwarf_entries,$(HPCSTRUCT_PARTS),$(HPCSTRUCT_LIBRARIES) -ldwarf))

# These make a module by hand.
MADE_MODULE = $(BUILD)/obj/tests/unit/hpcstruct/made_module.o
$(foreach name,procedures procedure_scopes construct_regions jump_table cfg wanted_code,\
	$(eval $(call unit_test,hpcstruct/test_$(name),$(MADE_MODULE) $(HPCSTRUCT_PARTS),$(HPCSTRUCT_LIBRARIES))))

# For the tests: a program that shows what is found out about indirect jumps, and a fuzzer.
HPCSTRUCT_TOOLS = $(addprefix $(BUILD)/tests/tools/,show-jumps fuzz-structure)

$(HPCSTRUCT_TOOLS): $(BUILD)/tests/tools/%: $(BUILD)/obj/tests/programs/structure/%.o $(HPCSTRUCT_PARTS)
	$(call link,,$(HPCSTRUCT_LIBRARIES))

check-build: $(HPCSTRUCT_TOOLS)

# The long form of the tests on damaged binaries, under sanitizers; FUZZ_ROUNDS and FUZZ_SEED choose
# how much of what is tried.
.PHONY: fuzz-hpcstruct
fuzz: fuzz-hpcstruct
fuzz-hpcstruct:
	CFLAGS='$(SANITIZERS)' LDFLAGS='$(SANITIZERS)' $(MAKE) BUILD=$(BUILD)/sanitized \
		$(BUILD)/sanitized/bin/hpcstruct $(BUILD)/sanitized/tests/tools/fuzz-structure
	cd tests/integration && BUILD="$(abspath $(BUILD))/sanitized" FUZZ_ROUNDS=$${FUZZ_ROUNDS:-10000} \
		python3 -m unittest -v test_hpcstruct_use.BadInputTest.test_fuzz
