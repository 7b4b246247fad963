#include "export/export.h"

#include "base/nearest_name.h"

#include <string.h>

#define ROW(name) &yk_exporter_##name,

const struct yk_exporter *const yk_exporters[] = {YK_FOR_EACH_EXPORTER(ROW)};

enum {
    COUNT = sizeof yk_exporters / sizeof yk_exporters[0]
};

const size_t yk_exporter_count = COUNT;

yk_status yk_export_find_exporter(const char *name, const struct yk_exporter **out)
{
    const char *names[COUNT];
    struct yk_text all = {0};
    for (size_t i = 0; i < COUNT; i++) {
        names[i] = yk_exporters[i]->name;
        if (strcmp(names[i], name) == 0) {
            *out = yk_exporters[i];
            yk_text_free(&all);
            return YK_OK;
        }
        yk_text_addf(&all, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *nearest = yk_nearest_name(name, names, COUNT);
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

/* The group of all layers; NULL if they are in several. */
static const struct yk_plan_group *find_group(const struct yk_plan *plan)
{
    for (int32_t i = 1; i < plan->layer_count; i++) {
        if (plan->layers[i].group != plan->layers[0].group) {
            return NULL;
        }
    }
    return &plan->groups[plan->layers[0].group];
}

yk_status yk_export_write_plan(const struct yk_exporter *exporter, const struct yk_plan *plan,
                               const struct yk_model *model, const struct yk_cluster *cluster,
                               struct yk_text *out, struct yk_text *notes)
{
    struct yk_export_job job = {
        .plan = plan,
        .model = model,
        .cluster = cluster,
        .group = find_group(plan),
        .out = out,
        .notes = notes,
    };
    if (!job.group && !exporter->supports_groups) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s trains every layer on all ranks, but this plan has layers in several "
                       "groups; a placement can be exported to accelerate",
                       exporter->name);
    }
    YK_TRY(yk_arena_create(&job.arena));
    yk_status status = exporter->write(&job);
    yk_arena_destroy(job.arena);
    YK_IF_OK(yk_text_status(notes));
    YK_IF_OK(yk_text_status(out));
    return status;
}
