#include "viewer-tui/database/run.h"

#include "lib/database-format.h"
#include "lib/mem.h"
#include "viewer-tui/base/problem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *read_file(const char *path)
{
    if (access(path, F_OK) != 0)
        return NULL;
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    if (!root) {
        problem_found(path, "line %d: %s", error.line, error.text);
        return NULL;
    }
    if (strcmp(run_text(root, "format"), DATABASE_RUN_FORMAT) != 0) {
        problem_found(path, "not a description of a run by hpcprof");
        json_decref(root);
        return NULL;
    }
    return root;
}

json_t *run_read(const char *folder)
{
    char *path = mem_printf("%s/%s", folder, DATABASE_RUN_FILE);
    json_t *root = read_file(path);
    free(path);
    return root;
}

const char *run_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

double run_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* The member of an array that has that name; NULL. */
static const json_t *member_named(const json_t *array, const char *name)
{
    size_t i;
    json_t *member;
    json_array_foreach(array, i, member)
    {
        if (strcmp(run_text(member, "name"), name) == 0)
            return member;
    }
    return NULL;
}

const json_t *run_metric(const json_t *run, const char *name)
{
    return member_named(json_object_get(run, "metrics"), name);
}

double run_period(const json_t *run, const char *metric)
{
    const char *event = run_text(run_metric(run, metric), "event");
    return run_number(member_named(json_object_get(run, "events"), event), "period");
}

double run_workers(const json_t *run)
{
    size_t i;
    json_t *process;
    double workers = 0;
    json_array_foreach(json_object_get(run, "processes"), i, process)
    {
        workers += run_number(process, "workers");
    }
    return workers;
}
