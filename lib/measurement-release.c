#include "lib/measurement-reader.h"

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

static void free_name_table(struct measurement_name_table *table)
{
    for (size_t i = 0; i < table->names.n; i++) {
        free(table->names.at[i].procedure);
        free(table->names.at[i].file);
    }
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
    for (size_t i = 0; i < m->events.n; i++) {
        free(m->events.at[i].name);
        free(m->events.at[i].unit);
        free(m->events.at[i].why_other_source);
    }
    for (size_t i = 0; i < m->metrics.n; i++)
        free(m->metrics.at[i].name);
    for (size_t i = 0; i < m->modules.n; i++) {
        free(m->modules.at[i].path);
        free(m->modules.at[i].build_id);
    }
    for (size_t i = 0; i < m->name_tables.n; i++)
        free_name_table(&m->name_tables.at[i]);
    for (size_t i = 0; i < m->agents.n; i++) {
        free(m->agents.at[i].name);
        free(m->agents.at[i].version);
        free(m->agents.at[i].rules);
        free(m->agents.at[i].rules_version);
    }
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
    vec_free(&m->agents);
    vec_free(&m->workers);
    vec_free(&m->threads);
    vec_free(&m->problems);
    free(m->path);
    free(m);
}
