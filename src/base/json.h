/*
 * JSON: reads JSON documents (base/json_write.h writes them). A document owns its nodes and is
 * immutable: several threads may read the same document. Simple accessors return NULL or false if a
 * node is missing or has another type. Their caller then writes the error message, because it knows
 * the context.
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

/* Parses all of `bytes`. The message of a syntax error contains the line and the column. */
yk_status yk_json_parse(const char *bytes, size_t length, struct yk_json **out) YK_MUST_USE;

/* Does the same for a file of another tool, whose writer may be less strict: an integer that 64
 * bits cannot hold is allowed (all integers of the document are then read as floating-point
 * numbers), of members with the same name, the last one counts, and strings may contain zeros
 * (\u0000). */
yk_status yk_json_parse_foreign(const char *bytes, size_t length, struct yk_json **out) YK_MUST_USE;

void yk_json_destroy(struct yk_json *root);

/* Parses `text` into a document in a new variable with the name `root`, evaluates `expression`, and
 * destroys the document. If the text cannot be parsed or the expression fails, inserts "source: "
 * before the error message, and the calling function returns the failure. The second macro is for
 * files of other tools. */
#define YK_TRY_WITH_PARSED_JSON(root, text, length, source, expression)                            \
    YK_TRY_WITH_JSON_BY_PARSER(yk_json_parse, root, text, length, source, expression)
#define YK_TRY_WITH_PARSED_FOREIGN_JSON(root, text, length, source, expression)                    \
    YK_TRY_WITH_JSON_BY_PARSER(yk_json_parse_foreign, root, text, length, source, expression)
#define YK_TRY_WITH_JSON_BY_PARSER(parse, root, text, length, source, expression)                  \
    do {                                                                                           \
        struct yk_json *(root) = NULL;                                                             \
        yk_status yk_json_status_ = parse((text), (length), &(root));                              \
        if (yk_json_status_ == YK_OK) {                                                            \
            yk_json_status_ = (expression);                                                        \
            yk_json_destroy(root);                                                                 \
        }                                                                                          \
        YK_TRY(yk_status_prefix_message(yk_json_status_, (source)));                               \
    } while (0)

/* Returns the type of a node for messages: "an object", "a string" … Returns "nothing" if `node` is
 * NULL. */
const char *yk_json_type_name(const struct yk_json *node);
bool yk_json_is_object(const struct yk_json *node);
bool yk_json_is_array(const struct yk_json *node);
bool yk_json_is_null(const struct yk_json *node);

/* Returns the member `key` of an object. Returns NULL if `node` is NULL, is not an object, or has
 * no member `key`. */
const struct yk_json *yk_json_get_member(const struct yk_json *node, const char *key);

/* An iterator over the members of an object, initialized with {0}. After a successful call of
 * yk_json_next_member() it holds one member. */
struct yk_json_member_iterator {
    const char *name;
    const struct yk_json *value;
    void *place; /* internal state */
};

/* Advances `member` to the next member, in file order. Returns false after the last member, or if
 * `object` is not an object. Takes constant time. */
bool yk_json_next_member(const struct yk_json *object, struct yk_json_member_iterator *member);

/* Returns the number of members of an object, or 0 if the node is not an object. */
size_t yk_json_member_count(const struct yk_json *object);

/* These two functions return the number of elements of an array, and one element. If `node` is not
 * an array, the number is 0 and the element is NULL. */
size_t yk_json_array_count(const struct yk_json *node);
const struct yk_json *yk_json_array_at(const struct yk_json *node, size_t index);

/* Returns the zero-terminated characters of a string, or NULL if the node is not a string or
 * contains zeros. */
const char *yk_json_string_value(const struct yk_json *node);

/* Returns the bytes of a string, which may contain zeros, and sets `*length`; NULL and 0 if the
 * node is not a string. */
const char *yk_json_string_bytes(const struct yk_json *node, size_t *length);

bool yk_json_number_value(const struct yk_json *node, double *out);
/* Reads a number that is written as an integer, without a point or an exponent. */
bool yk_json_integer_value(const struct yk_json *node, int64_t *out);
bool yk_json_boolean_value(const struct yk_json *node, bool *out);

/* Fails if a member of `object` has a name that is not in `known`. The message suggests the nearest
 * known name. */
yk_status yk_json_check_keys(const struct yk_json *object, const char *const *known,
                             size_t count) YK_MUST_USE;

/*
 * All functions from here to the end of this header read members of files in yoke's own formats and
 * check their types. An error message contains the name of the member ("cost"). The caller knows to
 * which task or device the member belongs; yk_json_prefix_error_with_element() inserts this into
 * the message.
 */

/*
 * Fails unless `root` is a yoke document, that is, an object with the member "yoke": 1 and the
 * given "kind". The name of every member (also "yoke" and "kind") must be one of the `count` names
 * in `known`. The members "name" and "comment" may be missing; if they exist, they must be strings
 * that are not empty.
 */
yk_status yk_json_check_yoke_document(const struct yk_json *root, const char *kind,
                                      const char *const *known, size_t count) YK_MUST_USE;

/* Like yk_json_check_yoke_document(), but the member "yoke" must be `version` instead of 1. */
yk_status yk_json_check_versioned_yoke_document(const struct yk_json *root, const char *kind,
                                                int version, const char *const *known,
                                                size_t count) YK_MUST_USE;

/* Returns `status`. If it is a failure, inserts a location before the error message. For the list
 * "tasks", the index 3 and the name "x" the location is `tasks[3] ("x"): `. `name` may be NULL. */
yk_status yk_json_prefix_error_with_element(yk_status status, const char *list, size_t index,
                                            const char *name) YK_MUST_USE;

/* Fails unless `node` is an object and the name of every member is one of the `count` names in
 * `known`. */
yk_status yk_json_check_object_keys(const struct yk_json *node, const char *const *known,
                                    size_t count) YK_MUST_USE;

/* Fails unless `node`, the member `key` of an object, is an array. */
yk_status yk_json_check_is_array(const struct yk_json *node, const char *key) YK_MUST_USE;

/* Both set `*out` to the array `key` of an object. If the member is missing,
 * yk_json_require_array() fails, and yk_json_get_array() sets `*out` to NULL. */
yk_status yk_json_require_array(const struct yk_json *object, const char *key,
                                const struct yk_json **out) YK_MUST_USE;
yk_status yk_json_get_array(const struct yk_json *object, const char *key,
                            const struct yk_json **out) YK_MUST_USE;

/* Reads the string of a node. Fails if the node is missing, is not a string, or is empty. `key` is
 * the name of the member, for messages. */
yk_status yk_json_read_nonempty_string(const struct yk_json *node, const char *key,
                                       const char **out) YK_MUST_USE;

/* Reads the string member `key`. If it is missing, sets `*out` to NULL. Fails if it is empty. */
yk_status yk_json_get_string(const struct yk_json *object, const char *key,
                             const char **out) YK_MUST_USE;

/* Reads a quantity. The node is a number in the base unit, or a string with a unit. */
yk_status yk_json_read_quantity(const struct yk_json *node, const char *key, enum yk_unit unit,
                                double *out) YK_MUST_USE;

/* Reads a quantity greater than 0. The member must be a string with a unit. Does not change `*out`
 * if the member is missing. */
yk_status yk_json_get_positive_quantity(const struct yk_json *object, const char *key,
                                        enum yk_unit unit, double *out) YK_MUST_USE;

/* Like yk_json_get_positive_quantity(), but also accepts 0. */
yk_status yk_json_get_nonnegative_quantity(const struct yk_json *object, const char *key,
                                           enum yk_unit unit, double *out) YK_MUST_USE;

/* Reads an integer from `min` to `max`. Does not change `*out` if the member is missing. */
yk_status yk_json_get_integer(const struct yk_json *object, const char *key, int64_t min,
                              int64_t max, int64_t *out) YK_MUST_USE;

/* Reads a boolean. Does not change `*out` if the member is missing. */
yk_status yk_json_get_bool(const struct yk_json *object, const char *key, bool *out) YK_MUST_USE;

#endif
