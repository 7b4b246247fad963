/*
 * JSON: reading documents (base/json_write.h writes them). A document owns its nodes, which never
 * change: several threads may read one. Plain accessors never fail: they return NULL or false, and
 * the caller, who knows which task or device it is reading, writes the sentence.
 */
#ifndef YK_BASE_JSON_H
#define YK_BASE_JSON_H

#include "base/arena.h"
#include "base/status.h"
#include "base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_json;

/* Parses all of `bytes`; a fault is reported with its line and column. */
yk_status yk_json_parse(const char *bytes, size_t length, struct yk_json **out) YK_MUST_USE;
void yk_json_destroy(struct yk_json *root);

/* Parses `text` into a document called `root`, evaluates `expression`, which may use it, and
 * destroys it. On an error, the calling function returns it with `source` in front of the sentence.
 */
#define YK_TRY_JSON(root, text, length, source, expression)                                        \
    do {                                                                                           \
        struct yk_json *(root) = NULL;                                                             \
        yk_status yk_json_status_ = yk_json_parse((text), (length), &(root));                      \
        if (yk_json_status_ == YK_OK) {                                                            \
            yk_json_status_ = (expression);                                                        \
            yk_json_destroy(root);                                                                 \
        }                                                                                          \
        YK_TRY(yk_status_prefix(yk_json_status_, (source)));                                       \
    } while (0)

/* "an object", "a string" …: for messages. NULL is "nothing". */
const char *yk_json_kind(const struct yk_json *node);
bool yk_json_is_object(const struct yk_json *node);
bool yk_json_is_array(const struct yk_json *node);
bool yk_json_is_null(const struct yk_json *node);

/* A member of an object; NULL when `node` is NULL, no object, or has no such member. */
const struct yk_json *yk_json_get(const struct yk_json *node, const char *key);

/* An iterator over the members of an object; starts as {0}. */
struct yk_json_member {
    const char *name;
    const struct yk_json *value;
    void *place; /* for yk_json_next_member() alone */
};

/* Goes on to the next member of an object, in the order of the file; false after the last one, and
 * for anything but an object. A call takes constant time. */
bool yk_json_next_member(const struct yk_json *object, struct yk_json_member *member);

/* How many members an object has; 0 of anything else. */
size_t yk_json_member_count(const struct yk_json *object);

/* The elements of an array; 0 and NULL for anything else. */
size_t yk_json_count(const struct yk_json *node);
const struct yk_json *yk_json_at(const struct yk_json *node, size_t index);

/* The characters of a string, without zeros inside; NULL for anything else. */
const char *yk_json_string(const struct yk_json *node);

bool yk_json_number(const struct yk_json *node, double *out);
bool yk_json_boolean(const struct yk_json *node, bool *out);

/* Fails on the first member of `object` whose name is not in `known`, offering the nearest one. */
yk_status yk_json_check_keys(const struct yk_json *object, const char *const *known,
                             size_t count) YK_MUST_USE;

/*
 * Members of files in yoke's own formats, each with its type checked. A message names the member
 * ("cost"); the caller, who knows which task or device it belongs to, adds yk_json_add_location().
 */

/*
 * Fails unless `root` is a yoke document: an object with version 1 of "yoke" and this "kind", whose
 * members have one of the `count` known names, "name" and "comment" being strings.
 */
yk_status yk_json_check_document(const struct yk_json *root, const char *kind,
                                 const char *const *known, size_t count) YK_MUST_USE;

/* The same for a file format whose version is not 1. */
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

/* A whole number from `min` to `max`; `*out` stays as it is where it is missing. */
yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t min,
                              int64_t max, int64_t *out) YK_MUST_USE;

/* True or false; `*out` stays as it is where it is missing. */
yk_status yk_json_get_flag(const struct yk_json *object, const char *key, bool *out) YK_MUST_USE;

#endif
