/*
 * Accelerate auto: the placement of device_map="auto" in Hugging Face Accelerate 1.15, as a
 * baseline. It balances memory over the devices, then assigns modules in model order to one device
 * after another. It counts weights and buffers only.
 */
#ifndef YK_PLANNER_PLACEMENT_ACCELERATE_AUTO_H
#define YK_PLANNER_PLACEMENT_ACCELERATE_AUTO_H

#include "base/precision.h"
#include "model/module_tree.h"
#include "plan/device_map.h"

enum {
    YK_ACCELERATE_AUTO_NO_CPU = -1
};

struct yk_accelerate_auto_request {
    const struct yk_module_tree *modules;
    enum yk_precision precision; /* of the loaded weights */
    bool nf4;                    /* weights are 4-bit, except the head and tensors tied to it */
    const int64_t *memory_bytes; /* (device_count) */
    const int32_t *places;       /* (device_count) the devices' places in the map */
    int32_t device_count;        /* at least 1 */
    int64_t cpu_bytes;           /* host memory for offloading, or YK_ACCELERATE_AUTO_NO_CPU */
};

/* Creates the map, in `arena`. Modules that fit neither into the devices nor into the host are
 * placed on disk. Sibling modules with the same place are merged into one entry for their parent.
 */
yk_status yk_accelerate_auto_place(const struct yk_accelerate_auto_request *request,
                                   struct yk_arena *arena,
                                   const struct yk_device_map **out) YK_MUST_USE;

#endif
