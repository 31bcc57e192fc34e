#include "viewer-tui/threads/thread-set.h"

#include "viewer-tui/db/run.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

static struct thread_set *empty_set(const struct threads *threads, const char *what)
{
    struct thread_set *set = mem_alloc(sizeof *set);
    set->what = mem_strdup(what);
    set->of = threads->list.n;
    for (size_t i = 0; i < threads->list.n; i++)
        if (set->n_profiles <= threads->list.at[i].profile)
            set->n_profiles = threads->list.at[i].profile + 1;
    set->has = mem_alloc((set->n_profiles + 1) * sizeof *set->has);
    return set;
}

static void add(struct thread_set *set, const struct thread *thread)
{
    set->n += !set->has[thread->profile];
    set->has[thread->profile] = true;
}

struct thread_set *thread_set_matching(const struct threads *threads, const json_t *run,
                                       const char *expression, char **cause)
{
    regex_t regex;
    bool has_upper_case = false;
    for (const char *at = expression; *at; at++)
        has_upper_case |= isupper((unsigned char)*at) != 0;
    int flags = REG_EXTENDED | REG_NOSUB | (has_upper_case ? 0 : REG_ICASE);
    int error = regcomp(&regex, expression, flags);
    if (error) {
        char text[256];
        regerror(error, &regex, text, sizeof text);
        *cause = mem_strdup(text);
        return NULL;
    }
    struct thread_set *set = empty_set(threads, expression);
    autofree struct text label = {0};
    bool hosts_differ = run_hosts_differ(run);
    for (size_t i = 0; i < threads->list.n; i++) {
        text_clear(&label);
        thread_label(&threads->list.at[i], hosts_differ, false, &label);
        if (regexec(&regex, text_string(&label), 0, NULL, 0) == 0)
            add(set, &threads->list.at[i]);
    }
    regfree(&regex);
    if (set->n == 0) { /* The last label shows the form of labels. */
        *cause = mem_printf(label.n ? "no thread matches '%s'; one is called '%s'"
                                    : "no thread matches '%s'",
                            expression, text_string(&label));
        thread_set_free(set);
        set = NULL;
    }
    return set;
}

struct thread_set *thread_set_of_program(const struct threads *threads, const json_t *run,
                                         const char *program, char **cause)
{
    struct thread_set *set = empty_set(threads, program);
    set->is_program = true;
    for (size_t i = 0; i < threads->list.n; i++) {
        const struct thread *thread = &threads->list.at[i];
        bool is_of_it =
            thread->process && (strcmp(run_program_of(thread->process), program) == 0 ||
                                strcmp(run_text(thread->process, "executable"), program) == 0);
        if (is_of_it)
            add(set, thread);
    }
    if (set->n > 0)
        return set;
    autofree struct text programs = {0};
    program_names names = run_programs(run);
    for (size_t i = 0; i < names.n; i++)
        text_printf(&programs, "%s%s", i ? ", " : "", names.at[i]);
    vec_free(&names);
    *cause = mem_printf("no program '%s'; there are: %s", program, text_string(&programs));
    thread_set_free(set);
    return NULL;
}

struct thread_set *thread_set_of_one(const struct threads *threads, size_t thread, const char *what)
{
    struct thread_set *set = empty_set(threads, what);
    add(set, &threads->list.at[thread]);
    return set;
}

void thread_set_describe(const struct thread_set *set, bool ascii, struct text *out)
{
    text_say(out, ascii, "%s%s (%zu of %zu%s)", set->is_program ? "program: " : "threads: ", set->what, set->n, set->of,
             set->is_program ? " threads" : "");
}

void thread_set_free(struct thread_set *set)
{
    if (!set)
        return;
    free(set->what);
    free(set->has);
    free(set);
}

void thread_set_keep(const struct thread_set *set, struct threads *threads)
{
    size_t n = 0;
    for (size_t i = 0; i < threads->list.n; i++) {
        struct thread *thread = &threads->list.at[i];
        if (thread_set_has(set, thread->profile))
            threads->list.at[n++] = *thread;
        else
            free(thread->id);
    }
    threads->list.n = n;
}
