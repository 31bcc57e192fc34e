/* The promises of minicilk-introspect.h, checked as a profiler reads: through the object alone. */
#include <link.h>
#include <unistd.h>

#include "tests/unit/cmocka_suite.h"

#include "runtime-patches/minicilk/minicilk.h"

static const struct minicilk_introspection *const object = &minicilk_introspection;

static uint32_t half_at(const char *address, uint32_t offset)
{
    uint32_t value;
    memcpy(&value, address + offset, sizeof value);
    return value;
}

static const char *pointer_at(const char *address, uint32_t offset)
{
    const char *value;
    memcpy(&value, address + offset, sizeof value);
    return value;
}

/* The worker that runs in this thread; NULL if there is none. */
static const char *own_worker(void)
{
    const char *workers = atomic_load(&object->live->workers);
    for (uint32_t i = 0; i < atomic_load(&object->live->n); i++) {
        const char *worker = workers + i * object->worker_size;
        if ((pid_t)half_at(worker, object->worker_tid) == gettid())
            return worker;
    }
    return NULL;
}

/* ---- A chain of procedures; the last one looks around ---- */

struct seen {
    uint32_t state, n, n_w, running;
    const void *base, *innermost;
    int ancestors; /* of the last procedure */
    bool all_bodies_right;
};

CILK_STATIC_PROC(chain, int depth; struct seen * seen;);

static void look(const char *frame, struct seen *seen)
{
    const char *worker = own_worker();
    assert_non_null(worker);
    seen->state = half_at(worker, object->worker_state);
    seen->base = pointer_at(worker, object->worker_base);
    seen->n = atomic_load(&object->live->n);
    seen->n_w = atomic_load(&object->live->n_w);
    seen->running = atomic_load(&object->live->running);
    seen->innermost = frame;
    seen->all_bodies_right = true;
    for (seen->ancestors = -1; frame; frame = pointer_at(frame, object->frame_parent)) {
        seen->ancestors++;
        seen->all_bodies_right &= pointer_at(frame, object->frame_body) == (const char *)chain;
    }
}

CILK_BODY(chain)
{
    CILK_BEGIN(chain);
    if (f->depth > 0)
        CILK_SPAWN(chain, a->depth = f->depth - 1; a->seen = f->seen);
    else
        look((const char *)&f->minicilk, f->seen);
    CILK_END;
}

TEST(test_while_a_computation_runs)
{
    assert_int_equal(object->magic, MINICILK_MAGIC);
    assert_memory_equal(&object->magic, "minicilk", 8);
    assert_int_equal(object->layout, MINICILK_LAYOUT);
    assert_int_equal(object->size, sizeof *object);

    /* One worker: nothing is stolen, so its base is the root. */
    struct seen seen;
    assert_int_equal(minicilk_init(1), 0);
    assert_int_equal(CILK_RUN(chain, a->depth = 10; a->seen = &seen), 0);
    assert_int_equal(seen.state, MINICILK_WORKING);
    assert_int_equal(seen.n, 1);
    assert_int_equal(seen.n_w, 1);
    assert_int_equal(seen.running, 1);
    assert_int_equal(seen.ancestors, 10);
    assert_true(seen.all_bodies_right);
    assert_ptr_not_equal(seen.base, seen.innermost);
    assert_int_equal(minicilk_shutdown(), 0);
}

TEST(test_between_computations)
{
    assert_int_equal(minicilk_init(3), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(atomic_load(&object->live->n), 3);
        assert_int_equal(atomic_load(&object->live->n_w), 0);
        assert_int_equal(atomic_load(&object->live->running), 0);
        const char *worker = own_worker();
        assert_ptr_equal(worker, atomic_load(&object->live->workers));
        assert_int_equal(half_at(worker, object->worker_state), MINICILK_OUTSIDE);
        assert_null(pointer_at(worker, object->worker_base));
        for (int j = 1; j < 3; j++) {
            worker += object->worker_size;
            assert_int_not_equal(half_at(worker, object->worker_tid), 0);
            assert_int_equal(half_at(worker, object->worker_state), MINICILK_SCHEDULING);
        }
        struct seen seen;
        assert_int_equal(CILK_RUN(chain, a->depth = 10; a->seen = &seen), 0);
    }
    assert_int_equal(minicilk_shutdown(), 0);
    assert_int_equal(atomic_load(&object->live->n), 0);
    assert_null(atomic_load(&object->live->workers));
}

/* ---- The ELF note ---- */

static const char *find_note(const char *notes, size_t size)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        const char *owner = notes + at + sizeof *note;
        const char *data = owner + (note->n_namesz + 3) / 4 * 4;
        if (note->n_namesz == sizeof "minicilk" && strcmp(owner, "minicilk") == 0 &&
            note->n_type == 1 && note->n_descsz == 8)
            return data;
        at = (size_t)(data - notes) + (note->n_descsz + 3) / 4 * 4;
    }
    return NULL;
}

static int find_note_in_program(struct dl_phdr_info *program, size_t size, void *found)
{
    for (int i = 0; i < program->dlpi_phnum && !*(const char **)found; i++) {
        const ElfW(Phdr) *segment = &program->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            *(const char **)found =
                find_note((const char *)program->dlpi_addr + segment->p_vaddr, segment->p_memsz);
    }
    return 1; /* the program comes first */
}

TEST(test_note)
{
    const char *data = NULL;
    dl_iterate_phdr(find_note_in_program, &data);
    assert_non_null(data);
    int64_t distance;
    memcpy(&distance, data, sizeof distance);
    assert_ptr_equal(data + distance, object);
}
