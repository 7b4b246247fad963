/*
 * Names: a set of distinct strings, each with the number of its arrival (0, 1, 2 …).
 *
 * Names are copied. One thread at a time while names are added; any number may look up afterwards.
 */
#ifndef YK_BASE_NAMES_H
#define YK_BASE_NAMES_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct yk_names;

yk_status yk_names_create(struct yk_names **out) YK_MUST_USE;
void yk_names_destroy(struct yk_names *names);

/* Adds `name` unless it is there already; `added` tells which. `out` is its number either way. */
yk_status yk_names_add(struct yk_names *names, const char *name, bool *added,
                       int32_t *out) YK_MUST_USE;

/* The number of `name`, or -1. */
int32_t yk_names_find(const struct yk_names *names, const char *name);

/* The name that `word` was probably meant to be, or NULL. */
const char *yk_names_nearest(const struct yk_names *names, const char *word);

int32_t yk_names_count(const struct yk_names *names);
const char *yk_names_at(const struct yk_names *names, int32_t number);

#endif
