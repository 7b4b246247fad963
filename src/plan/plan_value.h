/*
 * Plan value: the values of a plan file, each with its type checked; a member that is missing
 * leaves
 * `*out` as it is. Messages name the member; callers put the place in front.
 */
#ifndef YK_PLAN_PLAN_VALUE_H
#define YK_PLAN_PLAN_VALUE_H

#include "base/json.h"
#include "base/json_write.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Refuses an object without that member. */
yk_status yk_plan_value_require(const struct yk_json *object, const char *key) YK_MUST_USE;

/* A whole number from `least` to `most`. */
yk_status yk_plan_value_read_number(const struct yk_json *object, const char *key, int32_t min,
                                    int32_t max, int32_t *out) YK_MUST_USE;

/* "5MiB", or a bare number of bytes; more than 0, or with `zero` 0 as well. */
yk_status yk_plan_value_read_bytes(const struct yk_json *object, const char *key, bool zero,
                                   double *out) YK_MUST_USE;

/* The number of a word among the `count` of `names`. */
yk_status yk_plan_value_read_choice(const struct yk_json *object, const char *key,
                                    const char *const *names, size_t count, int *out) YK_MUST_USE;

/* Writes a string that reads back as exactly `bytes`, short where that is exact. */
void yk_plan_value_write_bytes(struct yk_json_writer *json, const char *key, double bytes);

#endif
