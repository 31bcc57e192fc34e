/* The logical calling context tree: the unwinds (1)-(9) of the Appendix of the PPoPP 2009 paper, in
 * every order of arrival, and a large random tree against a model. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/tree/cct.h"

/* A bichord: p-notes and l-notes from the outermost inwards, 0-terminated. */
struct bichord {
    int p[4], l[4];
};

struct path {
    struct bichord bichords[4];
    int count;
};

/* p-notes: a..f are 1..6 (call sites), 11..16 the same functions' sample points. l-notes: 101 is
 * l(i,1), 102 l(i,2), 201 l(j,1). Where the paper writes "..." the outer part is the same native
 * frame. */
enum { A = 1, B, C, D, E, F, SAMPLE_A = 11, SAMPLE_B, SAMPLE_C, LI1 = 101, LI2, LJ1 = 201 };

static const struct path unwinds[9] = {
    {{{{A}, {LI1}}}, 1},
    {{{{A, SAMPLE_B}, {LI1}}}, 1},
    {{{{A, B, SAMPLE_C}, {LI1}}}, 1},
    {{{{A, B, C}, {LI1}}}, 1},
    {{{{SAMPLE_A}, {LI1}}}, 1},
    {{{{A, F, E}, {LI1}}}, 1},
    {{{{A}, {LI1}}, {{B}, {LI1}}, {{C}, {LI1}}}, 3},
    {{{{A}, {LJ1}}}, 1},
    {{{{A}, {LI1, LI2}}}, 1},
};

static int length(const int *notes)
{
    int n = 0;
    while (n < 4 && notes[n])
        n++;
    return n;
}

static enum association association_of(const struct bichord *b)
{
    int p = length(b->p), l = length(b->l);
    if (l == 0)
        return p == 1 ? ASSOC_1_0 : ASSOC_M_0;
    if (p == 1)
        return l == 1 ? ASSOC_1_1 : ASSOC_1_M;
    return ASSOC_M_1;
}

static uint32_t insert(struct cct *cct, const struct path *path)
{
    uint32_t node = CCT_ROOT;
    for (int i = 0; i < path->count; i++) {
        const struct bichord *b = &path->bichords[i];
        int p = length(b->p), l = length(b->l), n = p > l ? p : l;
        for (int k = 0; k < n; k++) {
            struct cct_note note = {
                .ip = k < p ? (uint64_t)b->p[k] : 0,
                .lip = k < l ? (uint32_t)b->l[k] : LIP_NONE,
                .association = (uint8_t)association_of(b),
                .first = k == 0,
            };
            node = cct_child(cct, node, &note);
            assert_int_not_equal(node, CCT_NO_MEMORY);
        }
    }
    cct_add(cct, node, 0, 1);
    return node;
}

/* A text that describes a tree without node ids: the sorted lines "path of notes: set, value". */
static char *describe(const struct cct *cct)
{
    static char lines[64][512];
    int count = 0;
    for (uint32_t id = 1; id < cct_end(cct); id++) {
        char *line = lines[count++];
        line[0] = '\0';
        const struct cct_node *node = cct_node(cct, id);
        uint64_t value = 0;
        uint32_t same;
        if (node->values)
            value = cct_values(cct, node->values - 1, &same)[0];
        for (uint32_t at = id; at != CCT_ROOT; at = cct_node(cct, at)->parent) {
            const struct cct_node *n = cct_node(cct, at);
            char part[64];
            /* the class matters, not the association that came first */
            snprintf(part, sizeof part, "%lu,%u,%d,%x/", (unsigned long)n->ip, n->lip, n->first,
                     at == id ? n->seen : 0);
            strcat(line, part);
        }
        sprintf(line + strlen(line), ": %lu", (unsigned long)value);
    }
    qsort(lines, (size_t)count, sizeof *lines, (int (*)(const void *, const void *))strcmp);
    char *text = calloc((size_t)count + 1, sizeof *lines);
    for (int i = 0; i < count; i++) {
        strcat(text, lines[i]);
        strcat(text, "\n");
    }
    return text;
}

/* Enters the unwinds into a tree, describes it, and empties it for the next order. */
static char *tree_of(struct cct *cct, const int *order, int count)
{
    for (int i = 0; i < count; i++)
        insert(cct, &unwinds[order[i]]);
    char *text = describe(cct);
    cct_clear(cct);
    return text;
}

/* Compares the trees of 20,000 of the 362,880 orders with that of the first one. Any three of the
 * unwinds are then in each of their orders a thousand times. */
TEST(the_tree_does_not_depend_on_the_order)
{
    int order[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    struct cct cct = {0};
    cct_init(&cct, 1);
    char *expected = tree_of(&cct, order, 9);
    srand(1);
    for (int i = 0; i < 20000; i++) {
        for (int k = 8; k > 0; k--) {
            int other = rand() % (k + 1), t = order[other];
            order[other] = order[k];
            order[k] = t;
        }
        char *text = tree_of(&cct, order, 9);
        assert_string_equal(text, expected);
        free(text);
    }
    cct_free(&cct);
    free(expected);
}

/* The number of nodes of pairs of unwinds, as the Appendix says which they share. */
TEST(sharing_is_that_of_the_appendix)
{
    static const struct {
        int one, other, nodes; /* unwinds by their numbers in the paper; nodes of both together */
    } pairs[] = {
        {1, 2, 2}, /* (2) extends (1) */
        {2, 3, 4}, /* p(i,a) is shared; the sample point b is not the call site b */
        {3, 4, 4}, /* p(i,a), p(i,b) are shared */
        {1, 5, 2}, /* another p-note: nothing */
        {4, 6, 5}, /* p(i,a) only */
        {4, 7, 5}, /* the first notes are shared (1-1 is the base case of M-1), then they diverge */
        {1, 8, 2}, /* another l-note: nothing */
        {1, 9, 2}, /* 1-1 is the base case of 1-M */
        {2, 9, 3}, /* the first note is shared by both classes */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct cct cct = {0};
        cct_init(&cct, 1);
        insert(&cct, &unwinds[pairs[i].one - 1]);
        insert(&cct, &unwinds[pairs[i].other - 1]);
        if ((int)cct_end(&cct) - 1 != pairs[i].nodes)
            fail_msg("(%d) and (%d): %u nodes, not %d", pairs[i].one, pairs[i].other,
                     cct_end(&cct) - 1, pairs[i].nodes);
        cct_free(&cct);
    }
}

TEST(x_0_is_kept_apart)
{
    struct cct cct = {0};
    cct_init(&cct, 1);
    struct cct_note one_one = {.ip = 7, .lip = LIP_NONE, .association = ASSOC_1_1, .first = true};
    struct cct_note one_zero = {.ip = 7, .lip = LIP_NONE, .association = ASSOC_1_0, .first = true};
    struct cct_note m_zero = {.ip = 7, .lip = LIP_NONE, .association = ASSOC_M_0, .first = true};
    uint32_t a = cct_child(&cct, CCT_ROOT, &one_one), b = cct_child(&cct, CCT_ROOT, &one_zero);
    assert_int_not_equal(a, b);
    assert_int_equal(cct_child(&cct, CCT_ROOT, &m_zero), b);
    assert_int_equal(cct_node(&cct, b)->seen, 1u << ASSOC_1_0 | 1u << ASSOC_M_0);
    cct_free(&cct);
}

/* Random native paths over few ips; compares the values of each path with sums in a plain array. */
#define DEPTH 6
#define IPS   7

TEST(a_large_tree_keeps_every_value)
{
    static uint64_t expected[117649]; /* 7^6 */
    static uint32_t node_of[117649];
    struct cct cct = {0};
    cct_init(&cct, 2);
    for (int round = 0; round < 2; round++) {
        memset(expected, 0, sizeof expected);
        unsigned seed = 42;
        for (int i = 0; i < 300000; i++) {
            uint32_t node = CCT_ROOT, number = 0;
            for (int k = 0; k < DEPTH; k++) {
                seed = seed * 1103515245 + 12345;
                uint32_t which = (seed >> 16) % IPS;
                struct cct_note note = {.ip = which + 1, .first = true};
                node = cct_child(&cct, node, &note);
                number = number * IPS + which;
            }
            assert_true(cct_add(&cct, node, 1, number + 1));
            expected[number] += number + 1;
            node_of[number] = node;
        }
        for (uint32_t number = 0; number < 117649; number++) {
            uint32_t same;
            if (expected[number] == 0)
                continue;
            const struct cct_node *node = cct_node(&cct, node_of[number]);
            const uint64_t *values = cct_values(&cct, node->values - 1, &same);
            assert_int_equal(same, node_of[number]);
            assert_true(values[0] == 0 && values[1] == expected[number]);
        }
        assert_true(cct_bytes(&cct) <= 48 * (uint64_t)(cct_end(&cct) - 1));
        cct_clear(&cct); /* the second round reuses the memory */
        assert_int_equal(cct_end(&cct), 0);
    }
    cct_free(&cct);
}
