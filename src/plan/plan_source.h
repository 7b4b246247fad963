/*
 * Plan source: the files that a plan names. A plan file names them relative to its own folder, so
 * that it can be read from anywhere and moved together with them. Files of older versions name
 * them relative to the folder that yoke was started in; those are still found there.
 */
#ifndef YK_PLAN_PLAN_SOURCE_H
#define YK_PLAN_PLAN_SOURCE_H

#include "base/arena.h"
#include "base/status.h"

/* `source`, a path from here, as the plan file at `plan` says it. The file may be one that is yet
 * to be written. An absolute path stays as it is, unless it leads to the plan's own folder. In the
 * arena. */
yk_status yk_plan_source_store(const char *source, const char *plan, struct yk_arena *arena,
                               const char **out) YK_MUST_USE;

/* `source`, as the plan file at `plan` says it, as a path from here: relative to the plan's folder
 * if there is such a file, else as it is. In the arena. */
yk_status yk_plan_source_find(const char *source, const char *plan, struct yk_arena *arena,
                              const char **out) YK_MUST_USE;

#endif
