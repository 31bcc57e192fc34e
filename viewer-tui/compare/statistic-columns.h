/* Columns for the statistics over threads that hpcprof -M was asked for: derived metrics (derived.h)
 * such as "work mean = thread_mean($"work")". They are computed from the values of threads, so they
 * are right in every view, for rows that stand for several contexts, and with any restriction. */
#ifndef VIEWER_STATISTIC_COLUMNS_H
#define VIEWER_STATISTIC_COLUMNS_H

#include "viewer-tui/compare/session.h"

/* Defines the columns that run.json of one database asks for, except those whose names the user has
 * defined. Does nothing for a comparison. */
void statistic_columns_define(struct session *session);

#endif
