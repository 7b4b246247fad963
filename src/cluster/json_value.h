/*
 * Values: the members of a cluster file, each with its type checked.
 *
 * A message names the member ("memory"); the caller, who knows which device it belongs to, puts the
 * place in front with yk_cluster_json_locate().
 */
#ifndef YK_CLUSTER_JSON_VALUE_H
#define YK_CLUSTER_JSON_VALUE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/units.h"

#include <stdint.h>

/* Passes `status` on; a failure's sentence gets `devices[3] ("x"): ` in front. `name` may be NULL.
 */
yk_status yk_cluster_json_locate(yk_status status, const char *list, size_t index,
                                 const char *name) YK_MUST_USE;

/* Fails unless `node` is an object whose members all have one of the `count` known names. */
yk_status yk_cluster_json_check_object(const struct yk_json *node, const char *const *known,
                                       size_t count) YK_MUST_USE;

/* A list, or NULL where it is missing. */
yk_status yk_cluster_json_list(const struct yk_json *object, const char *key,
                               const struct yk_json **out) YK_MUST_USE;

/* A string of at least one character, or NULL where it is missing. */
yk_status yk_cluster_json_text(const struct yk_json *object, const char *key,
                               const char **out) YK_MUST_USE;

/* An amount above 0, with its unit; `*out` stays as it is where it is missing. */
yk_status yk_cluster_json_amount(const struct yk_json *object, const char *key, enum yk_unit unit,
                                 double *out) YK_MUST_USE;

/* A whole number from `least` to `most`; `*out` stays as it is where it is missing. */
yk_status yk_cluster_json_integer(const struct yk_json *object, const char *key, int64_t least,
                                  int64_t most, int64_t *out) YK_MUST_USE;

/* Copies `text`, which may be NULL, into the arena. */
yk_status yk_cluster_json_keep(struct yk_arena *arena, const char *text,
                               const char **out) YK_MUST_USE;

#endif
