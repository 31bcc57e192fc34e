/* Prints the targets that hpcstruct finds for the indirect jumps of a binary, for tests: a line
 *     ADDRESS PROCEDURE TARGET TARGET ...
 * per indirect jump outside PLT stubs, by address. Targets are sorted and distinct; jumps without a
 * table have none. */
#include "hpcstruct/code/module-code.h"

#include "lib/diag.h"

#include <stdio.h>
#include <string.h>

static void show(const struct module_code *code, size_t number)
{
    const struct code_fragment *fragment = &code->map.fragments.at[number];
    const struct fragment_flow *flow = &code->flows[number];
    const char *name = code->map.owners.at[fragment->owner].name;
    if (name && strstr(name, "@plt"))
        return;
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        if (transfer->kind != TRANSFER_JUMP_INDIRECT)
            continue;
        printf("%llx %s", (unsigned long long)fragment->begin + transfer->offset,
               name ? name : "?");
        if (transfer->target != NO_JUMP_TABLE) {
            const struct jump_table *table = &flow->tables.at[transfer->target];
            for (uint32_t k = 0; k < table->count; k++)
                printf(" %llx", (unsigned long long)flow->targets.at[table->first + k]);
        }
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    struct module_code code;
    char *cause = NULL;
    diag_init("show-jumps");
    struct elf_image *image = argc == 2 ? elf_open(argv[1], &cause) : NULL;
    if (!image)
        diag_fatal(argv[1], "%s", cause);
    module_code_read(&code, image, NULL, 1);
    for (size_t i = 0; i < code.map.fragments.n; i++)
        show(&code, i);
    module_code_free(&code);
    elf_close(image);
    return 0;
}
