#include "viewer-tui/db/programs.h"

#include "lib/database-format.h"
#include "lib/path.h"

#include <stdlib.h>
#include <string.h>

size_t programs_entry_length(const char *entry_name)
{
    const char *of = strstr(entry_name, V4_ENTRY_OF);
    return of ? (size_t)(of - entry_name) : strlen(entry_name);
}

/* The index in a list, to which the name is added when it is new. */
static uint32_t index_of(program_names *names, const char *name)
{
    uint32_t i = 0;
    while (i < names->n && strcmp(names->at[i], name) != 0)
        i++;
    if (i == names->n)
        vec_push(names, name);
    return i;
}

void programs_find(struct database *db)
{
    program_names names = {0};
    db->programs.of_entry = mem_alloc((db->entries.n + 1) * sizeof *db->programs.of_entry);
    for (uint32_t i = 0; i < db->entries.n; i++) {
        struct v4_entry entry;
        const char *name;
        if (!database_entry(db, i, &entry, &name))
            continue;
        size_t length = programs_entry_length(name);
        const char *program =
            name[length] ? name + length + strlen(V4_ENTRY_OF) : database_title(db);
        db->programs.of_entry[i] = index_of(&names, program);
    }
    db->programs.names = names.at;
    db->programs.n = names.n;
}

void programs_free(struct database *db)
{
    free(db->programs.of_entry);
    free(db->programs.names);
}

bool programs_are_shown(const struct database *db)
{
    return db->programs.n > 1 || db->programs.are_compared;
}

uint32_t programs_of_entry(const struct database *db, uint32_t entry)
{
    return db->programs.of_entry[entry];
}

const char *programs_name(const struct database *db, uint32_t program)
{
    return db->programs.names[program];
}

/* Databases of earlier versions tell the executable only. */
const char *programs_of_process(const json_t *process)
{
    const char *program = run_text(process, "program");
    return *program ? program : path_base(run_text(process, "executable"));
}

program_names programs_of_run(const json_t *run)
{
    program_names names = {0};
    size_t i;
    json_t *process;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        index_of(&names, programs_of_process(process));
    }
    return names;
}
