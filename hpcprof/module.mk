# hpcprof, which makes a database of measurements and program structure.
HPCPROF_LIBRARIES = -lxml2 -lz -lm -lpthread
CFLAGS_hpcprof    := $(shell pkg-config --cflags libxml-2.0)

PROGRAMS += $(BUILD)/bin/hpcprof

$(BUILD)/bin/hpcprof: $(call objects_of,hpcprof) $(TOOL_LIB)
	$(call link,,$(HPCPROF_LIBRARIES))

hpcprof_objects = $(patsubst %,$(BUILD)/obj/hpcprof/%.o,$(1))

$(eval $(call unit_test,hpcprof/test_structure,$(call hpcprof_objects,structure structure-reader) $(TOOL_LIB),$(HPCPROF_LIBRARIES)))
$(eval $(call unit_test,hpcprof/test_contexts,$(call hpcprof_objects,context-tree) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_path_rules,$(call hpcprof_objects,path-rules) $(TOOL_LIB),))
