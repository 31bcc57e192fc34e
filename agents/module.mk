# Agents, one folder per runtime: NAME/*.c are linked to lib/agents/NAME.so; NAME.rules lies beside it.
AGENTS = minicilk cilk5 opencilk gomp openmp tbb openblas python

# The folders from the ground up: an agent uses common/, and no other agent.
#   common/    symbols of ELF files, runtimes in programs, copies of runtimes, states of threads, contexts
#              of OpenMP's constructs and tasks
#   pthread/   the agent for plain threads: a part of libhpcrun.so
#   NAME/      the agent of one runtime
#   rules/     rules files of runtimes that need no agent
AGENTS_FOLDERS = common pthread minicilk cilk5 opencilk gomp openmp tbb openblas python

CFLAGS_agents = -fPIC -fvisibility=hidden

AGENT_FILES = $(foreach a,$(AGENTS),$(BUILD)/lib/agents/$(a).so $(BUILD)/lib/agents/$(a).rules)
PROGRAMS += $(AGENT_FILES)

AGENT_FLAGS = -shared -Wl,-z,now,-z,defs,--dynamic-list=agents/common/shared-data.list

# Rules of runtimes that need no agent (hpcprof/runtime/rules.h), beside those of the agents.
RUNTIME_RULES = $(patsubst agents/rules/%,$(BUILD)/lib/agents/%,$(wildcard agents/rules/*.rules))
PROGRAMS += $(RUNTIME_RULES)
AGENT_FILES += $(RUNTIME_RULES)

$(RUNTIME_RULES): $(BUILD)/lib/agents/%.rules: agents/rules/%.rules
	@mkdir -p $(@D)
	$(Q)cp $< $@

# Shared by most agents.
AGENTS_COMMON = $(BUILD)/obj/agents/common/linked-runtime.o $(BUILD)/obj/agents/common/loaded-modules.o
$(BUILD)/lib/agents/cilk5.so $(BUILD)/lib/agents/opencilk.so: $(AGENTS_COMMON)
$(BUILD)/lib/agents/minicilk.so $(BUILD)/lib/agents/python.so: $(BUILD)/obj/agents/common/loaded-modules.o

# Agents that interpose functions. Their wrappers have frame pointers, from which they read their
# caller's registers.
CREATOR_COMMON = $(patsubst %,$(BUILD)/obj/agents/common/%.o,thread-slots task-records ready-tasks creator-paths missing-bodies)
INTERPOSER_COMMON = $(patsubst %,$(BUILD)/obj/agents/common/%.o,trampoline-frames runtime-copies)
$(BUILD)/lib/agents/gomp.so $(BUILD)/lib/agents/openmp.so $(BUILD)/lib/agents/tbb.so: $(AGENTS_COMMON) $(CREATOR_COMMON)
$(BUILD)/lib/agents/gomp.so $(BUILD)/lib/agents/tbb.so: $(INTERPOSER_COMMON)
$(BUILD)/lib/agents/openblas.so: $(patsubst %,$(BUILD)/obj/agents/common/%.o,loaded-modules thread-slots creator-paths missing-bodies runtime-copies)
$(BUILD)/lib/agents/gomp.so: AGENT_FLAGS += -Wl,--version-script=agents/gomp/exports.map
$(call objects_of,agents/tbb): CFLAGS += -fexceptions
$(CREATOR_COMMON) $(INTERPOSER_COMMON) $(foreach a,gomp openmp tbb openblas,$(call objects_of,agents/$(a))): CFLAGS += -fno-omit-frame-pointer

$(foreach a,$(AGENTS),$(eval $(BUILD)/lib/agents/$(a).so: $(call objects_of,agents/$(a))))
$(BUILD)/lib/agents/%.so:
	$(call link,$(AGENT_FLAGS),)

define agent_rules
$(BUILD)/lib/agents/$(1).rules: agents/$(1)/$(1).rules
	@mkdir -p $$(@D)
	$(Q)cp $$< $$@
endef
$(foreach a,$(AGENTS),$(eval $(call agent_rules,$(a))))

# The agent for plain threads is linked into libhpcrun.so (hpcrun/module.mk); only its rules are a file.
$(eval $(call agent_rules,pthread))
PROGRAMS += $(BUILD)/lib/agents/pthread.rules
AGENT_FILES += $(BUILD)/lib/agents/pthread.rules

RECORDING_HOST = $(BUILD)/obj/tests/unit/agents/recording_host.o
$(eval $(call unit_test,agents/test_minicilk_agent,$(call objects_of,agents/minicilk) $(BUILD)/obj/agents/common/loaded-modules.o $(RECORDING_HOST),))
$(eval $(call unit_test,agents/test_linked_runtime,$(AGENTS_COMMON),))

OPENMP_EVENTS = $(patsubst %,$(BUILD)/obj/agents/openmp/%.o,events scopes body-code) \
	$(patsubst %,$(BUILD)/obj/agents/common/%.o,thread-slots task-records)
$(eval $(call unit_test,agents/test_openmp_events,$(OPENMP_EVENTS),))
$(eval $(call unit_test,agents/test_openmp_span_events,$(OPENMP_EVENTS) \
	$(patsubst %,$(BUILD)/obj/agents/%.o,openmp/span-events common/loaded-modules),))
$(eval $(call unit_test,agents/test_thread_slots,$(BUILD)/obj/agents/common/thread-slots.o,))
$(eval $(call unit_test,agents/test_plain_threads,$(patsubst %,$(BUILD)/obj/agents/%.o,pthread/agent common/thread-slots),))
$(eval $(call unit_test,agents/test_team_starts,$(patsubst %,$(BUILD)/obj/agents/%.o,gomp/team-starts common/thread-slots),))
$(eval $(call unit_test,agents/test_ready_tasks,$(patsubst %,$(BUILD)/obj/agents/common/%.o,ready-tasks task-records thread-slots),))
$(eval $(call unit_test,agents/test_team_waits,$(patsubst %,$(BUILD)/obj/agents/common/%.o,task-records thread-slots),))
$(foreach t,test_python_frames test_python_names,\
	$(eval $(call unit_test,agents/$(t),$(patsubst %,$(BUILD)/obj/agents/python/%.o,python-frames python-names python-objects),)))
$(eval $(call unit_test,agents/test_python_objects,$(patsubst %,$(BUILD)/obj/agents/python/%.o,python-objects python-frames),))
$(eval $(call unit_test,agents/test_python_tasks,$(patsubst %,$(BUILD)/obj/agents/python/%.o,python-tasks python-objects python-frames),))
$(eval $(call unit_test,agents/test_python_locks,$(patsubst %,$(BUILD)/obj/agents/python/%.o,python-locks python-objects python-frames),))
$(eval $(call unit_test,agents/test_python_layout,$(BUILD)/obj/agents/python/python-layout.o,))
$(eval $(call unit_test,agents/test_missing_bodies,$(BUILD)/obj/agents/common/missing-bodies.o,))
TBB_TASKS = $(patsubst %,$(BUILD)/obj/agents/tbb/%.o,tbb-tasks task-contexts) \
	$(patsubst %,$(BUILD)/obj/agents/common/%.o,thread-slots task-records)
$(eval $(call unit_test,agents/test_tbb_tasks,$(TBB_TASKS),))
TBB_AGENT = $(BUILD)/obj/agents/tbb/agent.o $(AGENTS_COMMON) $(RECORDING_HOST) \
	$(patsubst %,$(BUILD)/obj/agents/common/%.o,thread-slots creator-paths missing-bodies trampoline-frames)
$(eval $(call unit_test,agents/test_tbb_agent,$(TBB_AGENT),))

# Copies of a library that the program opens.
SIMULATED_COPIES = $(patsubst %,$(BUILD)/tests/simulated/simulated-copy-%.so,1 2)
$(SIMULATED_COPIES): tests/unit/agents/simulated-copy.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
SIMULATED_USER = $(BUILD)/tests/simulated/simulated-user.so
$(SIMULATED_USER): tests/unit/agents/simulated-copy.c $(BUILD)/tests/simulated/simulated-copy-2.so
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) -DUSER -fPIC -shared -Wl,--no-as-needed,-rpath,'$$ORIGIN' -o $@ $^
$(eval $(call unit_test,hpcrun/test_module_list,$(addprefix $(BUILD)/obj/hpcrun/,code/module-list.o base/own-pages.o),$$(SIMULATED_RPATH)))
$(BUILD)/tests/unit/hpcrun/test_module_list: | $(SIMULATED_COPIES)
COPIES_PARTS = $(patsubst %,$(BUILD)/obj/agents/%.o,common/runtime-copies common/loaded-modules \
	gomp/gomp-copies tbb/tbb-copies)
$(eval $(call unit_test,agents/test_runtime_copies,$(COPIES_PARTS),$$(SIMULATED_RPATH) -Xlinker --wrap=calloc \
	-Xlinker --wrap=dladdr1 -Xlinker --wrap=dl_iterate_phdr))
$(BUILD)/tests/unit/agents/test_runtime_copies: | $(SIMULATED_COPIES) $(SIMULATED_USER)

SIMULATED_CILK5 = $(call objects_of,agents/cilk5) $(BUILD)/obj/agents/common/linked-runtime.o $(RECORDING_HOST) \
	$(BUILD)/obj/tests/unit/agents/simulated_cilk5.o
$(eval $(call unit_test,agents/test_cilk5_agent,$(SIMULATED_CILK5),))
$(eval $(call unit_test,agents/test_cilk5_caller,$(SIMULATED_CILK5),))
$(eval $(call unit_test,agents/test_cilk5_threads,$(SIMULATED_CILK5),))
$(eval $(call unit_test,agents/test_cilk5_observer,$(BUILD)/obj/agents/cilk5/cilk5-observer.o,))

# A program with a simulated runtime as a module, and further modules that the program opens.
SIMULATED_CHEETAH = $(BUILD)/tests/simulated/simulated-cheetah.so
OTHER_CHEETAHS = $(BUILD)/tests/simulated/simulated-old-cheetah.so $(BUILD)/tests/simulated/simulated-patched-cheetah.so
$(BUILD)/tests/simulated/simulated-patched-cheetah.so: CFLAGS += -DPATCHED
$(BUILD)/tests/simulated/simulated-patched-cheetah.so: tests/unit/agents/simulated-cheetah.c
$(BUILD)/tests/simulated/simulated-cheetah.so: tests/unit/agents/simulated-cheetah.c
$(BUILD)/tests/simulated/simulated-old-cheetah.so: tests/unit/agents/simulated-old-cheetah.c
$(SIMULATED_CHEETAH) $(OTHER_CHEETAHS):
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
OPENCILK_PARTS = $(call objects_of,agents/opencilk) $(AGENTS_COMMON) $(RECORDING_HOST)
SIMULATED_RPATH = -Xlinker -rpath -Xlinker "$(abspath $(BUILD))/tests/simulated"
$(eval $(call unit_test,agents/test_opencilk_agent,$(OPENCILK_PARTS) $(SIMULATED_CHEETAH),$(SIMULATED_RPATH)))
$(BUILD)/tests/unit/agents/test_opencilk_agent: | $(OTHER_CHEETAHS)

# The same with the simulated runtime linked into the program.
SIMULATED_OBJECT = $(BUILD)/obj/tests/unit/agents/simulated-cheetah.o
$(eval $(call unit_test,agents/test_opencilk_linked,$(OPENCILK_PARTS) $(SIMULATED_OBJECT),))
