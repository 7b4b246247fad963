/*
 * Name index: a set of distinct strings, numbered 0, 1, 2 … in the order in which they were added.
 * The index copies the strings. While names are added, only one thread at a time may use the index.
 * Afterwards any number of threads may read it.
 */
#ifndef YK_BASE_NAME_INDEX_H
#define YK_BASE_NAME_INDEX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct yk_name_index;

yk_status yk_name_index_create(struct yk_name_index **out) YK_MUST_USE;
void yk_name_index_destroy(struct yk_name_index *names);

/* Adds `name` if it is new. Sets `*added` to whether the name was new, and `*out` to the number of
 * the name in both cases. */
yk_status yk_name_index_add(struct yk_name_index *names, const char *name, bool *added,
                            int32_t *out) YK_MUST_USE;

/* Does the same for a string of bytes, which may contain zeros. */
yk_status yk_name_index_add_bytes(struct yk_name_index *names, const char *bytes, size_t length,
                                  bool *added, int32_t *out) YK_MUST_USE;

/* Both return the number of a name, or -1 if the name is unknown. */
int32_t yk_name_index_find(const struct yk_name_index *names, const char *name);
int32_t yk_name_index_find_bytes(const struct yk_name_index *names, const char *bytes,
                                 size_t length);

/* Returns the known name that is most similar to the misspelled `word`, or NULL if no name is
 * similar enough. */
const char *yk_name_index_find_nearest(const struct yk_name_index *names, const char *word);

/* Sets `*out` to the number of a name. Fails if the name is unknown. The error message is
 * `unknown`, for example "the model has no layer", followed by the name and by the most similar
 * known name. */
yk_status yk_name_index_find_or_fail(const struct yk_name_index *names, const char *name,
                                     const char *unknown, int32_t *out) YK_MUST_USE;

int32_t yk_name_index_count(const struct yk_name_index *names);
/* These return the name with this number, zero-terminated, and the length of the name in bytes. The
 * name is valid as long as the index exists. */
const char *yk_name_index_name(const struct yk_name_index *names, int32_t number);
size_t yk_name_index_name_length(const struct yk_name_index *names, int32_t number);

#endif
