#include "hpcprof/attribution/static-calls.h"

#include "hpcprof/base/subprocess.h"

#include "lib/path.h"

#include <stdlib.h>

/* The structure of a module's binary as it is now, with its calls; NULL when there is none. */
static struct structure *structure_with_calls(const struct module *module)
{
    char *hpcstruct = path_of_tool("hpcstruct"), *cause = NULL;
    char *const arguments[] = {"hpcstruct", "--calls", "-o", "-", module->binary, NULL};
    struct program_output result = run_program(hpcstruct, arguments);
    struct structure *s = result.status == 0 ? structure_read_text(result.output, &cause) : NULL;
    program_output_free(&result);
    free(hpcstruct);
    free(cause);
    return s;
}

static void place_calls(struct placer *placer, uint32_t index)
{
    const struct module *module = &placer->program->modules->all.at[index];
    struct structure *s = module->binary && module->structure ? structure_with_calls(module) : NULL;
    if (!s)
        return;
    for (size_t i = 0; i < s->calls.n; i++)
        placer_call(placer, index, s->calls.at[i].address, s->calls.at[i].target);
    structure_free(s);
}

void code_calls_place(struct placer *placer, const struct context_tree *tree)
{
    const struct program *program = placer->program;
    bool *matters = mem_alloc(program->modules->all.n * sizeof *matters);
    for (size_t i = 0; i < tree->contexts.n; i++) {
        const struct context *context = &tree->contexts.at[i];
        if (context->kind != CONTEXT_NO_SITE)
            continue;
        uint32_t caller = tree->contexts.at[context->parent].name;
        uint32_t module = program->functions.at[caller].module;
        if (module != PROGRAM_NONE)
            matters[module] = true;
    }
    for (uint32_t i = 0; i < program->modules->all.n; i++)
        if (matters[i])
            place_calls(placer, i);
    free(matters);
}
