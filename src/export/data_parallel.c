#include "export/data_parallel.h"

#include "export/text.h"

#include <inttypes.h>

bool yk_data_parallel_has_one_group(const struct yk_plan *plan)
{
    bool one = true;
    for (int32_t i = 1; i < plan->layer_count; i++) {
        one = one && plan->layers[i].group == plan->layers[0].group;
    }
    return one;
}

yk_status yk_data_parallel_find_group(const struct yk_plan *plan, const char *tool,
                                      const struct yk_plan_group **out)
{
    if (!yk_data_parallel_has_one_group(plan)) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s trains every layer on all ranks, but this plan has layers in several "
                       "groups; a placement can be exported to accelerate",
                       tool);
    }
    *out = &plan->groups[plan->layers[0].group];
    return YK_OK;
}

const char *yk_data_parallel_device_name(const struct yk_plan *plan,
                                         const struct yk_cluster *cluster,
                                         const struct yk_plan_group_member *member)
{
    return cluster->devices[plan->ranks[member->rank].device].name;
}

static bool is_member(const struct yk_plan_group *group, int32_t rank)
{
    bool found = false;
    for (int32_t i = 0; i < group->member_count; i++) {
        found = found || group->members[i].rank == rank;
    }
    return found;
}

void yk_data_parallel_note_ranks(const struct yk_plan *plan, const struct yk_cluster *cluster,
                                 const struct yk_plan_group *group, struct yk_text *notes)
{
    for (int32_t i = 0; i < plan->rank_count; i++) {
        if (!is_member(group, i)) {
            yk_export_text_add_note(notes, "%s holds no layer, and is left out.",
                                    cluster->devices[plan->ranks[i].device].name);
        }
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_group_member *member = &group->members[i];
        if (member->share == 0) {
            yk_export_text_add_note(
                notes,
                "Rank %" PRId32 " (%s) takes no samples. It must compute all the same "
                "to take part in communication: it repeats one sample, with weight 0.",
                i, yk_data_parallel_device_name(plan, cluster, member));
        }
    }
}

bool yk_data_parallel_is_sharded(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_effective_strategy(plan, layer) != YK_SHARDING_REPLICATED;
}

bool yk_data_parallel_is_replicated(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_effective_strategy(plan, layer) == YK_SHARDING_REPLICATED;
}

bool yk_data_parallel_is_recomputed(const struct yk_plan *plan, int32_t layer)
{
    return plan->layers[layer].recompute;
}

void yk_data_parallel_note_parts(const struct yk_plan *plan, const struct yk_plan_group *group,
                                 const char *tool, struct yk_text *notes)
{
    double smallest = 1;
    double largest = 0;
    bool sharded = false;
    for (int32_t i = 0; i < group->member_count; i++) {
        smallest = group->members[i].shard_fraction < smallest ? group->members[i].shard_fraction
                                                               : smallest;
        largest =
            group->members[i].shard_fraction > largest ? group->members[i].shard_fraction : largest;
    }
    for (int32_t i = 0; i < plan->layer_count; i++) {
        sharded = sharded || yk_data_parallel_is_sharded(plan, i);
    }
    if (sharded && largest - smallest > 1e-9) {
        yk_export_text_add_note(
            notes,
            "Parts are unequal in the plan, from %.4g to %.4g of the sharded state; %s "
            "divides it evenly, so that ranks with small parts need more memory.",
            smallest, largest, tool);
    }
}

void yk_data_parallel_note_adapters(const struct yk_plan *plan, struct yk_text *notes)
{
    if (plan->workload.lora_rank > 0) {
        yk_export_text_add_note(
            notes,
            "Adapters of rank %" PRId64 " on all linears are planned%s: put them into "
            "the model first; names of modules are those without adapters.",
            plan->workload.lora_rank, plan->workload.nf4 ? ", with the frozen linears in NF4" : "");
    }
}

bool yk_data_parallel_has_unequal_shares(const struct yk_plan_group *group)
{
    bool unequal = false;
    for (int32_t i = 1; i < group->member_count; i++) {
        unequal = unequal || group->members[i].share != group->members[0].share;
    }
    return unequal;
}
