#include "export/data_parallel.h"

#include "export/export_job.h"
#include "program/program_facts.h"

#include <inttypes.h>

const char *yk_data_parallel_member_device_name(const struct yk_export_job *job,
                                                const struct yk_plan_group_member *member)
{
    return job->cluster->devices[job->plan->ranks[member->rank].device].name;
}

void yk_data_parallel_add_idle_rank_notes(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_plan_group *group = job->group;
    for (int32_t i = 0; i < plan->rank_count; i++) {
        const int32_t member = yk_program_facts_group_member_index(plan, plan->layers[0].group, i);
        yk_export_job_add_note_if(job, member < 0, "%s holds no layer, and is left out.",
                                  job->cluster->devices[plan->ranks[i].device].name);
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        const struct yk_plan_group_member *member = &group->members[i];
        yk_export_job_add_note_if(
            job, member->share == 0,
            "Rank %" PRId32 " (%s) takes no samples. It must compute all the same "
            "to take part in communication: it repeats one sample, with weight 0.",
            i, yk_data_parallel_member_device_name(job, member));
    }
}

bool yk_data_parallel_layer_is_sharded(const struct yk_plan *plan, int32_t layer)
{
    return yk_plan_effective_strategy(plan, layer) != YK_SHARDING_REPLICATED;
}

bool yk_data_parallel_layer_is_recomputed(const struct yk_plan *plan, int32_t layer)
{
    return plan->layers[layer].recompute;
}

void yk_data_parallel_add_unequal_shards_note(const struct yk_export_job *job, const char *tool)
{
    const struct yk_plan_group *group = job->group;
    double smallest = 1;
    double largest = 0;
    bool sharded = false;
    for (int32_t i = 0; i < group->member_count; i++) {
        const double part = group->members[i].shard_fraction;
        smallest = part < smallest ? part : smallest;
        largest = part > largest ? part : largest;
    }
    for (int32_t i = 0; i < job->plan->layer_count; i++) {
        sharded = sharded || yk_data_parallel_layer_is_sharded(job->plan, i);
    }
    yk_export_job_add_note_if(
        job, sharded && largest - smallest > 1e-9,
        "Parts are unequal in the plan, from %.4g to %.4g of the sharded state; %s "
        "divides it evenly, so that ranks with small parts need more memory.",
        smallest, largest, tool);
}

void yk_data_parallel_add_lora_note(const struct yk_export_job *job)
{
    const struct yk_workload *workload = &job->plan->workload;
    yk_export_job_add_note_if(
        job, workload->lora_rank > 0,
        "Adapters of rank %" PRId64 " on all linears are planned%s: put them into "
        "the model first; names of modules are those without adapters.",
        workload->lora_rank, workload->nf4 ? ", with the frozen linears in NF4" : "");
}
