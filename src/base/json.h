/*
 * JSON: a reader of documents (base/json_write.h is the writer). A document owns its nodes and is
 * immutable: several threads may read one. Simple accessors return NULL or false if a node is
 * missing or has another type. The caller, which knows the context, then writes the error message.
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

/* Parses all of `bytes`. The message of a syntax error contains line and column. */
yk_status yk_json_parse(const char *bytes, size_t length, struct yk_json **out) YK_MUST_USE;
void yk_json_destroy(struct yk_json *root);

/* Parses `text` into a document in a new variable called `root`, evaluates `expression`, and
 * destroys the document. Returns a failure from the calling function, with "source: " before its
 * message. */
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

/* The type of a node for messages: "an object", "a string" … NULL is "nothing". */
const char *yk_json_type_name(const struct yk_json *node);
bool yk_json_is_object(const struct yk_json *node);
bool yk_json_is_array(const struct yk_json *node);
bool yk_json_is_null(const struct yk_json *node);

/* The member `key` of an object. Returns NULL if `node` is NULL or not an object, or has no such
 * member. */
const struct yk_json *yk_json_get(const struct yk_json *node, const char *key);

/* An iterator over the members of an object, initialized with {0}. */
struct yk_json_member {
    const char *name;
    const struct yk_json *value;
    void *place; /* internal state */
};

/* Advances to the next member, in file order. Returns false after the last member, or if `object`
 * is not an object. Takes constant time. */
bool yk_json_next_member(const struct yk_json *object, struct yk_json_member *member);

/* The number of members of an object; 0 for any other node. */
size_t yk_json_member_count(const struct yk_json *object);

/* The number of elements of an array, and one element; 0 and NULL for any other node. */
size_t yk_json_array_count(const struct yk_json *node);
const struct yk_json *yk_json_array_at(const struct yk_json *node, size_t index);

/* The characters of a string, which contains no zeros; NULL for any other node. */
const char *yk_json_string(const struct yk_json *node);

bool yk_json_number(const struct yk_json *node, double *out);
bool yk_json_boolean(const struct yk_json *node, bool *out);

/* Fails if a member of `object` has a name that is not in `known`. The message suggests the nearest
 * known name. */
yk_status yk_json_check_keys(const struct yk_json *object, const char *const *known,
                             size_t count) YK_MUST_USE;

/*
 * The functions below read members of files in yoke's own formats and check their types. An error
 * message names the member ("cost"). The caller, which knows the task or device, adds
 * yk_json_add_location().
 */

/*
 * Fails unless `root` is a yoke document: an object with "yoke": 1 and this "kind". All its members
 * must have one of the `count` known names. "name" and "comment" must be strings.
 */
yk_status yk_json_check_document(const struct yk_json *root, const char *kind,
                                 const char *const *known, size_t count) YK_MUST_USE;

/* The same for a format with another version than 1. */
yk_status yk_json_check_document_version(const struct yk_json *root, const char *kind, int version,
                                         const char *const *known, size_t count) YK_MUST_USE;

/* Returns `status`. If it is a failure, inserts `tasks[3] ("x"): ` before its message, for list
 * `tasks`, index 3 and name "x". `name` may be NULL. */
yk_status yk_json_add_location(yk_status status, const char *list, size_t index,
                               const char *name) YK_MUST_USE;

/* Fails unless `node` is an object and all its members have one of the `count` known names. */
yk_status yk_json_check_object(const struct yk_json *node, const char *const *known,
                               size_t count) YK_MUST_USE;

/* Fails unless `node`, the member `key` of an object, is an array. */
yk_status yk_json_check_list(const struct yk_json *node, const char *key) YK_MUST_USE;

/* The array `key` of an object. If it is missing, yk_json_require_list() fails and
 * yk_json_get_list() sets `*out` to NULL. */
yk_status yk_json_require_list(const struct yk_json *object, const char *key,
                               const struct yk_json **out) YK_MUST_USE;
yk_status yk_json_get_list(const struct yk_json *object, const char *key,
                           const struct yk_json **out) YK_MUST_USE;

/* The string of a node. Fails if it is empty. `key` is the name of the member, for messages. */
yk_status yk_json_read_nonempty_string(const struct yk_json *node, const char *key,
                                       const char **out) YK_MUST_USE;

/* The string member `key`, or NULL if it is missing. Fails if it is empty. */
yk_status yk_json_get_string(const struct yk_json *object, const char *key,
                             const char **out) YK_MUST_USE;

/* A number in the base unit, or a string with a unit. */
yk_status yk_json_read_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                double *out) YK_MUST_USE;

/* A quantity above 0, as a string with a unit. Does not change `*out` if the member is missing. */
yk_status yk_json_get_positive_quantity(const struct yk_json *object, const char *key,
                                        enum yk_unit unit, double *out) YK_MUST_USE;

/* The same, but 0 is allowed. */
yk_status yk_json_get_nonnegative_quantity(const struct yk_json *object, const char *key,
                                           enum yk_unit unit, double *out) YK_MUST_USE;

/* An integer from `min` to `max`. Does not change `*out` if the member is missing. */
yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t min,
                              int64_t max, int64_t *out) YK_MUST_USE;

/* A boolean. Does not change `*out` if the member is missing. */
yk_status yk_json_get_bool(const struct yk_json *object, const char *key, bool *out) YK_MUST_USE;

#endif
