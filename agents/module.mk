# Agents, one folder per runtime: NAME/*.c become lib/agents/NAME.so, with NAME.rules beside it.
AGENTS = minicilk cilk5 opencilk

CFLAGS_agents = -fPIC -fvisibility=hidden

AGENT_FILES = $(foreach a,$(AGENTS),$(BUILD)/lib/agents/$(a).so $(BUILD)/lib/agents/$(a).rules)
PROGRAMS += $(AGENT_FILES)

AGENT_FLAGS = -shared -Wl,-z,now,-z,defs

$(foreach a,$(AGENTS),$(eval $(BUILD)/lib/agents/$(a).so: $(call objects_of,agents/$(a))))
$(BUILD)/lib/agents/%.so:
	$(call link,$(AGENT_FLAGS),)

define agent_rules
$(BUILD)/lib/agents/$(1).rules: agents/$(1)/$(1).rules
	@mkdir -p $$(@D)
	$(Q)cp $$< $$@
endef
$(foreach a,$(AGENTS),$(eval $(call agent_rules,$(a))))

$(eval $(call unit_test,agents/test_minicilk_agent,$(call objects_of,agents/minicilk),))
$(eval $(call unit_test,agents/test_cilk5_agent,$(call objects_of,agents/cilk5),))

# A program under a made-up runtime, which is a module of its own, and others that it opens.
MADE_CHEETAH = $(BUILD)/tests/made/made-cheetah.so
OTHER_CHEETAHS = $(BUILD)/tests/made/made-old-cheetah.so $(BUILD)/tests/made/made-patched-cheetah.so
$(BUILD)/tests/made/made-patched-cheetah.so: CFLAGS += -DPATCHED
$(BUILD)/tests/made/made-patched-cheetah.so: tests/unit/agents/made-cheetah.c
$(BUILD)/tests/made/made-cheetah.so: tests/unit/agents/made-cheetah.c
$(BUILD)/tests/made/made-old-cheetah.so: tests/unit/agents/made-old-cheetah.c
$(MADE_CHEETAH) $(OTHER_CHEETAHS):
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD $@")
	$(Q)$(CC) $(CFLAGS) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
$(eval $(call unit_test,agents/test_opencilk_agent,$(call objects_of,agents/opencilk) $(MADE_CHEETAH),-Xlinker -rpath -Xlinker $(abspath $(BUILD))/tests/made))
$(BUILD)/tests/unit/agents/test_opencilk_agent: | $(OTHER_CHEETAHS)
