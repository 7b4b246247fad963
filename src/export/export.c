#include "export/export.h"

#include "base/nearest_name.h"

#include <string.h>

#define ROW(name) &yk_exporter_##name,

const struct yk_exporter *const yk_exporters[] = {YK_EXPORTERS(ROW)};

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
