/*
 * Export: a plan as a file of another tool, by an exporter of one table.
 *
 * No tool says all that a plan says. An exporter writes what its tool can do and says in `notes`
 * what it cannot, at least one sentence, each a line; files that have comments carry the same
 * lines. A plan that a tool could only get wrong as a whole is refused.
 *
 * To add one: write src/export/NAME.c with `const struct yk_exporter yk_exporter_NAME`, and add
 * X(NAME) to YK_EXPORTERS below. ddp.c is a short one to begin with. Help, completion, the library
 * and the tests over random plans follow the table; run those with
 * `tools/build release && ctest --test-dir build/release -R '^export/'`.
 *
 * The room:
 *   export                                 the table
 *   accelerate, fsdp, ddp, deepspeed       what the ranks do
 *   torchrun, slurm                        how the ranks are started
 *   data_parallel, python, launch, text    what several of them share
 *
 * Everything here is for any thread.
 */
#ifndef YK_EXPORT_EXPORT_H
#define YK_EXPORT_EXPORT_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/module_map.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_exporter {
    const char *name;     /* "fsdp" */
    const char *summary;  /* what comes out, for lists */
    const char *file;     /* what the file is usually called */
    bool supports_groups; /* also plans whose layers are placed on several groups of ranks */
    /* `plan` has been checked against `model`, which is described for its workload. */
    yk_status (*write)(const struct yk_plan *plan, const struct yk_model *model,
                       const struct yk_cluster *cluster, struct yk_text *out,
                       struct yk_text *notes);
};

/* clang-format off */
#define YK_EXPORTERS(X)                                                                            \
    X(accelerate)                                                                                  \
    X(fsdp)                                                                                        \
    X(ddp)                                                                                         \
    X(deepspeed)                                                                                   \
    X(torchrun)                                                                                    \
    X(slurm)
/* clang-format on */

#define YK_EXPORTER(name) extern const struct yk_exporter yk_exporter_##name;
YK_EXPORTERS(YK_EXPORTER)
#undef YK_EXPORTER

extern const struct yk_exporter *const yk_exporters[];
extern const size_t yk_exporter_count;

/* The exporter of that name; one that is none fails, offering the nearest. */
yk_status yk_export_find(const char *name, const struct yk_exporter **out) YK_MUST_USE;

/* Adds a module map to `out` as a device_map.json, which `from_pretrained(device_map=…)` accepts
 * once it is loaded (json.load): one flat object, module name → device number, "cpu" or "disk". */
yk_status yk_export_accelerate(const struct yk_module_map *map, struct yk_text *out) YK_MUST_USE;

#endif
