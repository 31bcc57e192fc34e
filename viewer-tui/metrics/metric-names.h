/* The names that hpcprof gives to metrics, without the event: "lock wait" of "lock wait (CPUTIME)". */
#ifndef VIEWER_METRIC_NAMES_H
#define VIEWER_METRIC_NAMES_H

#define METRIC_WORK       "work"
#define METRIC_OVERHEAD   "overhead"
#define METRIC_IDLENESS   "idleness"
#define METRIC_EFFORT     "effort"
#define METRIC_WAITING    "waiting"
#define METRIC_OFF_CPU    "blocked"
#define METRIC_LOCK_BLAME "lock wait"  /* charged to the holder */
#define METRIC_LOCK_WAIT  "lock delay" /* charged to the waiter */
#define METRIC_INCOMPLETE "incomplete"

#endif
