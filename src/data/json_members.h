/*
 * JSON members: the names of an object's members in the order of the file, for objects whose names
 * are data (tensors, keys of metadata). Any thread.
 */
#ifndef YK_DATA_JSON_MEMBERS_H
#define YK_DATA_JSON_MEMBERS_H

#include "base/arena.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The names of the document's own members, or with `member` those of the object that its member of
 * that name is. `bytes` must be an object that yk_json_parse() has accepted. The names live in the
 * arena.
 */
yk_status yk_json_members_list(const char *bytes, size_t length, const char *member,
                               struct yk_arena *arena, int32_t *count,
                               const char *const **out) YK_MUST_USE;

#endif
