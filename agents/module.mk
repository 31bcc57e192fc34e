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
