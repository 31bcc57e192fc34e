/* Which scopes of several runs are the same: matches the children of rows of views of one kind, one row of each run.
 *
 * The children of one run after the other are matched with those of the runs before. Of runs of one program, all that
 * identifies a scope must agree: kind, name, line, path of file and module, and file name of the call site. Of two
 * versions (merged_runs.comparing), four passes compare ever less strictly, each among the children that the passes
 * before left:
 *
 * 1. as above
 * 2. file and module by their names without folders: the trees were built in different places
 * 3. as 2, the nearest line: the source was edited
 * 4. the same name and kind, from any file, module and call site; the same line or the nearest one. An inlined
 *    procedure counts as a procedure, and a module that is no shared library as any other such: the program may have
 *    been renamed.
 *
 * Lines. If both databases have the source, a line of the left group is where it is in the right version (edits.h);
 * then an unchanged line matches no other line (3 and 4), and a changed one no unchanged one. Else lines count from the
 * declaration of the procedure around them, if it is in the same file, so that procedures can move as a whole. The line
 * of a procedure is that of its call site, or else of its declaration. Nearest: the rows before, in order of lines,
 * each take the nearest row that remains; of two equally near the smaller line; on one line the first by kind, file,
 * module and file of the call site.
 *
 * Statements match in passes 1 and 2 only: chance decides which of two lines has a few samples. Modules and files match
 * in pass 1; later only if each side has one candidate. */
#ifndef VIEWER_MATCH_H
#define VIEWER_MATCH_H

#include "viewer-tui/compare/merged-runs.h"
#include "viewer-tui/tree/view.h"

struct match;

/* Both must outlive it; the caller frees with match_free. */
struct match *match_new(const struct merged_runs *merged, struct view *const *views);
void match_free(struct match *match);

/* By scope, then run: a row, or NOTHING. */
typedef VEC(uint32_t) matched_rows;

/* Matches the children of rows[run], which were expanded last; a row may be NOTHING, without children. First joins
 * calls of one procedure from sites that a run does not know (join-calls.h). Every child is in one scope: those of the
 * first run in their order, then the rest of the next one. The caller frees with vec_free. */
matched_rows match_children(struct match *match, const uint32_t *rows);

#endif
