/*
 * Export: a plan in the words of other tools, as an entry of one table.
 *
 * No tool says all that a plan says. An exporter writes what its tool can do and says in `notes`
 * what it cannot, a sentence a line; files that have comments carry the same lines. A plan that a
 * tool could only get wrong as a whole is refused.
 *
 * To add one: write src/export/NAME.c with its `const struct yk_exporter`, declare it here and add
 * it to the table in export.c.
 */
#ifndef YK_EXPORT_EXPORT_H
#define YK_EXPORT_EXPORT_H

#include "base/status.h"
#include "base/text.h"
#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

#include <stddef.h>

struct yk_exporter {
    const char *name;    /* "fsdp" */
    const char *summary; /* what comes out, for lists */
    const char *file;    /* what the file is usually called */
    /* `plan` has been checked against `model`, which is described for its workload. */
    yk_status (*write)(const struct yk_plan *plan, const struct yk_model *model,
                       const struct yk_cluster *cluster, struct yk_text *out,
                       struct yk_text *notes);
};

extern const struct yk_exporter yk_exporter_accelerate;
extern const struct yk_exporter yk_exporter_fsdp;
extern const struct yk_exporter yk_exporter_ddp;
extern const struct yk_exporter yk_exporter_deepspeed;
extern const struct yk_exporter yk_exporter_torchrun;
extern const struct yk_exporter yk_exporter_slurm;

extern const struct yk_exporter *const yk_exporters[];
extern const size_t yk_exporter_count;

/* The exporter of that name; one that is none fails, offering the nearest. */
yk_status yk_export_find(const char *name, const struct yk_exporter **out) YK_MUST_USE;

#endif
