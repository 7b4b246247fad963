/*
 * Name index: a set of distinct strings, numbered 0, 1, 2 … in the order in which they were added.
 * It copies the strings. While names are added, one thread at a time may use it; afterwards any
 * number of threads may read it.
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

/* Adds `name` if it is new. `*added` says whether it was, and `*out` is its number in both cases.
 */
yk_status yk_name_index_add(struct yk_name_index *names, const char *name, bool *added,
                            int32_t *out) YK_MUST_USE;

/* The same for a string of bytes, which may contain zeros. */
yk_status yk_name_index_add_bytes(struct yk_name_index *names, const char *bytes, size_t length,
                                  bool *added, int32_t *out) YK_MUST_USE;

/* The number of a name, or -1 if it is unknown. */
int32_t yk_name_index_find(const struct yk_name_index *names, const char *name);
int32_t yk_name_index_find_bytes(const struct yk_name_index *names, const char *bytes,
                                 size_t length);

/* The known name that is most similar to the misspelled `word`, or NULL. */
const char *yk_name_index_nearest(const struct yk_name_index *names, const char *word);

/* The number of a name. Fails if it is unknown; the message is `unknown`, such as "the model has no
 * layer", followed by the name and the most similar known one. */
yk_status yk_name_index_require(const struct yk_name_index *names, const char *name,
                                const char *unknown, int32_t *out) YK_MUST_USE;

int32_t yk_name_index_count(const struct yk_name_index *names);
/* Name `number`, zero-terminated, and its length in bytes. Valid as long as the index. */
const char *yk_name_index_at(const struct yk_name_index *names, int32_t number);
size_t yk_name_index_length(const struct yk_name_index *names, int32_t number);

#endif
