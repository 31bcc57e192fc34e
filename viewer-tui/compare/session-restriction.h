/* What the values of a session are sums over: some of the threads, and of each run pieces of its time: between two
 * times, one of its phases, or when a region ran. The databases follow when they are next asked for (session-databases.h). */
#ifndef VIEWER_SESSION_RESTRICTION_H
#define VIEWER_SESSION_RESTRICTION_H

#include "viewer-tui/compare/session.h"

/* Restricts all values to the threads of a set (NULL: all), of which it takes ownership. Closes all
 * views. FAILED if the projection, which is opened first, cannot be read; STOPPED if the user
 * stopped: then nothing has changed. */
enum outcome session_restrict(struct session *session, enum projection projection,
                              struct thread_set *set);

/* The time line of the only run; NULL if its database has none, or, with the problem noted, if it is damaged. */
const struct timeline *session_timeline(struct session *session);

/* The phases of the whole run, the only one. NULL, with the problem noted, if it has no time line or its logical
 * projection cannot be read. */
const struct phases *session_phases(struct session *session);

/* Restricts all values, and session->run, to a piece of time (NULL: the whole run). The set of threads stays. `name`,
 * for titles, may be NULL: then it is made of the range. Otherwise as session_restrict; FAILED, with the problem
 * noted, also if the database has no time line. */
enum outcome session_set_range(struct session *session, enum projection projection, const struct time_range *range,
                               const char *name);

/* Restricts each run to its asked_range. False, with the run and the reason in *cause (which the caller frees), or NULL
 * if a projection cannot be read. */
bool session_take_ranges(struct session *session, enum projection projection, char **cause);

/* The threads of a projection that the chooser finds (thread-set.h), for session_restrict. NULL with the reason in *cause
 * (which the caller frees), or without one if the projection cannot be read. */
struct thread_set *session_choose_threads(struct session *session, enum projection projection, thread_chooser *choose,
                                          const char *wanted, char **cause);

#endif
