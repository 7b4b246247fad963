/*
 * Values: the members of a JSON graph in yoke's own form, each with its type checked.
 *
 * A message names the member ("cost"); the caller, who knows which task it belongs to, puts the
 * place in front with yk_graph_json_locate().
 */
#ifndef YK_GRAPH_JSON_VALUE_H
#define YK_GRAPH_JSON_VALUE_H

#include "base/json.h"
#include "base/status.h"
#include "base/units.h"

#include <stddef.h>

/* Passes `status` on; a failure's sentence gets `tasks[3] ("x"): ` in front. `name` may be NULL. */
yk_status yk_graph_json_locate(yk_status status, const char *list, size_t index,
                               const char *name) YK_MUST_USE;

/* Fails unless `node` is an object whose members all have one of the `count` known names. */
yk_status yk_graph_json_check_object(const struct yk_json *node, const char *const *known,
                                     size_t count) YK_MUST_USE;

/* A list that must be there, or that counts as empty (NULL) where it is missing. */
yk_status yk_graph_json_need_list(const struct yk_json *object, const char *key,
                                  const struct yk_json **out) YK_MUST_USE;
yk_status yk_graph_json_get_list(const struct yk_json *object, const char *key,
                                 const struct yk_json **out) YK_MUST_USE;

/* A string with at least one character; `key` is what messages call it. */
yk_status yk_graph_json_name(const struct yk_json *node, const char *key,
                             const char **out) YK_MUST_USE;

/* A bare number, in the graph's own units, or a string with a unit. */
yk_status yk_graph_json_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                 double *out) YK_MUST_USE;

#endif
