# libhpcrun.so, the preloaded library, and hpcrun, the launcher.

# What of the library runs in the signal handler must not use the vector registers' callee state
# lazily, nor TLS that is allocated on demand: static TLS, hidden symbols, all bound at load time.
# -z initfirst: its constructor runs before those of the program's other libraries.
CFLAGS_hpcrun = -fPIC -fvisibility=hidden -ftls-model=initial-exec

# In this order, what every sample runs lies together: few pages and lines of code to load.
LIBHPCRUN_OBJS = $(foreach d,sample unwind code logical record hooks,$(call objects_of,hpcrun/$(d))) \
	$(call objects_of,hpcrun) $(BUILD)/obj/hpcrun/shared/crc32.o

PROGRAMS += $(BUILD)/lib/libhpcrun.so

LIBHPCRUN_FLAGS = -shared -Wl,-z,initfirst,-z,now,-z,defs,-soname,libhpcrun.so

$(BUILD)/lib/libhpcrun.so: $(LIBHPCRUN_OBJS)
	$(call link,$(LIBHPCRUN_FLAGS),)

# Files of lib/ are compiled once more for it.
$(BUILD)/obj/hpcrun/shared/%.o: lib/%.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_hpcrun) -c -o $@ $<

HPCRUN_OBJS = $(call objects_of,hpcrun/launch) \
	$(addprefix $(BUILD)/obj/hpcrun/,config.o rank.o text.o fds.o sample/source-perf.o)

PROGRAMS += $(BUILD)/bin/hpcrun

$(BUILD)/bin/hpcrun: $(HPCRUN_OBJS) $(TOOL_LIB)
	$(call link,,)

$(eval $(call unit_test,hpcrun/test_restart,$(BUILD)/obj/hpcrun/hooks/restart.o,))
UNWIND_PARTS = $(call objects_of,hpcrun/unwind) $(call objects_of,hpcrun/code) $(BUILD)/obj/hpcrun/pages.o
$(eval $(call unit_test,hpcrun/test_unwind_quiet,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_fallback,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_cct,$(BUILD)/obj/hpcrun/record/cct.o $(BUILD)/obj/hpcrun/record/segments.o \
	$(BUILD)/obj/hpcrun/pages.o,))
LOGICAL_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,logical/claims.o logical/consult.o logical/host.o logical/lnotes.o \
	logical/logical.o logical/recall.o record/cct.o record/segments.o text.o)
$(eval $(call unit_test,hpcrun/test_logical,$(LOGICAL_PARTS) $(UNWIND_PARTS),))
