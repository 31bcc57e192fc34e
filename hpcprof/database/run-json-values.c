#include "hpcprof/database/run-json-values.h"

#include "lib/alloc.h"

void json_write_number(struct json_writer *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_integer(json, value < INT64_MAX ? (int64_t)value : INT64_MAX);
}

void json_write_amount(struct json_writer *json, const char *key, double value)
{
    json_write_key(json, key);
    json_write_double(json, value);
}

void json_write_truth(struct json_writer *json, const char *key, bool value)
{
    json_write_key(json, key);
    json_write_bool(json, value);
}

void json_write_known_number(struct json_writer *json, const char *key, bool is_known,
                             int64_t value)
{
    json_write_key(json, key);
    if (is_known)
        json_write_integer(json, value);
    else
        json_write_null(json);
}

void json_write_known_amount(struct json_writer *json, const char *key, bool is_known, double value)
{
    json_write_key(json, key);
    if (is_known)
        json_write_double(json, value);
    else
        json_write_null(json);
}

void json_write_code(struct json_writer *json, const char *key, const char *name, uint64_t code)
{
    autofree char *unknown = mem_printf("code %llu", (unsigned long long)code);
    json_write_text(json, key, name ? name : unknown);
}

double seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

double seconds_between(uint64_t from, uint64_t to)
{
    return to > from ? seconds(to - from) : 0;
}
