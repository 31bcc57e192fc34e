/* The ends of the processes of a run, and the programs that were not measured: from the lists of
 * processes in the measurement directories (lib/process-list.h). Directories of older versions have
 * no lists; then only what the measurement files say is known. */
#ifndef HPCPROF_PROCESS_ENDS_H
#define HPCPROF_PROCESS_ENDS_H

#include "hpcprof/measurement/measurements.h"

struct process_ends;

/* Reads the lists; the caller frees. Reports lists that cannot be read, which are skipped, and files that lack the
 * end that their process has written. */
struct process_ends *process_ends_read(const struct measurements *measurements);
void process_ends_free(struct process_ends *ends);

/* The end of a process that lacks data, or at which its file lacks the end. */
struct lost_end {
    const char *state; /* "killed", "bare system call", "withdrawn", "unknown"; or, by the list of
                          processes, how it ended though its file lacks that ("exit"). NULL: the file
                          has its end, or nothing is known of it */
    const char *error; /* why data could not be written; NULL: none was lost so */
    int signal;        /* that killed it; 0: none, or unknown */
    double data_until; /* seconds of its life that its data covers */
    double missing_at_most; /* seconds before its end that its data may lack */
    bool recovered;         /* all data of its threads but at most the last sample of each */
    bool is_cut;            /* the process has written its end, and the file lacks it */
};

struct lost_end process_ends_find(const struct process_ends *ends, const struct measurement *m);

/* A line about an end whose state is not NULL; the caller frees. */
char *lost_end_text(const struct lost_end *end);

/* Programs that were not measured for one reason. */
struct unmeasured_programs {
    char *reason;
    bool are_parents; /* the programs are the parents of processes without any record */
    size_t count;     /* processes */
    double cpu; /* CPU time, s, of those whose time is known, with the children that they waited for */
    VEC(char *) programs; /* distinct, the first few, as hpcrun wrote them in its list */
};

struct unmeasured_list {
    VEC(struct unmeasured_programs) all; /* in the order in which they come up */
};

/* The caller frees with unmeasured_list_free. */
struct unmeasured_list process_ends_unmeasured(const struct process_ends *ends,
                                               const struct measurements *measurements);

/* Processes that were measured in part: data up to some time before their end is there, by reason. `cpu` is the
 * CPU time after that. Programs have their process ids: "cc1[77]". */
struct unmeasured_list process_ends_in_part(const struct process_ends *ends,
                                            const struct measurements *measurements);

void unmeasured_list_free(struct unmeasured_list *list);

/* Whether there is a list of processes. */
bool process_ends_are_known(const struct process_ends *ends);

#endif
