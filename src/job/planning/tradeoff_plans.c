#include "job/planning/tradeoff_plans.h"

#include "base/file.h"
#include "base/folder.h"

#include <stdio.h>

static yk_status write_plan(const struct yk_planning *planning, const struct yk_plan *plan,
                            const char *folder, const char *name)
{
    struct yk_plan_context context = yk_planning_context(planning);
    struct yk_text path = {0};
    struct yk_text text = {0};
    yk_text_addf(&path, "%s/%s.json", folder, name);
    yk_status status = yk_text_status(&path);
    if (status == YK_OK) {
        context.path = yk_text_chars(&path);
        status = yk_plan_file_write(plan, &context, &text);
    }
    if (status == YK_OK) {
        status = yk_file_write_own(yk_text_chars(&path), &text);
    }
    yk_text_free(&path);
    yk_text_free(&text);
    return status;
}

void yk_tradeoff_percent(const struct yk_tradeoff *tradeoff, double part, int digits,
                         char out[YK_TRADEOFF_PERCENT_SIZE])
{
    const bool whole = tradeoff->points < 2 || 100 % (tradeoff->points - 1) == 0;
    snprintf(out, YK_TRADEOFF_PERCENT_SIZE, "%0*.*f", digits + (whole ? 0 : 2), whole ? 0 : 1,
             100 * part);
}

yk_status yk_tradeoff_plans_write(const struct yk_planning *planning,
                                  const struct yk_tradeoff *tradeoff, const char *folder)
{
    YK_TRY(yk_folder_make(folder));
    for (int32_t i = 0; i < tradeoff->split_points; i++) {
        char percent[YK_TRADEOFF_PERCENT_SIZE];
        char name[sizeof "split-" + YK_TRADEOFF_PERCENT_SIZE];
        yk_tradeoff_percent(tradeoff, tradeoff->part[i], 3, percent);
        snprintf(name, sizeof name, "split-%s", percent);
        if (tradeoff->split[i]) {
            YK_TRY(write_plan(planning, tradeoff->split[i], folder, name));
        }
    }
    return tradeoff->joint ? write_plan(planning, tradeoff->joint, folder, "joint") : YK_OK;
}
