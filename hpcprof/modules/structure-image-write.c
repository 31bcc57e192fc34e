#include "hpcprof/modules/structure-image.h"

#include <stdlib.h>
#include <string.h>

/* The contents of a section that is written. */
struct contents {
    const void *at;
    size_t n;
};

struct strings {
    VEC(uint64_t) starts;
    VEC(char) text;
};

static void take_strings(struct contents *contents, struct strings *strings,
                         const struct strtab *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        size_t size = strlen(from->strings[i]) + 1;
        vec_push(&strings->starts, strings->text.n);
        vec_reserve(&strings->text, size);
        memcpy(strings->text.at + strings->text.n, from->strings[i], size);
        strings->text.n += size;
    }
    contents[0] = (struct contents){strings->starts.at, strings->starts.n};
    contents[1] = (struct contents){strings->text.at, strings->text.n};
}

static void free_strings(struct strings *strings)
{
    vec_free(&strings->starts);
    vec_free(&strings->text);
}

struct procedures {
    VEC(struct image_procedure) all;
    VEC(uint32_t) order;
};

/* Lists the procedures and their statements: counts these first, and then puts each in its place. */
static void list_procedures(struct procedures *procedures, const struct structure *s)
{
    for (uint32_t i = 0; i < s->scopes.n; i++)
        if (s->scopes.at[i].kind == SCOPE_PROCEDURE)
            vec_push(&procedures->all, (struct image_procedure){i, 0});
    size_t n = procedures->all.n;
    vec_push(&procedures->all, (struct image_procedure){(uint32_t)s->scopes.n, 0});
    struct image_procedure *all = procedures->all.at;
    for (size_t i = 0; i < s->statements.n; i++)
        all[image_procedure_number(all, n, s->statements.at[i].scope) + 1].first++;
    for (size_t i = 0; i < n; i++)
        all[i + 1].first += all[i].first;
    vec_reserve(&procedures->order, s->statements.n);
    procedures->order.n = s->statements.n;
    for (size_t i = s->statements.n; i-- > 0;) {
        size_t of = image_procedure_number(all, n, s->statements.at[i].scope);
        procedures->order.at[--all[of + 1].first] = (uint32_t)i;
    }
    /* all[i + 1].first is now where procedure i begins. */
    for (size_t i = 0; i < n; i++)
        all[i].first = all[i + 1].first;
    all[n].first = (uint32_t)s->statements.n;
}

static void write_sections(FILE *file, struct image_head *head, const struct contents *contents)
{
    static const char zeros[8];
    uint64_t at = sizeof *head;
    for (size_t i = 0; i < IMAGE_SECTIONS; i++) {
        head->sections[i] = (struct section_place){at, contents[i].n};
        at = image_aligned(at + contents[i].n * image_sizes[i]);
    }
    fwrite(head, sizeof *head, 1, file);
    for (size_t i = 0; i < IMAGE_SECTIONS; i++) {
        uint64_t size = contents[i].n * image_sizes[i];
        if (size)
            fwrite(contents[i].at, size, 1, file);
        fwrite(zeros, image_aligned(size) - size, 1, file);
    }
}

void structure_image_write(FILE *file, const struct image_key *key, const struct structure *s)
{
    struct image_head head = {.key = *key,
                              .has_lines = s->has_lines,
                              .n_units = s->n_units,
                              .n_unoptimized = s->n_unoptimized};
    struct strings strings[4] = {0};
    struct procedures procedures = {0};
    struct contents contents[IMAGE_SECTIONS] = {
        [IMAGE_FUNCTIONS] = {s->functions.at, s->functions.n},
        [IMAGE_SCOPES] = {s->scopes.at, s->scopes.n},
        [IMAGE_STATEMENTS] = {s->statements.at, s->statements.n},
        [IMAGE_WAITS] = {s->waits.at, s->waits.n},
        [IMAGE_CALLS] = {s->calls.at, s->calls.n},
    };
    memcpy(head.magic, IMAGE_MAGIC, IMAGE_MAGIC_SIZE);
    take_strings(&contents[IMAGE_NAMES], &strings[0], &s->names);
    take_strings(&contents[IMAGE_FILES], &strings[1], &s->files);
    take_strings(&contents[IMAGE_DIRECTORIES], &strings[2], &s->directories);
    take_strings(&contents[IMAGE_KINDS], &strings[3], &s->overhead_kinds);
    list_procedures(&procedures, s);
    contents[IMAGE_PROCEDURES] = (struct contents){procedures.all.at, procedures.all.n};
    contents[IMAGE_ORDER] = (struct contents){procedures.order.at, procedures.order.n};
    write_sections(file, &head, contents);
    for (size_t i = 0; i < 4; i++)
        free_strings(&strings[i]);
    vec_free(&procedures.all);
    vec_free(&procedures.order);
}
