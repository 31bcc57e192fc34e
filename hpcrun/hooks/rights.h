/* Normal context. */
#ifndef HPCRUN_HOOKS_RIGHTS_H
#define HPCRUN_HOOKS_RIGHTS_H

/* The program is about to change its user, its groups, its root, or what files it may open (Landlock). */
void rights_change(void);

#endif
