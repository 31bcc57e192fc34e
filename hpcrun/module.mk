# libhpcrun.so, the preloaded library, and hpcrun, the launcher.
#
# The library's folders, from the ground up. Each may use those above it in this list, and none
# below it; between files of a folder it is the same: nobody uses a file that uses him.
#
#   base/     system calls, locks, text, file descriptors of ours: without libc
#   config/   what was asked for: events, options, metrics; also the launcher's
#   process/  who this process is, and its lines in the log and on the terminal
#   code/     load modules: what an address is
#   unwind/   from registers to a physical call path
#   tree/     calling context trees
#   logical/  agents, and what they make of a path; enters it into a tree
#   thread/   what is known of a thread, and the list of all
#   source/   where signals of an event come from, and what each stands for
#   record/   the measurement file
#   sample/   a sample: source -> unwind -> logical -> tree, and now and then -> record
#   life/     begin and end of threads, fork and end of the process
#   hooks/    where the program, the kernel and the loader enter: the library's entry points
#
# launch/ is the launcher, a program of its own.

# What of the library runs in the signal handler must not use the vector registers' callee state
# lazily, nor TLS that is allocated on demand: static TLS, hidden symbols, all bound at load time.
# -z initfirst: its constructor runs before those of the program's other libraries.
CFLAGS_hpcrun = -fPIC -fvisibility=hidden -ftls-model=initial-exec

# What every sample runs comes first and lies together: few pages and lines of code to load.
SAMPLE_OBJS = $(addprefix $(BUILD)/obj/hpcrun/hooks/,handler.o restart.o) \
	$(foreach d,sample source unwind code logical tree thread,$(call objects_of,hpcrun/$(d)))
LIBHPCRUN_OBJS = $(SAMPLE_OBJS) $(addprefix $(BUILD)/obj/hpcrun/shared/,crc32.o printable.o utf8.o process-list.o measurement-words.o) \
	$(filter-out $(SAMPLE_OBJS),$(foreach d,record hooks process life config base,$(call objects_of,hpcrun/$(d))))

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
	$(addprefix $(BUILD)/obj/hpcrun/,config/config.o config/rank.o base/text.o base/fds.o base/program-file.o source/source-perf.o)

PROGRAMS += $(BUILD)/bin/hpcrun

$(BUILD)/bin/hpcrun: $(HPCRUN_OBJS) $(TOOL_LIB)
	$(call link,,)

$(eval $(call unit_test,hpcrun/test_increments,$(BUILD)/obj/tests/unit/hpcrun/simulated_kernel.o $(addprefix $(BUILD)/obj/hpcrun/,thread/thread.o base/text.o),-lm))
$(eval $(call unit_test,hpcrun/test_cfi,$(BUILD)/obj/hpcrun/unwind/cfi.o,))
$(eval $(call unit_test,hpcrun/test_guard,$(BUILD)/obj/hpcrun/unwind/guard.o,))
$(eval $(call unit_test,hpcrun/test_restart,$(BUILD)/obj/hpcrun/hooks/restart.o,))
UNWIND_PARTS = $(call objects_of,hpcrun/unwind) $(call objects_of,hpcrun/code) $(BUILD)/obj/hpcrun/base/pages.o
$(eval $(call unit_test,hpcrun/test_unwind_quiet,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_fallback,$(UNWIND_PARTS),))
FLUSH_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,record/flush.o record/chunk.o tree/cct.o tree/lnotes.o tree/segments.o thread/tally.o \
	base/pages.o base/text.o)
$(eval $(call unit_test,hpcrun/test_flush,$(FLUSH_PARTS) $(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,hpcrun/test_joinable,$(addprefix $(BUILD)/obj/hpcrun/,thread/joinable.o base/pages.o),))
CCT_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,tree/cct.o tree/segments.o base/pages.o)
$(eval $(call unit_test,hpcrun/test_cct,$(CCT_PARTS),))
LOGICAL_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,process/process.o logical/agent-table.o logical/claims.o logical/consult.o \
	logical/host.o logical/refusals.o logical/logical.o logical/recall.o tree/cct.o tree/lnotes.o tree/segments.o base/text.o)
$(eval $(call unit_test,hpcrun/test_logical,$(LOGICAL_PARTS) $(UNWIND_PARTS),))
