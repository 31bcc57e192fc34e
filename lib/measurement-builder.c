#include "lib/measurement-builder.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- cursor ---- */

uint64_t read_v(struct cursor *c)
{
    uint64_t value = 0;
    if (c->bad || !get_varint(&c->at, c->end, &value))
        c->bad = true;
    return value;
}

static const uint8_t *take(struct cursor *c, size_t size)
{
    if (c->bad || (size_t)(c->end - c->at) < size) {
        c->bad = true;
        return NULL;
    }
    c->at += size;
    return c->at - size;
}

uint8_t read_u8(struct cursor *c)
{
    const uint8_t *at = take(c, 1);
    return at ? *at : 0;
}

uint64_t read_u64(struct cursor *c)
{
    const uint8_t *at = take(c, 8);
    return at ? get_u64(at) : 0;
}

uint64_t read_count(struct cursor *c, size_t least)
{
    uint64_t count = read_v(c);
    if (count > (size_t)(c->end - c->at) / least) {
        c->bad = true;
        return 0;
    }
    return count;
}

char *read_string(struct cursor *c)
{
    size_t length = read_count(c, 1);
    const uint8_t *at = take(c, length);
    return at ? mem_strndup((const char *)at, length) : mem_strdup("");
}

/* ---- problems ---- */

void builder_problem(struct builder *b, const char *format, ...)
{
    if (b->problem_count++ >= MAX_PROBLEMS)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *p = text; *p; p++) /* names in damaged files may hold anything */
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    vec_push(&b->m->problems, mem_strdup(text));
}

/* ---- freeing ---- */

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

void release_metric_state(struct measurement_metric_state *state)
{
    free(state->why);
}

void release_region(struct measurement_region *region)
{
    free(region->name);
}

void release_marks(struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->marks.n; i++)
        free(thread->marks.at[i].name);
    vec_free(&thread->marks);
    vec_free(&thread->wake_ups);
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
    for (size_t i = 0; i < m->metric_states.n; i++)
        release_metric_state(&m->metric_states.at[i]);
    for (size_t i = 0; i < m->regions.n; i++)
        release_region(&m->regions.at[i]);
    for (size_t i = 0; i < m->threads.n; i++) {
        measurement_free_tree(&m->threads.at[i]);
        vec_free(&m->threads.at[i].fates);
        vec_free(&m->threads.at[i].trace);
        release_marks(&m->threads.at[i]);
        free(m->threads.at[i].name);
    }
    for (size_t i = 0; i < m->problems.n; i++)
        free(m->problems.at[i]);
    for (size_t i = 0; i < m->children.n; i++)
        measurement_free(m->children.at[i]);
    vec_free(&m->children);
    vec_free(&m->events);
    vec_free(&m->metrics);
    vec_free(&m->modules);
    vec_free(&m->name_tables);
    vec_free(&m->code_names);
    vec_free(&m->agents);
    vec_free(&m->refusals);
    vec_free(&m->metric_states);
    vec_free(&m->regions);
    vec_free(&m->workers);
    vec_free(&m->threads);
    vec_free(&m->problems);
    free(m->path);
    free(m);
}
