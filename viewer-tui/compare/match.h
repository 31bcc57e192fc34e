/* Which scopes of two runs are the same: the children of a row of one view and those of the row
 * that it was matched with in another of the same kind.
 *
 * Each child is matched with at most one. What tells scopes apart is compared ever less strictly,
 * and what has found its like is out of the comparison:
 *
 * 1. the same kind, name, file and module by their paths, and file of the call site without
 *    folders; the same line;
 * 2. the same with file and module by their names without folders: two build trees;
 * 3. the same with the nearest line, as the source was edited;
 * 4. the same name and kind, an inlined procedure being a procedure, from whatever file, module and
 *    call site; the same line, or the nearest one. Of modules: both are no shared libraries, the
 * program itself under another name.
 *
 * Where both databases have the source, a line of the left one is where that line of the source is
 * on the right (edits.h); one that is in both versions is no other one (3 and 4), and none that is
 * in one of them only. Otherwise lines are counted from the declaration of the procedure that they
 * lie in, if they lie in its file, so that procedures can move as a whole. The line of a procedure
 * or inlined procedure is that of its call site, where it has none that of its declaration. Nearest
 * means: one after the other in the order of their lines, those of the left side take the nearest
 * that is left, of two equally near the smaller one, of those with one line the first by kind,
 * file, module and file of the call site. Statements are never matched with another line (3 and 4),
 * as two lines with few samples would be: which of them has some is chance. Modules and files are
 * only in 1, and beyond where there is one candidate on either side. */
#ifndef VIEWER_MATCH_H
#define VIEWER_MATCH_H

#include "viewer-tui/compare/edits.h"
#include "viewer-tui/compare/row-pair.h"

/* Matches the children of rows of two views, which were expanded last; a row may be NOTHING, and
 * has no children then. Calls of one procedure from sites that one side does not know are joined
 * before (join-calls.h). Every child is in one pair: those of the left side in their order, each
 * with its like, then what is left of the right side. The caller frees with vec_free. */
struct row_pairs match_children(struct view *const sides[SIDES], struct row_pair parents,
                                struct edits *edits);

#endif
