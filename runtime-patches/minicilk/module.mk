# minicilk, the bundled work-stealing runtime, and the Cilk programs in tests/programs/cilk.

MINICILK = runtime-patches/minicilk
MINICILK_OBJS = $(call objects_of,$(MINICILK))
LIBMINICILK = $(BUILD)/lib/libminicilk.a

# One set of objects for both libraries.
$(MINICILK_OBJS): CFLAGS += -fPIC -fvisibility=hidden

PROGRAMS += $(LIBMINICILK) $(BUILD)/lib/libminicilk.so

$(LIBMINICILK): $(MINICILK_OBJS)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  AR $@")
	$(Q)rm -f $@ && ar rcs $@ $^

MINICILK_SO_FLAGS = -shared -Wl,-z,now,-z,defs,-soname,libminicilk.so

$(BUILD)/lib/libminicilk.so: $(MINICILK_OBJS)
	$(call link,$(MINICILK_SO_FLAGS),-lpthread)

.PHONY: install-minicilk
install: install-minicilk
install-minicilk: all
	install -d $(INSTALLED)/lib $(INSTALLED)/include
	install -m 644 $(LIBMINICILK) $(INSTALLED)/lib
	install $(BUILD)/lib/libminicilk.so $(INSTALLED)/lib
	install -m 644 $(addprefix $(MINICILK)/minicilk,.h -inline.h -introspect.h -modes.h) $(INSTALLED)/include

$(eval $(call unit_test,minicilk/test_runtime,$(LIBMINICILK),-lpthread))

# Programs as users write them; `make demo` and the tests profile them.
CILK_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/programs/cilk/*.c))
PROGRAMS += $(CILK_PROGRAMS)

$(BUILD)/tests/programs/cilk/%: tests/programs/cilk/%.c $(wildcard tests/programs/cilk/*.h $(MINICILK)/*.h) $(LIBMINICILK)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I$(MINICILK) -o $@ $< $(LIBMINICILK) -lpthread -lm

# Tests of the runtime that are built together with it, in many ways: NAME-VARIANT is
# tests/unit/minicilk/NAME.c with FLAGS_VARIANT. Modes: minicilk-modes.h.
SANITIZE_ADDRESS = -fsanitize=address,undefined -fno-sanitize-recover=all
FLAGS_plain   =
FLAGS_chaos   = -DMINICILK_MODES=2u
FLAGS_magic   = -DMINICILK_MODES=6u
FLAGS_fenced  = -DMINICILK_MODES=10u
FLAGS_address = $(SANITIZE_ADDRESS) -DMINICILK_MODES=3u
FLAGS_thread  = -fsanitize=thread -DMINICILK_MODES=2u
FLAGS_eager   = -DMINICILK_MODES=18u
VARIANTS = plain chaos magic fenced address thread

MINICILK_TESTS = $(BUILD)/tests/minicilk
MINICILK_VARIANTS = $(addprefix $(MINICILK_TESTS)/,$(addprefix stress-,$(VARIANTS)) \
	$(addprefix wakeups-,plain chaos fenced thread) $(addprefix steps-,plain chaos eager))
LIBS_steps = -Wl,-z,now -lunwind
MINICILK_BUILD = $(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I$(MINICILK)

# $(call runtime_variant,VARIANT): the whole runtime in one object. clang would add its sanitizer's.
NO_SANITIZER = $(if $(findstring clang,$(CC)),-fno-sanitize-link-runtime)
define runtime_variant
$(MINICILK_TESTS)/runtime-$(1).o: $(wildcard $(MINICILK)/*.[ch])
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  CC $$@")
	$$(Q)$$(MINICILK_BUILD) $$(FLAGS_$(1)) $$(NO_SANITIZER) -r -o $$@ $$(filter %.c,$$^)
endef
$(foreach variant,$(VARIANTS) eager,$(eval $(call runtime_variant,$(variant))))

# $(call test_variant,NAME,VARIANT)
define test_variant
$(MINICILK_TESTS)/$(1)-$(2): tests/unit/minicilk/$(1).c $(MINICILK_TESTS)/runtime-$(2).o tests/tools/sleeping-threads.h
	@mkdir -p $$(@D)
	$$(if $$(Q),@echo "  CC $$@")
	$$(Q)$$(MINICILK_BUILD) $$(FLAGS_$(2)) -o $$@ $$(filter-out %.h,$$^) $$(LIBS_$(1)) -lpthread
endef
$(foreach variant,$(VARIANTS),$(eval $(call test_variant,stress,$(variant))))
$(foreach variant,plain chaos fenced thread,$(eval $(call test_variant,wakeups,$(variant))))
$(foreach variant,plain chaos eager,$(eval $(call test_variant,steps,$(variant))))

integration-build: $(MINICILK_VARIANTS)

# The long form: millions of steals in every build, and millions of single steps.
.PHONY: stress-minicilk
stress: stress-minicilk
stress-minicilk: $(MINICILK_VARIANTS)
	$(MINICILK_TESTS)/stress-plain 16 20000
	$(MINICILK_TESTS)/stress-plain 16 20000 observed
	set -e; for variant in $(filter-out plain,$(VARIANTS)); do for workers in 1 2 4 8 16 32 64; do \
		echo "stress-$$variant $$workers"; \
		$(MINICILK_TESTS)/stress-$$variant $$workers $$((workers < 4 ? 50000 : 300000)); \
		$(MINICILK_TESTS)/stress-$$variant $$workers $$((workers < 4 ? 50000 : 300000)) observed; \
	done; done
	set -e; for variant in plain chaos; do for workers in 1 2 4 8; do \
		echo "steps-$$variant $$workers"; $(MINICILK_TESTS)/steps-$$variant $$workers 600000; \
	done; done
	set -e; for variant in plain chaos fenced thread; do for workers in 2 7 64; do \
		echo "wakeups-$$variant $$workers"; $(MINICILK_TESTS)/wakeups-$$variant $$workers 3000; \
	done; done
