/* Members of the objects in run.json: a key and a value. */
#ifndef HPCPROF_RUN_JSON_VALUES_H
#define HPCPROF_RUN_JSON_VALUES_H

#include "lib/json.h"

void json_write_number(struct json_writer *json, const char *key, uint64_t value);
void json_write_amount(struct json_writer *json, const char *key, double value);
void json_write_truth(struct json_writer *json, const char *key, bool value);

/* The value, or null if it is not known. */
void json_write_known_number(struct json_writer *json, const char *key, bool is_known,
                             int64_t value);
void json_write_known_amount(struct json_writer *json, const char *key, bool is_known,
                             double value);

/* The name of a code; "code 42" if `name` is NULL, since this version does not know the code. */
void json_write_code(struct json_writer *json, const char *key, const char *name, uint64_t code);

double seconds(uint64_t nanoseconds);

/* 0 if the end is before the beginning. */
double seconds_between(uint64_t from, uint64_t to);

#endif
