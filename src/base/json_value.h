/*
 * JSON values: the members of files in yoke's own forms, each with its type checked.
 *
 * A message names the member ("cost"); the caller, who knows which task or device it belongs to,
 * puts the place in front with yk_json_add_location().
 */
#ifndef YK_BASE_JSON_VALUE_H
#define YK_BASE_JSON_VALUE_H

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Fails unless `root` is what every file of ours is: an object with this version of "yoke" and this
 * "kind", whose members have one of the `count` known names, "name" and "comment" being strings.
 */
yk_status yk_json_check_document(const struct yk_json *root, const char *kind,
                                 const char *const *known, size_t count) YK_MUST_USE;

/* The same for a file whose form is of another version than 1. */
yk_status yk_json_check_version(const struct yk_json *root, const char *kind, int version,
                                const char *const *known, size_t count) YK_MUST_USE;

/* Passes `status` on; a failure's sentence gets `tasks[3] ("x"): ` in front. `name` may be NULL. */
yk_status yk_json_add_location(yk_status status, const char *list, size_t index,
                               const char *name) YK_MUST_USE;

/* Fails unless `node` is an object whose members all have one of the `count` known names. */
yk_status yk_json_check_object(const struct yk_json *node, const char *const *known,
                               size_t count) YK_MUST_USE;

/* A list that must be there, or that counts as empty (NULL) where it is missing. */
yk_status yk_json_require_list(const struct yk_json *object, const char *key,
                               const struct yk_json **out) YK_MUST_USE;
yk_status yk_json_get_list(const struct yk_json *object, const char *key,
                           const struct yk_json **out) YK_MUST_USE;

/* A string with at least one character; `key` is what messages call it. */
yk_status yk_json_read_name(const struct yk_json *node, const char *key,
                            const char **out) YK_MUST_USE;

/* The same as a member that may be missing: NULL then. */
yk_status yk_json_get_text(const struct yk_json *object, const char *key,
                           const char **out) YK_MUST_USE;

/* A bare number, in the file's own units, or a string with a unit. */
yk_status yk_json_read_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                double *out) YK_MUST_USE;

/* An amount above 0, with its unit; `*out` stays as it is where it is missing. */
yk_status yk_json_get_amount(const struct yk_json *object, const char *key, enum yk_unit unit,
                             double *out) YK_MUST_USE;

/* The same, or 0. */
yk_status yk_json_get_amount_or_zero(const struct yk_json *object, const char *key,
                                     enum yk_unit unit, double *out) YK_MUST_USE;

/* A whole number from `least` to `most`; `*out` stays as it is where it is missing. */
yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t least,
                              int64_t most, int64_t *out) YK_MUST_USE;

/* True or false; `*out` stays as it is where it is missing. */
yk_status yk_json_get_flag(const struct yk_json *object, const char *key, bool *out) YK_MUST_USE;

/* Copies `text`, which may be NULL, into the arena. */
yk_status yk_json_copy_text(struct yk_arena *arena, const char *text, const char **out) YK_MUST_USE;

#endif
