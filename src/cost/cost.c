#include "cost/cost.h"

#include "cost/measured.h"
#include "cost/profile_key.h"
#include "cost/profiled.h"
#include "cost/roofline.h"
#include "model/state.h"

#include <math.h>

yk_status yk_cost_layer(const struct yk_cost_book *book, int32_t device,
                        const struct yk_model *model, const struct yk_layer *layer,
                        enum yk_cost_pass pass, struct yk_cost_time *out)
{
    const struct yk_device *on = &book->cluster->devices[device];
    const struct yk_work_list *works = yk_roofline_layer_work(layer, pass);
    struct yk_cost_time time = {0};
    bool found = false;
    YK_TRY(yk_cost_find_profiled(book, device, model, layer, pass, &time, &found));
    if (!found && !yk_cost_find_measured(on, model, layer, pass, &time)) {
        time = (struct yk_cost_time){0, YK_COST_DATASHEET, YK_EFFICIENCY_P90_ERROR_PERCENT / 100.0};
        for (int32_t i = 0; i < works->count; i++) {
            time.seconds += yk_roofline_time(on, book->efficiencies, &works->items[i]);
        }
    }
    *out = time;
    return YK_OK;
}

double yk_cost_state_bytes(const struct yk_model *model, const struct yk_layer *layer)
{
    const struct yk_model_layer_state state = yk_model_layer_state(model, layer);
    return state.weight_bytes + state.gradient_bytes + state.optimizer_bytes;
}

const char *yk_cost_origin_name(enum yk_cost_origin origin)
{
    static const char *const names[YK_COST_ORIGINS] = {
        [YK_COST_MEASURED] = "measured",
        [YK_COST_INTERPOLATED] = "interpolated",
        [YK_COST_TABLE] = "table",
        [YK_COST_DATASHEET] = "datasheet",
    };
    return names[origin];
}

void yk_cost_describe_origin(enum yk_cost_origin origin, struct yk_text *out)
{
    switch (origin) {
    case YK_COST_MEASURED:
        yk_text_add(out, "measured on this machine");
        break;
    case YK_COST_INTERPOLATED:
        yk_text_add(out, "interpolated from what was measured on this machine");
        break;
    case YK_COST_TABLE:
        yk_text_add(out, "measured, says the cluster file");
        break;
    case YK_COST_DATASHEET:
    case YK_COST_ORIGINS:
    default:
        yk_text_addf(
            out, "datasheet with fitted efficiency, half within %d %%, nine tenths within %d %%",
            YK_EFFICIENCY_MEDIAN_ERROR_PERCENT, YK_EFFICIENCY_P90_ERROR_PERCENT);
        break;
    }
}
