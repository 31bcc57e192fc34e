/* What a patched Cilk-5 tells its observer, written by hand without Cilk-5, for two workers and one
 * theft of each frame:
 *
 *     worker 0                                worker 1
 *     the runtime's first procedure
 *       cilk_main: burns, spawns `left`
 *         left: burns                         steals and suspends the first procedure,
 *                                             steals cilk_main, whose slow clone spawns `right`
 *                                               right: burns, spawns `deep`
 *                                                 deep: burns
 *                                             burns, and suspends cilk_main
 *         left ends: its parent was stolen
 *     resumes cilk_main, then the first procedure
 *
 * Prints the CPU time, in ns, of cilk_main's begin, left, right, deep and cilk_main's end. Exits with
 * status 1 if nobody observes. */
#include "runtime-patches/cilk5/description.h"
#include "tests/programs/hpcrun/burn.h"

#include <semaphore.h>
#include <stddef.h>

#define NOT_INLINED __attribute__((noinline))

/* ---- the runtime ---- */

extern int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;
int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;

struct hpctoolkit_cilk5 hpctoolkit_cilk5 = {
    .magic = HPCTOOLKIT_CILK5_MAGIC, .size = sizeof hpctoolkit_cilk5, .site_in_closure = 200};

static const struct hpctoolkit_cilk5_observer *observer;
static char first_frame, main_frame; /* only their addresses count */
static sem_t left_has_begun, main_is_suspended;

void invoke_main_slow(void);
void Cilk_scheduler(int worker);
void *Cilk_child_main(void *parameters);
int mt_cilk_main(void);

/* ---- the program ---- */

static uint64_t begin_time, left_time, right_time, deep_time, end_time;

void cilk_main(void);
void left(void);
void right(void);
void deep(void);
void _cilk_cilk_main_slow(void);
void _cilk_left_slow(void);
void _cilk_right_slow(void);
void _cilk_deep_slow(void);

static void (*const main_code)(void) = _cilk_cilk_main_slow;
static void (*const left_code)(void) = _cilk_left_slow;
static void (*const right_code)(void) = _cilk_right_slow;
static void (*const deep_code)(void) = _cilk_deep_slow;

/* The patch's CILK2C_PUSH_FRAME and CILK2C_INIT_FRAME. */
#define CALL(worker, depth, procedure, code)                                                       \
    do {                                                                                           \
        const void *site;                                                                          \
        __asm__ volatile("0: lea 0b(%%rip), %0" : "=r"(site));                                     \
        observer->spawned(worker, depth, (const void *const *)(const void *)&code, site);          \
        procedure();                                                                               \
    } while (0)

/* As the compiler does, on the line of the fast clone. */
#define SLOW_CLONE(procedure, body)                                                                \
    NOT_INLINED void _cilk_##procedure##_slow(void)                                                \
    {                                                                                              \
        body;                                                                                      \
    }

/* Nobody steals from the others. */
SLOW_CLONE(left, left_time = 0) NOT_INLINED void left(void)
{
    sem_post(&left_has_begun);
    left_time = burn(40000000);
    sem_wait(&main_is_suspended);
    observer->orphaned(0);
}

SLOW_CLONE(right, right_time = 0) NOT_INLINED void right(void)
{
    right_time = burn(25000000);
    CALL(1, 2, deep, deep_code);
    observer->returned(1);
}

SLOW_CLONE(deep, deep_time = 0) NOT_INLINED void deep(void)
{
    deep_time = burn(5000000);
}

static inline void continue_main(void)
{
    CALL(1, 1, right, right_code);
    observer->returned(1);
    end_time = burn(10000000);
}

SLOW_CLONE(cilk_main, continue_main()) NOT_INLINED void cilk_main(void)
{
    begin_time = burn(20000000);
    CALL(0, 2, left, left_code);
}

/* ---- the workers ---- */

NOT_INLINED void invoke_main_slow(void)
{
    CALL(0, 1, cilk_main, main_code);
}

static void steal(const void *frame)
{
    observer->stolen(0, frame);
    observer->resumed(1, frame);
}

static void sync_and_end(const void *frame)
{
    observer->resumed(0, frame);
    observer->synced(0);
    observer->ended(0);
}

NOT_INLINED void Cilk_scheduler(int worker)
{
    if (worker == 0) {
        observer->resumed(0, &first_frame);
        invoke_main_slow();
        sync_and_end(&main_frame);
        sync_and_end(&first_frame);
    } else {
        sem_wait(&left_has_begun);
        steal(&first_frame);
        observer->suspended(1, &first_frame);
        steal(&main_frame);
        _cilk_cilk_main_slow();
        observer->suspended(1, &main_frame);
        sem_post(&main_is_suspended);
    }
}

static struct child {
    const void *context; /* NULL: samples see no worker */
    int id;
} children[] = {{NULL, 0}, {NULL, 1}};

NOT_INLINED void *Cilk_child_main(void *parameters)
{
    const struct child *child = parameters;
    Cilk_scheduler(child->id);
    return NULL;
}

/* As Cilk-5's compiler and Cilk_start begin a computation. */
NOT_INLINED int mt_cilk_main(void)
{
    pthread_t threads[2];
    const void *site = __builtin_return_address(0);
    observer = hpctoolkit_cilk5.observer ? hpctoolkit_cilk5.observer->run_begins(&first_frame, site)
                                         : NULL;
    if (!observer)
        return 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, Cilk_child_main, &children[i]) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    observer->run_ended();
    return 0;
}

int main(void)
{
    sem_init(&left_has_begun, 0, 0);
    sem_init(&main_is_suspended, 0, 0);
    if (mt_cilk_main() != 0)
        return 1;
    printf("%llu %llu %llu %llu %llu\n", (unsigned long long)begin_time,
           (unsigned long long)left_time, (unsigned long long)right_time,
           (unsigned long long)deep_time, (unsigned long long)end_time);
    return 0;
}
