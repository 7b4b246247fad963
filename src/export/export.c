#include "export/export.h"

#include "base/nearest.h"

#include <string.h>

enum {
    MOST_EXPORTERS = 32
};

const struct yk_exporter *const yk_exporters[] = {
    &yk_exporter_accelerate, &yk_exporter_fsdp,     &yk_exporter_ddp,
    &yk_exporter_deepspeed,  &yk_exporter_torchrun, &yk_exporter_slurm,
};
const size_t yk_exporter_count = sizeof yk_exporters / sizeof yk_exporters[0];

yk_status yk_export_find(const char *name, const struct yk_exporter **out)
{
    const char *names[MOST_EXPORTERS];
    struct yk_text all = {0};
    for (size_t i = 0; i < yk_exporter_count; i++) {
        names[i] = yk_exporters[i]->name;
        if (strcmp(names[i], name) == 0) {
            *out = yk_exporters[i];
            yk_text_free(&all);
            return YK_OK;
        }
        yk_text_addf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = yk_nearest(name, names, yk_exporter_count);
    const yk_status status =
        nearest ? yk_fail(YK_ERROR_INPUT,
                          "a plan cannot be exported to \"%s\"; did you mean "
                          "\"%s\"?",
                          name, nearest)
                : yk_fail(YK_ERROR_INPUT, "a plan cannot be exported to \"%s\"; it can be to %s",
                          name, yk_text_chars(&all));
    yk_text_free(&all);
    return status;
}
