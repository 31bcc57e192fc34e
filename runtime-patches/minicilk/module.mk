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

$(BUILD)/lib/libminicilk.so: $(MINICILK_OBJS)
	$(call link,-shared -Wl$(comma)-z$(comma)now$(comma)-z$(comma)defs$(comma)-soname$(comma)libminicilk.so,-lpthread)

.PHONY: install-minicilk
install: install-minicilk
install-minicilk: all
	install -d $(PREFIX)/lib $(PREFIX)/include
	install -m 644 $(LIBMINICILK) $(PREFIX)/lib
	install $(BUILD)/lib/libminicilk.so $(PREFIX)/lib
	install -m 644 $(addprefix $(MINICILK)/minicilk,.h -inline.h -introspect.h -modes.h) $(PREFIX)/include

# Programs as users write them; `make demo` and the tests profile them.
CILK_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/programs/cilk/*.c))
PROGRAMS += $(CILK_PROGRAMS)

$(BUILD)/tests/programs/cilk/%: tests/programs/cilk/%.c tests/programs/cilk/driver.h \
		$(wildcard $(MINICILK)/*.h) $(LIBMINICILK)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC $<")
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE -O2 -g $(WARNINGS) -I$(MINICILK) -o $@ $< $(LIBMINICILK) -lpthread -lm
