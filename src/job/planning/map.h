/*
 * Map: a device_map.json that a request names.
 */
#ifndef YK_JOB_PLANNING_MAP_H
#define YK_JOB_PLANNING_MAP_H

#include "model/config.h"
#include "plan/module_map.h"

/* Reads and checks the map of a model on so many devices. */
yk_status yk_planning_open_map(const char *path, const struct yk_model_config *config,
                               int32_t device_count, struct yk_arena *arena,
                               const struct yk_module_map **out) YK_MUST_USE;

#endif
