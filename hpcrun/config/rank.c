#include "hpcrun/config/rank.h"

#include "hpcrun/config/run-config.h"

/* Where several say something, the first is nearest to the program: srun may have started what
 * mpirun started the program with. Slurm sets SLURM_PROCID in batch scripts, too, but there is no
 * step then. */
static const struct {
    const char *rank, *needed;
} variables[] = {
    {"OMPI_COMM_WORLD_RANK", NULL},
    {"PMIX_RANK", NULL},
    {"PMI_RANK", NULL},
    {"MV2_COMM_WORLD_RANK", NULL},
    {"SLURM_PROCID", "SLURM_STEP_ID"},
};

int64_t rank_in(char *const *environment)
{
    for (unsigned i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = config_variable(environment, variables[i].rank);
        const char *needed = variables[i].needed;
        uint64_t rank;
        if (value && (!needed || config_variable(environment, needed)) &&
            text_take_number(&value, &rank) && *value == '\0' && rank <= INT32_MAX)
            return (int64_t)rank;
    }
    return NO_RANK;
}
