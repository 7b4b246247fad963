/*
 * Accelerate: a module map as a device_map.json, which `from_pretrained(device_map=…)` accepts
 * once it is loaded (json.load): one flat object, module name → device number, "cpu" or "disk".
 */
#ifndef YK_EXPORT_ACCELERATE_H
#define YK_EXPORT_ACCELERATE_H

#include "base/status.h"
#include "base/text.h"
#include "plan/module_map.h"

/* Adds the file to `out`, one entry a line. */
yk_status yk_export_accelerate(const struct yk_module_map *map, struct yk_text *out) YK_MUST_USE;

#endif
