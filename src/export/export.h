/*
 * Export: writes a plan as a file for another tool. Every tool has an exporter, which is a row of
 * one table.
 *
 * A tool cannot express everything that a plan contains. An exporter writes what the tool can do,
 * and describes in `notes` what the tool cannot do: one sentence per line, and at least one
 * sentence. If the file format has comments, the file repeats these sentences as comments.
 *
 * If the layers of a plan are in several groups of ranks, yk_export_write_plan() refuses the plan
 * for every exporter whose member `supports_groups` is false. The exporter itself need not check
 * this.
 *
 * To add an exporter:
 *   1. Write src/export/NAME.c with `const struct yk_exporter yk_exporter_NAME`. torchrun.c is an
 *      example that writes plain text, and accelerate.c one that writes JSON. ddp.c is an example
 *      that writes Python: most of its output is python/shared.py and python/ddp.py, which the
 *      build embeds.
 *   2. Add ROW(NAME) to YK_FOR_EACH_EXPORTER below. Help, shell completion, the library, and the
 *      tests with random plans use this table.
 *   3. Add a command to tests/cli/cases/plan-export.case and record its output, with
 *      `tests/cli/run-case --record build/release/yoke tests/cli/cases/plan-export.case`. Also
 *      record the cases again that list all exporters (help-plan, completion-*, plan-bad-options).
 *   4. Add the exporter to the texts that list all of them: the table in the section "Exports" of
 *      docs/plans.md and the list below it, the examples of commands in README.md and README.ko.md,
 *      and docs/coverage.md.
 * To test it: `tools/build release && ctest --test-dir build/release -R '^export/'`.
 *
 * Files of this folder:
 *   export                              the table of exporters
 *   accelerate, fsdp, ddp, deepspeed    exporters of files that configure the ranks
 *   torchrun, slurm                     exporters of scripts that start the ranks
 *   data_parallel, python, python/, process_map, export_job    parts that several exporters share
 *
 * All functions are thread-safe.
 */
#ifndef YK_EXPORT_EXPORT_H
#define YK_EXPORT_EXPORT_H

#include "base/status.h"
#include "export/export_job.h"
#include "plan/device_map.h"

#include <stdbool.h>
#include <stddef.h>

struct yk_exporter {
    const char *name;     /* such as "fsdp" */
    const char *summary;  /* what the exporter writes, for lists of exporters */
    const char *file;     /* default name of the exported file */
    bool supports_groups; /* accepts plans whose layers are in several groups of ranks */
    yk_status (*write)(const struct yk_export_job *job);
};

#define YK_FOR_EACH_EXPORTER(ROW)                                                                  \
    ROW(accelerate)                                                                                \
    ROW(fsdp)                                                                                      \
    ROW(ddp)                                                                                       \
    ROW(deepspeed)                                                                                 \
    ROW(torchrun)                                                                                  \
    ROW(slurm)

#define YK_EXPORTER_DECLARE(name) extern const struct yk_exporter yk_exporter_##name;
YK_FOR_EACH_EXPORTER(YK_EXPORTER_DECLARE)
#undef YK_EXPORTER_DECLARE

extern const struct yk_exporter *const yk_exporters[];
extern const size_t yk_exporter_count;

/* Finds an exporter by its name. Fails if the name is unknown; the message then suggests a similar
 * name or, if there is none, lists all names. */
yk_status yk_export_find_exporter(const char *name, const struct yk_exporter **out) YK_MUST_USE;

/* Writes the exported file to `out` and the notes to `notes`. `plan` must have passed
 * yk_plan_check(), and `model` must be made for the workload of the plan. */
yk_status yk_export_write_plan(const struct yk_exporter *exporter, const struct yk_plan *plan,
                               const struct yk_model *model, const struct yk_cluster *cluster,
                               struct yk_text *out, struct yk_text *notes) YK_MUST_USE;

/* Writes a device map as the contents of a device_map.json: one flat JSON object that maps each
 * module name to a device number, "cpu" or "disk". In Python,
 * `from_pretrained(device_map=json.load(file))` accepts this file. */
yk_status yk_export_accelerate_device_map(const struct yk_device_map *map,
                                          struct yk_text *out) YK_MUST_USE;

#endif
