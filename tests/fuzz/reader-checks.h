/* What the readers of measurements and structure promise about their results, for any input. */
#ifndef TESTS_FUZZ_READER_CHECKS_H
#define TESTS_FUZZ_READER_CHECKS_H

struct measurement;
struct structure;

/* Look at everything in a result and check the promises (promise.h). */
void check_measurement(const struct measurement *m);
void check_structure(const struct structure *s);

#endif
