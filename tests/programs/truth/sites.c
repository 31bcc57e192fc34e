/* sites ROUNDS: spawn sites in all surroundings in which a caller's address might be mistaken for
 * overhead, or overhead for user code.
 *
 *   user      the procedures below it, and libc's functions that they call, do user work: around,
 *             between and in spawns, directly after syncs, in spawned procedures
 *   runtime   its spawns call malloc and free, because its frames are too large for the pool */
#include <minicilk.h>
#include <stdlib.h>
#include <string.h>

char memory[1 << 19];                        /* others might read it, for all the compiler knows */
static volatile size_t size = sizeof memory; /* not known to the compiler */
static volatile unsigned sink;

#define USE_MEMORY() memset(memory, 1, size)

__attribute__((noinline)) static int burn(void)
{
    for (int i = 0; i < 6000; i++)
        sink = sink * 31 + 7;
    return 1;
}

CILK_PROC(library_leaf, int x;);
CILK_BODY(library_leaf)
{
    CILK_BEGIN(library_leaf);
    USE_MEMORY();
    CILK_END;
}

CILK_PROC(leaf, int x;);
CILK_BODY(leaf)
{
    CILK_BEGIN(leaf);
    f->x += burn();
    CILK_END;
}

CILK_PROC(inner, int i;);
CILK_BODY(inner)
{
    CILK_BEGIN(inner);
    CILK_SPAWN(leaf, a->x = 1);         /* SPAWN */
    CILK_SPAWN(library_leaf, a->x = 1); /* SPAWN */
    USE_MEMORY();
    CILK_SYNC();
    CILK_END;
}

CILK_PROC(user, int i;);
CILK_BODY(user)
{
    CILK_BEGIN(user);
    USE_MEMORY();
    CILK_SPAWN(leaf, a->x = 1); /* SPAWN */
    USE_MEMORY();
    CILK_SPAWN(leaf, a->x = burn()); /* SPAWN */
    CILK_SPAWN(inner, USE_MEMORY()); /* SPAWN */
    for (f->i = 0; f->i < 3; f->i++)
        CILK_SPAWN(inner, a->i = 0); /* SPAWN */
    for (f->i = 0; f->i < 3; f->i++) {
        CILK_SPAWN(library_leaf, a->x = 1); /* SPAWN */
        burn();
    }
    burn();
    CILK_SYNC();
    USE_MEMORY();
    if (f->i == 3)
        CILK_SPAWN(library_leaf, USE_MEMORY(); a->x = burn()); /* SPAWN */
    else
        CILK_SPAWN(leaf, a->x = burn()); /* SPAWN */
    CILK_SYNC();
    burn();
    CILK_END;
}

CILK_PROC(large, char bytes[3000];);
CILK_BODY(large)
{
    CILK_BEGIN(large);
    f->bytes[0] = 1;
    CILK_END;
}

CILK_PROC(runtime, int i;);
CILK_BODY(runtime)
{
    CILK_BEGIN(runtime);
    for (f->i = 0; f->i < 500; f->i++)
        CILK_SPAWN(large, a->bytes[0] = 0); /* SPAWN */
    CILK_SYNC();
    CILK_END;
}

int main(int count, char **arguments)
{
    if (count != 2 || minicilk_init(2) != 0)
        return 1;
    for (int i = 0; i < atoi(arguments[1]); i++) {
        CILK_RUN(user, a->i = 0);
        CILK_RUN(runtime, a->i = 0);
    }
    return minicilk_shutdown();
}
