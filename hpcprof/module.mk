# hpcprof: reads measurements and the structure of the measured programs, writes a database.
#
# Its folders, from the ground up: a file includes headers of its own folder and of those above it in this list.
#
#   team/         the processes that write one database together: hpcprof alone, or the ranks of hpcprof-mpi
#   base/         files that are written, programs that are run
#   modules/      load modules, and the structure of each: from hpcstruct or its cache
#   measurement/  measurement files: events, executables, how processes ended
#   runtime/      rules files, and the code that they call a parallel runtime's
#   metrics/      which samples are overhead or waiting, and the metrics that they are paid into
#   names/        functions and source files of all modules; clones of functions
#   tree/         trees of calling contexts
#   contexts/     from code addresses to calling contexts
#   threads/      where threads and their paths hang
#   attribution/  all threads: the two projections
#   sources/      copies of source files
#   database/     the files of the database
HPCPROF_FOLDERS = team base modules measurement runtime metrics names tree contexts threads attribution sources database

HPCPROF_LIBRARIES = -lelf -liberty -lz -lm -lpthread

PROGRAMS += $(BUILD)/bin/hpcprof

# hpcprof and hpcprof-mpi differ in one object.
HPCPROF_PARTS = $(filter-out %/team-alone.o %/team-mpi.o,$(call objects_of,hpcprof) \
	$(foreach d,$(HPCPROF_FOLDERS),$(call objects_of,hpcprof/$(d)))) $(TOOL_LIB)

$(BUILD)/bin/hpcprof: $(BUILD)/obj/hpcprof/team/team-alone.o $(HPCPROF_PARTS)
	$(call link,,$(HPCPROF_LIBRARIES))

# The wrapper of Open MPI or MPICH, whichever is installed, with our compiler.
MPICC ?= mpicc
MPI_COMPILE = OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC)

$(BUILD)/obj/hpcprof/team/team-mpi.o: hpcprof/team/team-mpi.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(MPI_COMPILE) $(CFLAGS) -c -o $@ $<

$(BUILD)/bin/hpcprof-mpi: $(BUILD)/obj/hpcprof/team/team-mpi.o $(HPCPROF_PARTS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(MPI_COMPILE) $(LDFLAGS) -o $@ $^ $(HPCPROF_LIBRARIES)

ifneq ($(shell command -v $(MPICC)),)
PROGRAMS += $(BUILD)/bin/hpcprof-mpi
else
.PHONY: without-mpi
all: without-mpi
without-mpi:
	@echo "hpcprof-mpi is not built: there is no $(MPICC)"
endif

hpcprof_objects = $(patsubst %,$(BUILD)/obj/hpcprof/%.o,$(1))

$(eval $(call unit_test,hpcprof/test_structure,$(BUILD)/obj/tests/unit/hpcprof/made_image.o $(BUILD)/obj/tests/fuzz/structure-checks.o $(call hpcprof_objects,modules/structure modules/structure-reader) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_recursive_calls,$(call hpcprof_objects,tree/context-tree tree/numbered-contexts tree/recursive-calls) $(TOOL_LIB),-lpthread))
$(eval $(call unit_test,hpcprof/test_file_writer,$(call hpcprof_objects,base/file-writer base/output-file team/team-alone) $(TOOL_LIB),-lpthread))
$(eval $(call unit_test,hpcprof/test_load_modules,$(call hpcprof_objects,modules/load-modules) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_thread_digest,$(call hpcprof_objects,team/thread-digest) $(TOOL_LIB),))
$(eval $(call unit_test,hpcprof/test_path_addresses,$(call hpcprof_objects,measurement/path-addresses modules/module-addresses team/team-alone team/packed-measurement team/thread-digest measurement/measurements modules/load-modules metrics/metric-table) $(TOOL_LIB),-lz -lpthread))

# test_hpcprof_fuzz.py under sanitizers; FUZZ_ROUNDS and FUZZ_SEED choose how much of what is tried.
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

.PHONY: fuzz-hpcprof
fuzz: fuzz-hpcprof
fuzz-hpcprof:
	CFLAGS='$(SANITIZERS)' LDFLAGS='$(SANITIZERS)' $(MAKE) BUILD=$(BUILD)/sanitized $(BUILD)/sanitized/bin/hpcprof
	cd tests/integration && BUILD="$(abspath $(BUILD))/sanitized" FUZZ_ROUNDS=$${FUZZ_ROUNDS:-2000} \
		python3 -m unittest -v test_hpcprof_fuzz
