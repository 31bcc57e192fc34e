# libhpcrun.so, the preloaded library, and hpcrun, the launcher.
#
# The library's folders, from the ground up. A file may include headers of its own folder, of folders
# further left, and of lib/. tests/check_layout.py reads the two variables.
#
#   base/     system calls, locks, text, our file descriptors, hooks: without libc
#   config/   what was asked for: events, options, metrics; also the launcher's
#   process/  identity of this process, its lines in the log and on the terminal
#   code/     load modules: from an address to a module instance
#   unwind/   from registers to a physical call path
#   tree/     calling context trees
#   span/     work and span of fork-join programs, from the events of their runtime
#   logical/  agents: from a physical path to a logical one, and into a tree
#   thread/   the record of a thread, and the list of all
#   source/   sample sources: what sends the signals, and what each signal stands for
#   record/   the measurement file
#   restart/  system calls that a sample interrupted, and that go on
#   sample/   the signal handler: source -> unwind -> logical -> tree, now and then -> record
#   life/     begin and end of threads, fork and end of the process
#   hooks/    entry points: functions that the program calls, signals, the loader
HPCRUN_FOLDERS = base config process code unwind tree span logical thread source record restart sample life hooks

# cilktool/ is libhpctoolkit-cilktool.so, which hpcrun --work-span preloads, and which programs may be
# linked with. It has a copy of span/ for those without hpcrun.
HPCRUN_CILKTOOL_FOLDERS = base process span cilktool

# ranges/ is libhpctoolkit-ranges.so, which programs with ITT's tasks or NVTX's ranges open.
HPCRUN_RANGES_FOLDERS = base ranges

# launch/ is the launcher, a program of its own. It shares with the library the configuration, the
# judgement of program files, and the test whether perf events can be opened.
HPCRUN_LAUNCH_FOLDERS = base config source launch

# What of the library runs in the signal handler must not use the vector registers' callee state
# lazily, nor TLS that is allocated on demand: static TLS, hidden symbols, all bound at load time.
# -z initfirst: its constructor runs before those of the program's other libraries.
#
# A broken contract of ours must not end a user's program: only builds with ASSERTS=1, as those under
# sanitizers, have assertions.
CFLAGS_hpcrun = -fPIC -fvisibility=hidden -ftls-model=initial-exec $(if $(ASSERTS),,-DNDEBUG)

# What every sample runs comes first and lies together: few pages and lines of code to load.
SAMPLE_OBJS = $(addprefix $(BUILD)/obj/hpcrun/restart/,restart.o ended-calls.o interruptible-calls.o call-number.o resumed-calls.o cancellation.o) \
	$(foreach d,sample source unwind code logical tree thread,$(call objects_of,hpcrun/$(d)))
LIBHPCRUN_OBJS = $(SAMPLE_OBJS) $(call objects_of,agents/pthread) $(addprefix $(BUILD)/obj/hpcrun/shared/,printable.o utf8.o measurement-format.o chunk.o thread-chunks.o trace-chunks.o) \
	$(filter-out $(SAMPLE_OBJS),$(foreach d,record restart hooks process life config base span,$(call objects_of,hpcrun/$(d))))

PROGRAMS += $(BUILD)/lib/libhpcrun.so

LIBHPCRUN_FLAGS = -shared -Wl,-z,initfirst,-z,now,-z,defs,-soname,libhpcrun.so

$(BUILD)/lib/libhpcrun.so: $(LIBHPCRUN_OBJS)
	$(call link,$(LIBHPCRUN_FLAGS),)

# Files of lib/ are compiled once more for it.
$(BUILD)/obj/hpcrun/shared/%.o: lib/%.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_hpcrun) -c -o $@ $<

CILKTOOL_PARTS = $(call objects_of,hpcrun/cilktool) $(BUILD)/obj/hpcrun/span/frame-span.o
CILKTOOL_ENGINE = $(addprefix $(BUILD)/obj/hpcrun/,$(addprefix span/,frame-span.o span-frames.o task-threads.o strand-clock.o \
	work-span.o span-results.o span-contexts.o critical-path.o worker-memory.o grains.o) \
	base/own-pages.o base/own-section.o)
CILKTOOL = $(BUILD)/lib/libhpctoolkit-cilktool.so
PROGRAMS += $(CILKTOOL)

$(BUILD)/obj/hpcrun/cilktool/csi-hooks.o: CFLAGS += -fno-omit-frame-pointer
$(CILKTOOL): $(call objects_of,hpcrun/cilktool) $(CILKTOOL_ENGINE)
	$(call link,-shared -Wl$(comma)-z$(comma)now$(comma)-z$(comma)defs$(comma)-soname$(comma)$(@F),)

RANGES = $(BUILD)/lib/libhpctoolkit-ranges.so
PROGRAMS += $(RANGES)

$(RANGES): $(call objects_of,hpcrun/ranges)
	$(call link,-shared -Wl$(comma)-z$(comma)now$(comma)-soname$(comma)$(@F),)

HPCRUN_OBJS = $(call objects_of,hpcrun/launch) \
	$(addprefix $(BUILD)/obj/hpcrun/,config/run-config.o base/text-buffer.o base/own-fds.o base/program-file.o base/seccomp-filters.o base/shared-pages.o base/kernel-text.o source/source-perf.o)

PROGRAMS += $(BUILD)/bin/hpcrun

$(BUILD)/bin/hpcrun: $(HPCRUN_OBJS) $(TOOL_LIB)
	$(call link,,-lz)

# outside/ is hpcrun-outside, which measures processes that the library is not loaded into. It has the
# library's unwinder, trees and files. Of the modules' table and the sample sources it has its own: those
# objects of the library are left out. It lies at an address where other programs have nothing
# (outside/module-image.h).
HPCRUN_OUTSIDE_FOLDERS = base config process code unwind tree logical thread source record sample life

OUTSIDE_OBJS = $(call objects_of,hpcrun/outside) $(call objects_of,agents/pthread) $(call objects_of,agents/python) $(BUILD)/obj/agents/common/loaded-modules.o $(foreach d,unwind tree thread record process config,$(call objects_of,hpcrun/$(d))) \
	$(addprefix $(BUILD)/obj/hpcrun/,code/module-instances.o sample/sample.o sample/sample-trace.o sample/lock-wait-record.o sample/own-path.o life/process-summary.o source/source-perf.o source/kernel-frames.o \
	base/own-fds.o base/own-pages.o base/own-section.o base/program-file.o base/seccomp-filters.o base/shared-pages.o base/text-buffer.o base/fork-mark.o base/kernel-text.o \
	$(addprefix logical/,agent-host.o agent-names.o agent-query.o agent-table.o answer-cache.o claims.o lock-waiters.o logical.o stack-owner.o wait-slots.o))
HPCRUN_OUTSIDE = $(BUILD)/lib/hpcrun-outside
PROGRAMS += $(HPCRUN_OUTSIDE)

$(HPCRUN_OUTSIDE): $(filter-out %/region-chunks.o,$(OUTSIDE_OBJS)) $(TOOL_LIB)
	$(call link,-no-pie -Wl$(comma)-Ttext-segment=0x70000000,-lz)

SAMPLED_THREAD = $(addprefix $(BUILD)/obj/,tests/unit/hpcrun/sampled_thread.o tests/unit/hpcrun/simulated_kernel.o hpcrun/base/text-buffer.o hpcrun/source/kernel-frames.o)
$(eval $(call unit_test,hpcrun/test_increments,$(SAMPLED_THREAD),-lm))
$(eval $(call unit_test,hpcrun/test_ready_time,$(SAMPLED_THREAD),))
$(eval $(call unit_test,hpcrun/test_source_timer,$(BUILD)/obj/hpcrun/base/text-buffer.o,))
$(eval $(call unit_test,hpcrun/test_kernel_frames,$(BUILD)/obj/hpcrun/source/kernel-frames.o,))
$(eval $(call unit_test,hpcrun/test_cfi,$(BUILD)/obj/hpcrun/unwind/cfi.o,))
$(eval $(call unit_test,hpcrun/test_instruction,$(BUILD)/obj/hpcrun/unwind/instruction.o,-lZydis))
QUEUE_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,outside/record-queue.o outside/copy-size.o outside/perf-records.o source/kernel-frames.o)
CAUGHT_PARTS = $(BUILD)/obj/hpcrun/outside/caught-memory.o $(QUEUE_PARTS)
$(eval $(call unit_test,hpcrun/test_foreign_maps,$(BUILD)/obj/hpcrun/outside/foreign-maps.o $(TOOL_LIB),))
$(eval $(call unit_test,hpcrun/test_foreign_memory,$(addprefix $(BUILD)/obj/hpcrun/,outside/foreign-memory.o unwind/memory.o) $(CAUGHT_PARTS),))
$(eval $(call unit_test,hpcrun/test_perf_records,$(addprefix $(BUILD)/obj/hpcrun/,outside/perf-records.o outside/ring-reader.o source/kernel-frames.o),))
$(eval $(call unit_test,hpcrun/test_copy_size,$(BUILD)/obj/hpcrun/outside/copy-size.o,))
$(eval $(call unit_test,hpcrun/test_unsampled_time,$(BUILD)/obj/hpcrun/outside/unsampled-time.o,))
$(eval $(call unit_test,hpcrun/test_cpu_events,$(addprefix $(BUILD)/obj/hpcrun/,outside/cpu-events.o outside/short-turns.o base/text-buffer.o),))
$(eval $(call unit_test,hpcrun/test_throttling,$(addprefix $(BUILD)/obj/hpcrun/,outside/perf-records.o source/kernel-frames.o),))
$(eval $(call unit_test,hpcrun/test_measured_process,$(addprefix $(BUILD)/obj/hpcrun/,outside/measured-process.o process/identity.o base/program-file.o base/seccomp-filters.o base/text-buffer.o config/run-config.o) $(TOOL_LIB),))
$(eval $(call unit_test,hpcrun/test_traced_processes,$(BUILD)/obj/hpcrun/outside/traced-processes.o,))
$(eval $(call unit_test,hpcrun/test_record_queue,$(QUEUE_PARTS),))
$(eval $(call unit_test,hpcrun/test_caught_memory,$(CAUGHT_PARTS),))
$(eval $(call unit_test,hpcrun/test_catch,$(BUILD)/obj/hpcrun/outside/catch.o $(CAUGHT_PARTS),))
$(eval $(call unit_test,hpcrun/test_eh_frame_index,$(addprefix $(BUILD)/obj/hpcrun/,outside/eh-frame-index.o unwind/cfi.o),))
$(eval $(call unit_test,hpcrun/test_module_image,$(addprefix $(BUILD)/obj/hpcrun/,outside/module-image.o outside/eh-frame-index.o outside/go-frames.o) $(TOOL_LIB),))
$(eval $(call unit_test,hpcrun/test_guard,$(BUILD)/obj/hpcrun/unwind/memory.o,))
RESTART_PARTS = $(addprefix $(BUILD)/obj/hpcrun/restart/,restart.o interruptible-calls.o)
$(eval $(call unit_test,hpcrun/test_restart,$(RESTART_PARTS),))
$(eval $(call unit_test,hpcrun/test_transfers,,))
$(eval $(call unit_test,hpcrun/test_event_waits,$(BUILD)/obj/hpcrun/logical/semaphore-locks.o,))
$(eval $(call unit_test,hpcrun/test_semaphore_locks,$(BUILD)/obj/hpcrun/logical/semaphore-locks.o,))
$(eval $(call unit_test,hpcrun/test_lock_waits,,))
$(eval $(call unit_test,hpcrun/test_condition_waits,,))
$(eval $(call unit_test,hpcrun/test_child_waits,,))
$(eval $(call unit_test,hpcrun/test_ended_calls,$(RESTART_PARTS) $(BUILD)/obj/hpcrun/unwind/memory.o,))
$(eval $(call unit_test,hpcrun/test_call_rests,$(RESTART_PARTS) $(BUILD)/obj/hpcrun/unwind/memory.o,))
$(eval $(call unit_test,hpcrun/test_cpu_quota,$(BUILD)/obj/hpcrun/base/text-buffer.o,))
MADE_SAMPLE = $(BUILD)/obj/tests/unit/hpcrun/made_sample.o $(BUILD)/obj/hpcrun/sample/sample.o $(TOOL_LIB)
$(foreach t,test_sample test_sample_metrics,$(eval $(call unit_test,hpcrun/$(t),$(MADE_SAMPLE),)))
$(eval $(call unit_test,hpcrun/test_sample_trace,$(addprefix $(BUILD)/obj/hpcrun/,sample/sample-trace.o tree/segments.o),-lm))
$(eval $(call unit_test,hpcrun/test_wake_up_record,$(addprefix $(BUILD)/obj/hpcrun/,sample/wake-up-record.o logical/last-wakers.o tree/segments.o \
	base/own-fds.o base/own-pages.o base/shared-pages.o),))
$(eval $(call unit_test,hpcrun/test_handler,$(addprefix $(BUILD)/obj/hpcrun/,sample/handler.o base/text-buffer.o),))
SIGNAL_PARTS = $(BUILD)/obj/tests/unit/hpcrun/signal_recorder.o $(addprefix $(BUILD)/obj/hpcrun/,hooks/signals.o \
	hooks/signal-entry.o hooks/kernel-stack-users.o code/module-ranges.o \
	thread/signal-stack.o hooks/old-signals.o restart/restart.o restart/interruptible-calls.o unwind/memory.o base/shared-pages.o base/own-fds.o base/own-section.o base/fork-mark.o base/own-pages.o)
SIMULATED_GO = $(BUILD)/tests/simulated/simulated-go.so
$(SIMULATED_GO): tests/unit/hpcrun/simulated_go.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
$(eval $(call unit_test,hpcrun/test_signal_entry,$(SIGNAL_PARTS) $(SIMULATED_GO),-Xlinker -rpath -Xlinker "$(abspath $(BUILD))/tests/simulated"))
$(foreach t,test_signal_masks test_signal_actions test_fatal_signals,\
	$(eval $(call unit_test,hpcrun/$(t),$(SIGNAL_PARTS),)))
$(eval $(call unit_test,hpcrun/test_own_fds,$(addprefix $(BUILD)/obj/hpcrun/,base/own-fds.o base/own-section.o hooks/fd-hooks.o),))
$(eval $(call unit_test,hpcrun/test_raised_limit,,))
$(eval $(call unit_test,hpcrun/test_module_instances,$(call objects_of,hpcrun/code) $(BUILD)/obj/hpcrun/base/own-pages.o,))
UNWIND_PARTS = $(call objects_of,hpcrun/unwind) $(call objects_of,hpcrun/code) $(BUILD)/obj/hpcrun/base/own-pages.o
$(eval $(call unit_test,hpcrun/test_fallback,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_code_rule,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_saved_sp,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_context_step,$(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_call_number,$(BUILD)/obj/hpcrun/restart/call-number.o $(UNWIND_PARTS),))
FLUSH_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,record/flush.o record/chunk-writer.o tree/cct.o tree/lnotes.o tree/segments.o \
	thread/thread-image.o thread/ready-time.o base/own-pages.o base/shared-pages.o base/own-fds.o base/text-buffer.o)
$(eval $(call unit_test,hpcrun/test_flush,$(FLUSH_PARTS) $(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,hpcrun/test_joinable,$(addprefix $(BUILD)/obj/hpcrun/,thread/joinable.o base/own-pages.o base/own-section.o),))
CCT_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,tree/cct.o tree/segments.o base/own-pages.o base/shared-pages.o base/own-fds.o)
$(eval $(call unit_test,hpcrun/test_cct,$(CCT_PARTS),))
$(eval $(call unit_test,hpcrun/test_saved_path,$(CCT_PARTS) $(addprefix $(BUILD)/obj/hpcrun/,tree/lnotes.o tree/saved-path.o),))
$(eval $(call unit_test,hpcrun/test_wait_slots,$(addprefix $(BUILD)/obj/hpcrun/,logical/wait-slots.o base/own-pages.o),))
$(eval $(call unit_test,hpcrun/test_lock_waiters,$(BUILD)/obj/hpcrun/logical/lock-waiters.o,))
$(eval $(call unit_test,hpcrun/test_stack_owner,$(addprefix $(BUILD)/obj/hpcrun/,logical/stack-owner.o logical/wait-slots.o base/own-pages.o),))
$(eval $(call unit_test,hpcrun/test_agent_names,$(addprefix $(BUILD)/obj/hpcrun/,logical/agent-names.o unwind/memory.o base/own-pages.o shared/utf8.o),-lpthread))
$(eval $(call unit_test,hpcrun/test_answer_cache,$(BUILD)/obj/hpcrun/logical/answer-cache.o,))
LOGICAL_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,logical/agent-table.o logical/claims.o logical/agent-query.o \
	logical/agent-host.o logical/agent-names.o logical/logical.o logical/answer-cache.o logical/wait-slots.o logical/stack-owner.o tree/cct.o tree/lnotes.o tree/segments.o base/text-buffer.o \
	base/shared-pages.o base/own-fds.o shared/utf8.o)
$(eval $(call unit_test,hpcrun/test_logical,$(LOGICAL_PARTS) $(UNWIND_PARTS),))
$(eval $(call unit_test,hpcrun/test_claims,$(addprefix $(BUILD)/obj/hpcrun/,logical/claims.o base/own-pages.o),))
$(eval $(call unit_test,hpcrun/test_lnotes,$(addprefix $(BUILD)/obj/hpcrun/,tree/lnotes.o tree/segments.o base/own-pages.o base/shared-pages.o base/own-fds.o),))
SPAN_PARTS = $(addprefix $(BUILD)/obj/hpcrun/,span/work-span.o span/span-frames.o span/span-results.o span/span-contexts.o span/critical-path.o span/worker-memory.o span/grains.o base/own-pages.o base/own-section.o) $(BUILD)/obj/tests/unit/hpcrun/simulated_clock.o
$(eval $(call unit_test,hpcrun/test_work_span,$(SPAN_PARTS) $(BUILD)/obj/tests/unit/hpcrun/program_graph.o,-lm))
$(eval $(call unit_test,hpcrun/test_grains,$(BUILD)/obj/hpcrun/span/grains.o $(BUILD)/obj/tests/unit/hpcrun/simulated_clock.o,))
$(eval $(call unit_test,hpcrun/test_task_span,$(SPAN_PARTS) $(addprefix $(BUILD)/obj/hpcrun/,span/task-span.o span/task-paths.o) \
	$(addprefix $(BUILD)/obj/tests/unit/hpcrun/,program_graph.o simulated_tasks.o),))
$(eval $(call unit_test,hpcrun/test_strand_clock,,))
$(eval $(call unit_test,hpcrun/test_frame_span,$(SPAN_PARTS) $(CILKTOOL_PARTS) \
	$(addprefix $(BUILD)/obj/tests/unit/hpcrun/,program_graph.o simulated_cilk.o),))
