#include "lib/binary-search.h"
#include "lib/measurement-builder.h"

#include <stdlib.h>

static void free_process(struct measurement_process *p)
{
    free(p->host);
    free(p->executable);
    free(p->directory);
    free(p->hpcrun_version);
    for (size_t i = 0; i < p->arguments.n; i++)
        free(p->arguments.at[i]);
    vec_free(&p->arguments);
}

void release_event(struct measurement_event *event)
{
    free(event->name);
    free(event->unit);
    free(event->why_other_source);
}

void release_module(struct measurement_module *module)
{
    free(module->path);
    free(module->build_id);
}

void release_name(struct measurement_name *name)
{
    free(name->procedure);
    free(name->file);
}

void release_agent(struct measurement_agent *agent)
{
    free(agent->name);
    free(agent->version);
    free(agent->rules);
    free(agent->rules_version);
}

void release_refusal(struct measurement_refusal *refusal)
{
    free(refusal->agent);
    free(refusal->why);
}

static void free_name_table(struct measurement_name_table *table)
{
    for (size_t i = 0; i < table->names.n; i++)
        release_name(&table->names.at[i]);
    vec_free(&table->names);
}

void measurement_free_tree(struct measurement_thread *thread)
{
    vec_free(&thread->nodes);
    vec_free(&thread->values);
}

void measurement_free(struct measurement *m)
{
    if (!m)
        return;
    free_process(&m->process);
    for (size_t i = 0; i < m->events.n; i++)
        release_event(&m->events.at[i]);
    for (size_t i = 0; i < m->metrics.n; i++)
        free(m->metrics.at[i].name);
    for (size_t i = 0; i < m->modules.n; i++)
        release_module(&m->modules.at[i]);
    for (size_t i = 0; i < m->name_tables.n; i++)
        free_name_table(&m->name_tables.at[i]);
    for (size_t i = 0; i < m->code_names.n; i++)
        free(m->code_names.at[i].name);
    for (size_t i = 0; i < m->agents.n; i++)
        release_agent(&m->agents.at[i]);
    for (size_t i = 0; i < m->refusals.n; i++)
        release_refusal(&m->refusals.at[i]);
    for (size_t i = 0; i < m->threads.n; i++) {
        measurement_free_tree(&m->threads.at[i]);
        vec_free(&m->threads.at[i].fates);
        free(m->threads.at[i].name);
    }
    for (size_t i = 0; i < m->problems.n; i++)
        free(m->problems.at[i]);
    vec_free(&m->events);
    vec_free(&m->metrics);
    vec_free(&m->modules);
    vec_free(&m->name_tables);
    vec_free(&m->code_names);
    vec_free(&m->agents);
    vec_free(&m->refusals);
    vec_free(&m->workers);
    vec_free(&m->threads);
    vec_free(&m->problems);
    free(m->path);
    free(m);
}

const char *measurement_refusal(const struct measurement *m, const char *agent)
{
    for (size_t i = m->refusals.n; i > 0; i--)
        if (strcmp(m->refusals.at[i - 1].agent, agent) == 0)
            return *m->refusals.at[i - 1].why ? m->refusals.at[i - 1].why : NULL;
    return NULL;
}

bool measurement_has_agent(const struct measurement *m)
{
    for (size_t i = 0; i < m->agents.n; i++)
        if (!measurement_refusal(m, m->agents.at[i].name))
            return true;
    return false;
}

const struct measurement_name *measurement_name(const struct measurement *m, uint32_t space,
                                                uint64_t value)
{
    if (space < MEASUREMENT_NAMES || space - MEASUREMENT_NAMES >= m->name_tables.n)
        return NULL;
    const struct measurement_name_table *table = &m->name_tables.at[space - MEASUREMENT_NAMES];
    size_t at = partition_point(i, table->names.n, table->names.at[i].value < value);
    bool found = at < table->names.n && table->names.at[at].value == value;
    return found ? &table->names.at[at] : NULL;
}

size_t measurement_first_code_name(const struct measurement *m, uint64_t address)
{
    return partition_point(i, m->code_names.n, m->code_names.at[i].address < address);
}

const struct measurement_code_name *measurement_code_name(const struct measurement *m,
                                                          uint64_t address)
{
    size_t i = measurement_first_code_name(m, address);
    bool found = i < m->code_names.n && m->code_names.at[i].address == address;
    return found ? &m->code_names.at[i] : NULL;
}
