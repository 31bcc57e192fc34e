# make            builds runnable tools in build/bin and manual pages in build/man; installs nothing
# make deps       installs the packages for build and tests: apt as root, else it prints the line to run
# make demo       deps, build; profiles three programs and prints their views
# make test       deps, build, all tests; make check: the same without deps; make check T=unwinding: one area
# make test-all   make test and all long forms: browser, mutants, fuzzing, stress; takes hours
# make story      prints a session in the terminal viewer; make picture, make tour write outputs into the documents
# make mutants    plants faults one at a time: the tests must notice each
# make bench      measurements side by side; make stress, make fuzz: the long forms of tests
# make install PREFIX=DIR
#
# The module.mk of each folder says what is built from it: no recursion, one dependency graph.

CC       ?= gcc
BUILD    ?= build
PREFIX   ?= /usr/local
OPT      ?= -O2 -g
WARNINGS  = -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wpointer-arith
CFLAGS   := -std=c11 -D_GNU_SOURCE $(OPT) $(WARNINGS) -I. -MMD -MP $(CFLAGS)

.SUFFIXES:
.DEFAULT_GOAL := all
.PHONY: all deps bench-deps test-all-deps demo test test-all check bench stress fuzz install clean

# Grown by the module.mk files.
PROGRAMS   =
UNIT_TESTS =

# `make V=1` shows the commands.
ifeq ($(V),)
Q = @
endif

comma := ,

# $(call objects_of,FOLDER): the objects of all C files in FOLDER.
objects_of = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1)/*.c))

# $(call link,FLAGS,LIBRARIES): the recipe that links what a rule needs to what it makes.
define link
@mkdir -p $(@D)
$(if $(Q),@echo "  LD $@")
$(Q)$(CC) $(LDFLAGS) $(1) -o $@ $^ $(2)
endef

# $(eval $(call unit_test,NAME,OBJECTS,LIBRARIES)): tests/unit/NAME.c is a cmocka program.
define unit_test
UNIT_TESTS += $(BUILD)/tests/unit/$(1)
$(BUILD)/tests/unit/$(1): $(BUILD)/obj/tests/unit/$(1).o $(BUILD)/obj/tests/unit/cmocka_suite.o $(2)
	$$(call link,,$(3) -lcmocka)
endef

include packages.mk
include lib/module.mk hpcrun/module.mk agents/module.mk hpcstruct/module.mk hpcprof/module.mk viewer-tui/module.mk
include runtime-patches/minicilk/module.mk
include tests/module.mk
include packaging/module.mk

# Manual pages: the lists of options and keys come from the tool.
MAN_PAGES = $(patsubst %.1.in,$(BUILD)/man/%.1,$(notdir $(wildcard */*.1.in)))
vpath %.1.in $(sort $(dir $(wildcard */*.1.in)))

$(BUILD)/man/%.1: %.1.in $(BUILD)/bin/% lib/manual-page.awk
	@mkdir -p $(@D)
	$(Q)awk -v tool=$(BUILD)/bin/$* -f lib/manual-page.awk $< >$@

all: $(PROGRAMS) $(MAN_PAGES)

# make tarball has flags for the tools only.
$(BUILD)/bin/%: LDFLAGS += $(TOOL_LDFLAGS)

# CFLAGS_FOLDER adds flags for the files of one folder.
$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) $(CFLAGS) $(CFLAGS_$(firstword $(subst /, ,$<))) -c -o $@ $<

# deps first, also with -j: what they install is needed to build.
# One job per CPU, unless the user said how many.
JOBS = $(if $(findstring j,$(firstword -$(MAKEFLAGS))),,-j$(shell nproc))

demo: deps
	$(MAKE) $(JOBS) all
	tests/demo.sh $(BUILD)

test: deps
	$(MAKE) $(JOBS) check

# The long forms: tests that need TEST_ALL and Chromium, then faults, fuzzing and stress one after the
# other.
test-all: test-all-deps
	TEST_ALL=1 $(MAKE) $(JOBS) check
	$(MAKE) $(JOBS) test-environments
	$(MAKE) mutants
	$(MAKE) fuzz
	$(MAKE) stress

COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

# With DESTDIR, what belongs in PREFIX comes into $(DESTDIR)$(PREFIX).
INSTALLED = $(DESTDIR)$(PREFIX)

install: all
	install -d $(INSTALLED)/bin $(INSTALLED)/lib/agents $(INSTALLED)/include $(INSTALLED)/share/man/man1 \
		$(COMPLETIONS)
	install $(filter $(BUILD)/bin/%,$(PROGRAMS)) $(INSTALLED)/bin
	install $(BUILD)/lib/libhpcrun.so $(BUILD)/lib/libhpctoolkit-cilktool.so $(BUILD)/lib/libhpctoolkit-ranges.so \
		$(BUILD)/lib/hpcrun-outside $(INSTALLED)/lib
	install $(filter %.so,$(AGENT_FILES)) $(INSTALLED)/lib/agents
	install -m 644 $(filter %.rules,$(AGENT_FILES)) $(INSTALLED)/lib/agents
	install -m 644 include/hpctoolkit.h $(INSTALLED)/include
	install -m 644 $(MAN_PAGES) $(INSTALLED)/share/man/man1
	install -m 644 completions/hpctoolkit.bash $(COMPLETIONS)/hpcrun
	for tool in hpcstruct hpcprof hpcviewer; do ln -sf hpcrun $(COMPLETIONS)/$$tool; done

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
