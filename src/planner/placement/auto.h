/*
 * Auto: the placement of Hugging Face's device_map="auto", as Accelerate 1.15 makes it: memory is
 * balanced over the devices, then modules are placed in their order, on one device after the other,
 * never going back. It counts weights and buffers only. What yoke finds is compared with it.
 */
#ifndef YK_PLANNER_PLACEMENT_AUTO_H
#define YK_PLANNER_PLACEMENT_AUTO_H

#include "base/precision.h"
#include "model/modules.h"
#include "plan/module_map.h"

enum {
    YK_AUTO_NO_CPU = -1
};

struct yk_auto_request {
    const struct yk_modules *modules;
    enum yk_precision precision; /* what the model is loaded in */
    bool nf4;                    /* all but the head and what is tied to it is taken for 4 bit */
    const int64_t *memory_bytes; /* of each device, 0 or more */
    int32_t device_count;        /* 1 or more */
    int64_t cpu_bytes;           /* the host's, where what fits nowhere goes; or YK_AUTO_NO_CPU */
};

/*
 * The map, in `arena`. What fits neither the devices nor the host goes to disk, so there always is
 * one; modules on one place are gathered under the name of what holds them all.
 */
yk_status yk_auto_place(const struct yk_auto_request *request, struct yk_arena *arena,
                        const struct yk_module_map **out) YK_MUST_USE;

#endif
