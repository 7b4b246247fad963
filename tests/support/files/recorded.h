/* Recorded: JSON files beside the tests, in which a script of tests/oracle recorded what other
 * programs answered. */
#ifndef YK_TESTS_RECORDED_H
#define YK_TESTS_RECORDED_H

#include "base/json.h"

/* The file at a path below tests/; fails the test when it cannot be read. For yk_json_destroy(). */
struct yk_json *recorded_read(const char *path);

/* A member, or an item of a list, which must be there. */
const struct yk_json *recorded_get(const struct yk_json *node, const char *key);
double recorded_number(const struct yk_json *node, const char *key);
const char *recorded_text(const struct yk_json *list, size_t index);

#endif
