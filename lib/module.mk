# What several tools share, as one archive for the tools. libhpcrun.so takes single objects.
TOOL_LIB = $(BUILD)/obj/lib.a

$(TOOL_LIB): $(call objects_of,lib)
	$(if $(Q),@echo "  AR $@")
	$(Q)rm -f $@ && ar rcs $@ $^

$(eval $(call unit_test,lib/test_containers,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_elf_notes,,))
$(eval $(call unit_test,lib/test_bytes,$(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_process_list,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_subprocess,$(TOOL_LIB),-lpthread))
$(eval $(call unit_test,lib/test_kernel_symbols,$(TOOL_LIB),-lz))
MEASUREMENT_ENCODER = $(BUILD)/obj/tests/unit/lib/measurement_encoder.o
MEASUREMENT_CHECKS = $(BUILD)/obj/tests/fuzz/measurement-checks.o
$(eval $(call unit_test,lib/test_measurement_reader,$(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_measurement_lines,$(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_measurement_losses,$(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_arenas,$(MEASUREMENT_ENCODER) $(MEASUREMENT_CHECKS) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_measurement_trace,$(MEASUREMENT_ENCODER) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_measurement_damage,$(MEASUREMENT_ENCODER) $(MEASUREMENT_CHECKS) $(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_option_table,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_run_set,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_path,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_source_names,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_structure_cache,$(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_trusted_files,$(TOOL_LIB),-lz))
$(eval $(call unit_test,lib/test_path_rules,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_parallel,$(TOOL_LIB),-lpthread))
$(eval $(call unit_test,lib/test_diag_progress,$(TOOL_LIB),-lutil))
