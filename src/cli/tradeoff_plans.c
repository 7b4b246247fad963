#include "cli/tradeoff_plans.h"

#include "base/file.h"
#include "cli/folder.h"

#include <math.h>
#include <stdio.h>

static yk_status write_plan(const struct yk_planning *planning, const struct yk_plan *plan,
                            const char *folder, const char *name)
    struct yk_plan_context context = yk_planning_context(planning);
{
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_text_addf(&path, "%s/%s.json", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        context.path = yk_text_chars(&path);
        status = yk_plan_file_write(plan, &context, &text);
    }
    if (status == YK_OK) {
        status = yk_file_write(yk_text_chars(&path), &text);
    }
    yk_text_free(&path);
    yk_text_free(&text);
    return status;
}

yk_status yk_tradeoff_plans_write(const struct yk_planning *planning,
                                  const struct yk_tradeoff *tradeoff, const char *folder)
{
    YK_TRY(yk_folder_make(folder));
    for (int32_t i = 0; i < tradeoff->points; i++) {
        char name[sizeof "split-2147483647"];
        snprintf(name, sizeof name, "split-%03d", (int)lround(100 * tradeoff->part[i]));
        if (tradeoff->split[i]) {
            YK_TRY(write_plan(planning, tradeoff->split[i], folder, name));
        }
    }
    return tradeoff->joint ? write_plan(planning, tradeoff->joint, folder, "joint") : YK_OK;
}
