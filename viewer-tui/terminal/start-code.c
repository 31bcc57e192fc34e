#include "viewer-tui/terminal/start-code.h"

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/start-names.h"

#include <assert.h>
#include <string.h>

/* Smallest share of its parent's cost of a row that continues a chain. What else is below the
 * parent stays visible beside the folded chain. */
#define DOMINATING_SHARE 0.9

/* Longer chains are no start code; Rust's, the longest known, has 19 rows. */
#define MOST_ROWS 64

/* The child with nearly all of a row's cost, if it is a procedure; else NOTHING. */
static uint32_t dominating_child(struct view *view, uint32_t row)
{
    size_t metric = view->sorting.metric;
    double whole = view_cost(view, row, metric, INCLUSIVE);
    view_expand(view, row);
    for (uint32_t i = 0; i < view_row(view, row)->n_children; i++) {
        uint32_t child = view_row(view, row)->first_child + i;
        double cost = view_cost(view, child, metric, INCLUSIVE);
        if (whole != 0 && cost / whole >= DOMINATING_SHARE)
            return row_is_procedure(view_row(view, child)) ? child : NOTHING;
    }
    return NOTHING;
}

/* Whether a procedure is of a stripped libstdc++. It may be execute_native_thread_routine, which begins the thread of a
 * std::thread and has no name there. */
static bool is_unnamed_of_libstdcxx(const char *name)
{
    return strncmp(name, "<libstdc++.so", strlen("<libstdc++.so")) == 0;
}

bool start_chain_may_begin(const struct view *view, uint32_t row)
{
    view = view_origin(view, &row);
    if (view->class != &topdown_class || row == 0)
        return false;
    if (view_row(view, row)->kind == KIND_ROOT)
        return true;
    autofree struct text name = {0};
    if (view_row(view, row)->kind == KIND_PROCEDURE)
        label_name(view, row, &name);
    return name_begins_thread(text_string(&name)) || is_unnamed_of_libstdcxx(text_string(&name));
}

/* Whether a row is start code; `above_is` says whether the row above is: then what belongs to the same library is, too. */
static bool is_start_code(const struct view *view, uint32_t row, bool above_is)
{
    autofree char *name = label_copy(view, row);
    const char *path = label_path(view, row, NULL), *module = label_module_path(view, row);
    bool is_of_libc = module && strncmp(path_name(module), "libc.so", strlen("libc.so")) == 0;
    bool is_of_rust = path && strncmp(path, "/rustc/", strlen("/rustc/")) == 0;
    bool is_of_library = is_of_libc || is_of_rust || strstr(name, "std::thread::") || strstr(name, "std::__invoke");
    bool runs_thread = strncmp(name, "std::thread::_State_impl", strlen("std::thread::_State_impl")) == 0;
    return name_is_of_start(name) || runs_thread || (above_is && is_of_library);
}

/* One row that is not start code may stand above start code: _start of a stripped program, or the
 * main that Rust's compiler makes. Neither has a source file. */
struct start_chain start_chain_at(struct view *view, uint32_t row)
{
    assert(start_chain_may_begin(view, row));
    uint32_t innermost = row, at = row;
    autofree char *outermost = label_copy(view, row);
    bool above_is = !is_unnamed_of_libstdcxx(outermost);
    for (size_t n = 0; n < MOST_ROWS; n++) {
        at = dominating_child(view, at);
        if (at == NOTHING)
            break;
        bool is = is_start_code(view, at, above_is);
        if (!is && (!above_is || label_path(view, at, NULL)))
            break;
        above_is = is;
        if (is)
            innermost = at;
    }
    uint32_t last = innermost == row ? NOTHING : dominating_child(view, innermost);
    bool hides_several = last != NOTHING && view_row(view, last)->parent != row;
    return (struct start_chain){.first = row, .last = hides_several ? last : NOTHING};
}
