/*
 * Export: writes a plan as a file of another tool. Every tool has an exporter, a row of one table.
 *
 * A tool cannot express everything in a plan. An exporter writes what the tool can do, and adds the
 * rest to `notes`: one sentence per line, at least one. A file format with comments repeats these
 * lines. A plan that the tool would run wrongly as a whole is an error.
 *
 * To add an exporter:
 *   1. Write src/export/NAME.c with `const struct yk_exporter yk_exporter_NAME`. ddp.c is the
 *      simplest one; Python code of its output is in python/ddp.py, which the build embeds.
 *   2. Add ROW(NAME) to YK_EXPORTERS below. Help, shell completion, the library, and the tests over
 *      random plans follow the table.
 *   3. Add a command to tests/cli/cases/plan-export.case and record its output, with
 *      `tests/cli/run-case --record build/release/yoke tests/cli/cases/plan-export.case`. Record
 *      the cases that list all exporters (help, completion) again, too.
 * To test it: `tools/build release && ctest --test-dir build/release -R '^export/'`.
 *
 * Files of this folder:
 *   export                              the table
 *   accelerate, fsdp, ddp, deepspeed    exporters of files that configure the ranks
 *   torchrun, slurm                     exporters of scripts that start the ranks
 *   data_parallel, python, python/, process_map, text    parts that several exporters share
 *
 * All functions are thread-safe.
 */
#ifndef YK_EXPORT_EXPORT_H
#define YK_EXPORT_EXPORT_H

#include "base/status.h"
#include "export/text.h"
#include "plan/device_map.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_exporter {
    const char *name;     /* "fsdp" */
    const char *summary;  /* what it writes, for lists of exporters */
    const char *file;     /* default file name */
    bool supports_groups; /* accepts plans whose layers are on different groups of ranks */
    yk_status (*write)(const struct yk_export_job *job);
};

#define YK_EXPORTERS(ROW)                                                                          \
    ROW(accelerate)                                                                                \
    ROW(fsdp)                                                                                      \
    ROW(ddp)                                                                                       \
    ROW(deepspeed)                                                                                 \
    ROW(torchrun)                                                                                  \
    ROW(slurm)

#define YK_EXPORTER(name) extern const struct yk_exporter yk_exporter_##name;
YK_EXPORTERS(YK_EXPORTER)
#undef YK_EXPORTER

extern const struct yk_exporter *const yk_exporters[];
extern const size_t yk_exporter_count;

/* Finds an exporter by its name. The error for an unknown name suggests the most similar one. */
yk_status yk_export_find_exporter(const char *name, const struct yk_exporter **out) YK_MUST_USE;

/* Writes the file to `out`. `plan` has passed yk_plan_check(); `model` is made for the workload of
 * the plan. */
yk_status yk_export_write(const struct yk_exporter *exporter, const struct yk_plan *plan,
                          const struct yk_model *model, const struct yk_cluster *cluster,
                          struct yk_text *out, struct yk_text *notes) YK_MUST_USE;

/* Writes a module map as a device_map.json, one flat JSON object: module name → device number,
 * "cpu" or "disk". `from_pretrained(device_map=json.load(file))` accepts it. */
yk_status yk_export_accelerate_device_map(const struct yk_device_map *map,
                                          struct yk_text *out) YK_MUST_USE;

#endif
