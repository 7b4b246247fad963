/*
 * JSON nodes that a program makes, for values that are passed on as JSON (base/json.h reads them).
 * A node that is put into an object or an array may be part of another document: the two share it,
 * and it lives as long as either of them. A caller that makes a node owns it and frees it with
 * yk_json_destroy(). Only one thread at a time may change a node or share it.
 *
 * If memory is exhausted, a function that makes a node returns NULL, and one that adds returns
 * false. Functions that add accept NULL as the value and then return false, so that a caller checks
 * once.
 */
#ifndef YK_BASE_JSON_NODE_H
#define YK_BASE_JSON_NODE_H

#include "base/json.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_json *yk_json_node_new_object(void);
struct yk_json *yk_json_node_new_array(void);
struct yk_json *yk_json_node_new_string(const char *text, size_t length);
struct yk_json *yk_json_node_new_bool(bool value);
struct yk_json *yk_json_node_new_null(void);

/* Returns the node itself. The caller owns one more share of it. */
struct yk_json *yk_json_node_share(const struct yk_json *node);

/* Sets a member of an object. A member with this name keeps its place and gets the value; a new
 * member comes last. The object shares the value. */
bool yk_json_node_set(struct yk_json *object, const char *key, const struct yk_json *value);

/* Does the same, but takes over the caller's share of the value, even on failure. */
bool yk_json_node_set_new(struct yk_json *object, const char *key, struct yk_json *value);

/* Append to an array: the first shares the value, the second takes over the caller's share. */
bool yk_json_node_append(struct yk_json *array, const struct yk_json *value);
bool yk_json_node_append_new(struct yk_json *array, struct yk_json *value);

/* Appends the node as JSON text, with an indent of two spaces and characters as they are. */
void yk_json_node_append_text(const struct yk_json *node, struct yk_text *out);

#endif
