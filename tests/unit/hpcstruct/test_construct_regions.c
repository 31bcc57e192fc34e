/* The code of OpenMP's constructs between the calls that begin and end them, on a handmade module. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

#include "hpcstruct/structure/construct-regions.h"

/* Stubs of the runtime's functions, 16 bytes each. */
enum stub { CRITICAL = 0x1010, END_CRITICAL, ORDERED, END_ORDERED, SINGLE, BARRIER };
static const char *const stubs[] = {"GOMP_critical_start@plt", "GOMP_critical_end@plt",
                                    "GOMP_ordered_start@plt",  "GOMP_ordered_end@plt",
                                    "GOMP_single_start@plt",   "GOMP_barrier@plt"};

#define STUB_AT(stub) (0x1010u + ((unsigned)(stub)-0x1010u) * 16u)
#define F             0x1200u

static struct fixture {
    struct made_module *made;
    struct debug_info info;
    struct construct_calls calls;
    struct cfg cfg;
    struct construct_regions regions;
} f;

STEP(begin)
{
    f = (struct fixture){.made = made_module_new()};
    for (unsigned i = 0; i < sizeof stubs / sizeof *stubs; i++) {
        made_stub(f.made, STUB_AT(CRITICAL + i), stubs[i]);
        f.made->at = STUB_AT(CRITICAL + i);
        made_code(f.made, 0xff, 0x25, 0, 0, 0, 0); /* jmp *SLOT(%rip) */
    }
    made_symbol(f.made, F, 0x80, "f");
    f.made->at = F;
}

static void call(enum stub stub)
{
    made_call(f.made, STUB_AT(stub));
}

static void find(void)
{
    made_module_map(f.made, NULL, 0);
    made_module_procedures(f.made, NULL, 0);
    debug_info_finish(&f.info, 1);
    const struct module_code *module = &f.made->module;
    construct_calls_find(&f.calls, module, &f.info, &f.made->image);
    cfg_build(&f.cfg, module,
              &module->procedures.all.at[procedures_find(&module->procedures, &module->map, F)]);
    construct_regions_find(&f.regions, &f.cfg, &f.calls);
}

STEP(end)
{
    construct_regions_free(&f.regions);
    construct_calls_free(&f.calls);
    cfg_free(&f.cfg);
    debug_info_free(&f.info);
}

static const char *name_of(uint32_t region)
{
    uint32_t function = f.regions.all.at[region].call->function;
    return strtab_string(&f.info.names, f.info.functions.at[function].name);
}

/* The constructs at an address, outermost first: "critical ordered ". */
static void check(uint64_t address, const char *expected)
{
    char text[128] = "";
    for (uint32_t i = 0; i < f.regions.all.n; i++)
        if (construct_region_contains(&f.regions, i, address)) {
            strcat(text, name_of(i));
            strcat(text, " ");
        }
    assert_string_equal(text, expected);
}

EACH_TEST(begin, end);

/* A construct has the calls that begin and end it, and no code before or after them. */
TEST(code_between_the_calls)
{
    made_work(f.made, 1);
    call(CRITICAL);       /* 0x1203 */
    made_work(f.made, 1); /* 0x1208 */
    call(END_CRITICAL);   /* 0x120b */
    made_work(f.made, 1); /* 0x1210 */
    made_return(f.made);
    find();
    check(0x1200, "");
    check(0x1203, "critical ");
    check(0x1208, "critical ");
    check(0x120f, "critical ");
    check(0x1210, "");
}

/* Constructs in constructs, of the same kind, too, behind a branch in them. */
TEST(nested_constructs)
{
    call(CRITICAL);              /* 0x1200 */
    made_branch(f.made, 0x1220); /* 0x1205 */
    call(CRITICAL);              /* 0x120b */
    call(ORDERED);               /* 0x1210 */
    call(END_ORDERED);           /* 0x1215 */
    call(END_CRITICAL);          /* 0x121a */
    made_code(f.made, 0x90);
    made_work(f.made, 1); /* 0x1220 */
    call(END_CRITICAL);   /* 0x1223 */
    made_return(f.made);  /* 0x1228 */
    find();
    check(0x1205, "critical ");
    check(0x120b, "critical critical ");
    check(0x1210, "critical critical ordered ");
    check(0x121a, "critical critical ");
    check(0x121f, "critical ");
    check(0x1220, "critical ");
    check(0x1228, "");
}

/* Only the side of the branch that executes a single is in it, and not its barrier's other copy:
 *
 *     call GOMP_single_start; test %al, %al; je OTHER; work; call GOMP_barrier; work; ret
 *     OTHER: call GOMP_barrier; ret */
TEST(a_chosen_thread)
{
    call(SINGLE);                  /* 0x1200 */
    made_code(f.made, 0x84, 0xc0); /* 0x1205 */
    made_branch(f.made, 0x121a);   /* 0x1207 */
    made_work(f.made, 1);          /* 0x120d */
    call(BARRIER);                 /* 0x1210 */
    made_work(f.made, 1);          /* 0x1215 */
    made_return(f.made);           /* 0x1218 */
    made_code(f.made, 0x90);
    call(BARRIER); /* 0x121a */
    made_return(f.made);
    find();
    check(0x1205, "single ");
    check(0x120d, "single ");
    check(0x1210, "single ");
    check(0x1215, "");
    check(0x121a, "");
}

/* Without a barrier the single ends where the other threads go on. If its thread never comes there, it
 * is left out. */
TEST(a_chosen_thread_without_barrier)
{
    for (int has_end = 0; has_end <= 1; has_end++) {
        if (has_end) /* another module */
            end(state), begin(state);
        call(SINGLE);                        /* 0x1200 */
        made_code(f.made, 0x83, 0xf8, 0x01); /* cmp $1, %eax: 0x1205 */
        made_branch(f.made, 0x1212);         /* 0x1208 */
        made_work(f.made, 1);                /* 0x120e */
        made_return(f.made);                 /* 0x1211 */
        made_work(f.made, 1);                /* 0x1212 */
        if (has_end)
            made_jump(f.made, 0x120e); /* 0x1215 */
        made_return(f.made);
        find();
        check(0x1200, has_end ? "single " : "");
        check(0x120e, "");
        check(0x1212, has_end ? "single " : "");
    }
}
