# hpcviewer, the terminal viewer and printer of databases.
VIEWER_LIBRARIES = -lZydis -lncursesw -ltinfo -ljansson -lz -lm
# Its folders, lowest first; a folder includes only those before it.
#   base              text, tasks (progress, problems, outcomes), distributions, scopes and costs
#   metrics           metrics, formulas, derived metrics, efficiency: no files
#   db                the files of a database: contexts, values, run.json, source text
#   threads           the threads of a run, and the values of each
#   tree              views: top-down, bottom-up, flat; filters, search, walks
#   timeline          when threads did what: rows of threads, cells of time
#   advice            what would make the run faster
#   compare           two databases as one, the runs of a set as one; sessions
#   scaling           sets of runs with several numbers of workers: tables
#   table             rows and columns: cells, lines, any table as text, Markdown, CSV or JSON
#   output            reports: views, threads, summaries, scaling
#   output/export     flame graphs, pprof, speedscope
#   terminal          screen, prompt, panes
#   terminal/screens  the pages and their commands
VIEWER_FOLDERS   = base metrics db threads tree timeline advice compare scaling table output output/export terminal terminal/screens
# Everything but main, as an archive: each unit test is linked with what it needs.
VIEWER_LIB       = $(BUILD)/obj/viewer.a
VIEWER_OBJECTS   = $(VIEWER_LIB) $(TOOL_LIB)

$(VIEWER_LIB): $(filter-out %/main.o,$(call objects_of,viewer-tui)) \
		$(foreach d,$(VIEWER_FOLDERS),$(call objects_of,viewer-tui/$(d)))
	$(if $(Q),@echo "  AR $@")
	$(Q)rm -f $@ && ar rcs $@ $^

PROGRAMS += $(BUILD)/bin/hpcviewer

$(BUILD)/bin/hpcviewer: $(BUILD)/obj/viewer-tui/main.o $(VIEWER_OBJECTS)
	$(call link,,$(VIEWER_LIBRARIES))

$(eval $(call unit_test,lib/test_json,$(TOOL_LIB),-ljansson -lm))
$(eval $(call unit_test,lib/test_number,$(TOOL_LIB),-lm))
$(eval $(call unit_test,lib/test_utf8,$(TOOL_LIB),))
$(eval $(call unit_test,lib/test_printable,$(TOOL_LIB),))
$(eval $(call unit_test,viewer-tui/test_formula,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_filters,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_pane,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_advice_words,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_judgement,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_verdict_stability,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_what_if,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_keys,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_editor,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_csv_fields,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_table,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_line_map,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_task,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_syntax,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_shorten,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_distribution,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_text,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_fate_counts,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_v4_map,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_values,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
MADE_TIMELINE = $(BUILD)/obj/tests/unit/viewer-tui/made_timeline.o
$(eval $(call unit_test,viewer-tui/test_time_cells,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_time_chart,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_time_looks,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_longest_chain,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_timeline,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_change_points,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_at_work,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_path_points,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_record_sums,$(MADE_TIMELINE) $(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
$(eval $(call unit_test,viewer-tui/test_asked_range,$(VIEWER_OBJECTS),$(VIEWER_LIBRARIES)))
