#include "planner/planner.h"

#include "base/number.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* Smaller fractions of the step are not a bottleneck. */
static const double little = 0.1;
/* The named layers cause this fraction of the exposed time. */
static const double most_of_it = 0.8;

/* The number at the end of a name such as "layer 20", or −1; `*stem` is the length before it. */
static int32_t number_of(const char *name, size_t *stem)
{
    const char *space = strrchr(name, ' ');
    int64_t number = 0;
    if (!space || !yk_number_parse_integer(space + 1, strlen(space + 1), &number)) {
        return -1;
    }
    *stem = (size_t)(space - name);
    return number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

void yk_explain_append_layer_names(const struct yk_model *model, int32_t first, int32_t last,
                                   struct yk_text *out)
{
    const char *one = model->layers[first].name;
    const char *other = model->layers[last].name;
    size_t stem = 0;
    size_t other_stem = 0;
    const int32_t from = number_of(one, &stem);
    const int32_t to = number_of(other, &other_stem);
    if (first == last) {
        yk_text_add(out, one);
    } else if (from >= 0 && to >= 0 && stem == other_stem && strncmp(one, other, stem) == 0) {
        yk_text_add_bytes(out, one, stem);
        yk_text_addf(out, "s %d–%d", from, to);
    } else {
        yk_text_addf(out, "%s to %s", one, other);
    }
}

struct exposure {
    double by_kind[YK_OP_KIND_COUNT];
    enum yk_op_kind worst;
    int32_t first; /* layer */
    int32_t last;
};

/* The shortest range of layers that causes most of the exposed time of one kind of op. */
static void find_layers(const struct yk_plan_evaluation *evaluation, int32_t rank,
                        struct exposure *exposure)
{
    const struct yk_op_list *list = &evaluation->program->ranks[rank];
    const int32_t L = evaluation->plan->layer_count;
    const double wanted = most_of_it * exposure->by_kind[exposure->worst];
    double *by_layer = calloc((size_t)L, sizeof *by_layer);
    int32_t shortest = L;
    exposure->first = 0;
    exposure->last = L - 1;
    if (!by_layer) {
        return; /* all layers are named then */
    }
    for (int32_t i = 0; i < list->op_count; i++) {
        if (list->ops[i].kind == exposure->worst && list->ops[i].layer >= 0) {
            by_layer[list->ops[i].layer] += evaluation->sim->ranks[rank].exposed_of_op_s[i];
        }
    }
    for (int32_t first = 0; first < L; first++) {
        double sum = 0;
        for (int32_t last = first; last < L && last - first < shortest; last++) {
            sum += by_layer[last];
            if (sum >= wanted) {
                shortest = last - first;
                exposure->first = first;
                exposure->last = last;
            }
        }
    }
    free(by_layer);
}

static struct exposure expose(const struct yk_plan_evaluation *evaluation, int32_t rank)
{
    const struct yk_op_list *list = &evaluation->program->ranks[rank];
    struct exposure exposure = {.worst = YK_OP_ALL_GATHER};
    for (int32_t i = 0; i < list->op_count; i++) {
        exposure.by_kind[list->ops[i].kind] += evaluation->sim->ranks[rank].exposed_of_op_s[i];
    }
    for (int32_t kind = 0; kind < YK_OP_KIND_COUNT; kind++) {
        if (exposure.by_kind[kind] > exposure.by_kind[exposure.worst]) {
            exposure.worst = (enum yk_op_kind)kind;
        }
    }
    find_layers(evaluation, rank, &exposure);
    return exposure;
}

static const char *plural_of(enum yk_op_kind kind)
{
    static const char *const names[YK_OP_KIND_COUNT] = {
        [YK_OP_ALL_GATHER] = "gathers",    [YK_OP_REDUCE_SCATTER] = "scatters",
        [YK_OP_ALL_REDUCE] = "reductions", [YK_OP_SEND] = "sends",
        [YK_OP_RECV] = "receives",
    };
    return names[kind] ? names[kind] : "agreement";
}

static const char *device_of(const struct yk_search_context *context, const struct yk_plan *plan,
                             int32_t rank)
{
    return context->cluster->devices[plan->ranks[rank].device].name;
}

static void explain_exposed(const struct yk_search_context *context,
                            const struct yk_plan_evaluation *evaluation, int32_t rank,
                            struct yk_text *out)
{
    const struct exposure exposure = expose(evaluation, rank);
    const double percent = 100 * exposure.by_kind[exposure.worst] / evaluation->step_s;
    yk_text_addf(out, "the link of rank %d (%s): %.0f %% of the step is exposed %s of ", rank,
                 device_of(context, evaluation->plan, rank), percent, plural_of(exposure.worst));
    yk_explain_append_layer_names(context->model, exposure.first, exposure.last, out);
}

void yk_explain_append_bottleneck(const struct yk_search_context *context,
                                  const struct yk_plan_evaluation *evaluation, struct yk_text *out)
{
    const struct yk_sim_result *sim = evaluation->sim;
    int32_t exposed = 0;
    int32_t busiest = 0;
    for (int32_t r = 1; r < evaluation->plan->rank_count; r++) {
        exposed = sim->ranks[r].exposed_s > sim->ranks[exposed].exposed_s ? r : exposed;
        busiest = sim->ranks[r].compute_s > sim->ranks[busiest].compute_s ? r : busiest;
    }
    const double exposed_part = sim->ranks[exposed].exposed_s / sim->step_s;
    const double idle_part = sim->ranks[busiest].idle_s / sim->step_s;
    const double compute_part = sim->ranks[busiest].compute_s / sim->step_s;
    const char *name = device_of(context, evaluation->plan, busiest);
    if (exposed_part > little && exposed_part >= idle_part) {
        explain_exposed(context, evaluation, exposed, out);
    } else if (idle_part > little) {
        yk_text_addf(out,
                     "waiting: even rank %d (%s), the busiest, waits for other ranks %.0f %% of "
                     "the step%s",
                     busiest, name, 100 * idle_part,
                     evaluation->plan->group_count > 1 ? ", while the pipeline fills and drains"
                                                       : "");
    } else {
        yk_text_addf(out, "computation: rank %d (%s) computes %.0f %% of the step", busiest, name,
                     100 * compute_part);
    }
}

static void add_shares(const struct yk_plan_group *group, struct yk_text *out)
{
    enum {
        MAX_SHARES = 8
    };
    for (int32_t i = 0; i < group->member_count && i < MAX_SHARES; i++) {
        yk_text_addf(out, "%s%lld", i > 0 ? "/" : "", (long long)group->members[i].share);
    }
    yk_text_add(out, group->member_count > MAX_SHARES ? "/…" : "");
}

static void add_strategies(const struct yk_plan *plan, struct yk_text *out)
{
    bool first = true;
    for (int32_t s = 0; s < YK_SHARDING_STRATEGY_COUNT; s++) {
        int32_t count = 0;
        for (int32_t l = 0; l < plan->layer_count; l++) {
            count += (int32_t)yk_plan_effective_strategy(plan, l) == s ? 1 : 0;
        }
        if (count > 0) {
            yk_text_addf(out, "%s%d layer%s %s", first ? "; " : ", ", count,
                         yk_text_plural_suffix(count),
                         yk_plan_strategy_name((enum yk_sharding_strategy)s));
            first = false;
        }
    }
}

/* "3/1/1 samples of embed to layer 20 in 2 turns, the rest on gpu0". */
static void explain_alternating(const struct yk_search_context *context, const struct yk_plan *plan,
                                struct yk_text *out)
{
    const char *between = "";
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t l = 0; l < plan->layer_count; l++) {
            if (plan->layers[l].group != g || (l > 0 && plan->layers[l - 1].group == g)) {
                continue;
            }
            int32_t last = l;
            while (last + 1 < plan->layer_count && plan->layers[last + 1].group == g) {
                last++;
            }
            yk_text_add(out, between);
            yk_explain_append_layer_names(context->model, l, last, out);
            if (group->member_count == 1) {
                yk_text_addf(out, " on %s", device_of(context, plan, group->members[0].rank));
            } else {
                yk_text_addf(out, " on %d devices by turns, shares ", group->member_count);
                add_shares(group, out);
            }
            between = ", ";
        }
    }
}

void yk_explain_append_plan_summary(const struct yk_search_context *context,
                                    const struct yk_plan *plan, struct yk_text *out)
{
    int32_t several = 0;
    int32_t again = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        several += plan->groups[g].member_count > 1 ? 1 : 0;
    }
    for (int32_t l = 0; l < plan->layer_count; l++) {
        again += plan->layers[l].recompute ? 1 : 0;
    }
    if (plan->rank_count == 1) {
        yk_text_addf(out, "all on %s", device_of(context, plan, 0));
    } else if (plan->group_count == 1) {
        yk_text_addf(out, "data-parallel on %d devices, shares ", plan->rank_count);
        add_shares(&plan->groups[0], out);
    } else if (yk_plan_has_alternating_members(plan)) {
        explain_alternating(context, plan, out);
    } else {
        yk_text_addf(out, "a pipeline of %d %s on %d devices", plan->group_count,
                     several > 0 ? "groups" : "stages", plan->rank_count);
    }
    if (plan->micro_batches > 1) {
        yk_text_addf(out, ", %d micro-batches", plan->micro_batches);
    }
    if (plan->rank_count > 1 && (plan->group_count == 1 || several > 0)) {
        add_strategies(plan, out);
    }
    if (again > 0) {
        yk_text_addf(out, "; %d of %d layers recomputed", again, plan->layer_count);
    }
    if (plan->rank_count < context->cluster->device_count) {
        yk_text_addf(out, "; %d of %d devices used", plan->rank_count,
                     context->cluster->device_count);
    }
}

void yk_explain_append_driver_memory(const struct yk_search_context *context,
                                     const struct yk_plan *plan, struct yk_text *out)
{
    int32_t measured = 0;
    double assumed_bytes[2] = {0, 0}; /* of GPUs, of CPUs */
    for (int32_t r = 0; r < plan->rank_count; r++) {
        const int32_t device = plan->ranks[r].device;
        if (yk_device_measurements_of_device(context->measurements, device).context_bytes > 0) {
            measured++;
        } else {
            assumed_bytes[context->cluster->devices[device].is_cpu ? 1 : 0] =
                yk_device_measurements_context_bytes(context->measurements, context->cluster,
                                                     device);
        }
    }
    if (measured > 0) {
        yk_text_add(out, "measured");
    }
    if (measured > 0 && measured < plan->rank_count) {
        yk_text_addf(out, " for %d of %d ranks; for others ", measured, plan->rank_count);
    }
    for (int32_t i = 0, named = 0; i < 2; i++) {
        if (assumed_bytes[i] > 0) {
            yk_text_addf(out, "%s%s a process on a %s", named++ > 0 ? ", " : "",
                         YK_UNITS_FORMAT_TEMPORARY(assumed_bytes[i], YK_UNIT_BYTES),
                         i == 1 ? "CPU" : "GPU");
        }
    }
    if (measured < plan->rank_count) {
        yk_text_add(out, ", assumed");
    }
}
