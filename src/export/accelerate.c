#include "base/arena.h"
#include "base/json_write.h"
#include "export/data_parallel.h"
#include "export/export.h"
#include "export/export_job.h"

#include <inttypes.h>

yk_status yk_export_accelerate_device_map(const struct yk_device_map *map, struct yk_text *out)
{
    struct yk_json_writer json = {.text = out, .spaced = true};
    yk_json_write_begin_object(&json, NULL);
    json.line_indent = 2;
    for (int32_t i = 0; i < map->count; i++) {
        yk_json_write_key(&json, map->entries[i].module);
        yk_device_map_append_place_json(out, map->entries[i].place);
    }
    yk_json_write_newline(&json, 0);
    yk_json_write_end_object(&json);
    yk_text_add(out, "\n");
    return yk_text_status(out);
}

/* The number that Accelerate knows the device by: CPUs are not counted. */
static int32_t place_of(const struct yk_cluster *cluster, int32_t device)
{
    int32_t number = 0;
    for (int32_t i = 0; i < device; i++) {
        number += cluster->devices[i].is_cpu ? 0 : 1;
    }
    return cluster->devices[device].is_cpu ? YK_DEVICE_MAP_CPU : number;
}

/* Of several ranks that hold a layer, the one that takes most samples stands for all. */
static int32_t find_device(const struct yk_plan *plan, int32_t layer)
{
    const struct yk_plan_group *group = &plan->groups[plan->layers[layer].group];
    const struct yk_plan_group_member *chosen = &group->members[0];
    for (int32_t i = 1; i < group->member_count; i++) {
        if (group->members[i].share > chosen->share) {
            chosen = &group->members[i];
        }
    }
    return plan->ranks[chosen->rank].device;
}

static bool is_held_by_several(const struct yk_plan *plan, int32_t layer)
{
    return plan->groups[plan->layers[layer].group].member_count > 1;
}

static void note_layers(const struct yk_export_job *job)
{
    yk_export_job_add_layers_note(
        job, is_held_by_several,
        "several ranks hold these and share the samples; a device_map has one device for each "
        "module, that of the rank which takes most samples. Export to fsdp or ddp instead.");
    yk_export_job_add_layers_note(job, yk_data_parallel_layer_is_recomputed,
                                  "recomputed in the plan; a device_map cannot say so, "
                                  "gradient_checkpointing_enable() does for all blocks.");
    bool cpu = false;
    for (int32_t i = 0; i < job->plan->layer_count; i++) {
        cpu = cpu || job->cluster->devices[find_device(job->plan, i)].is_cpu;
    }
    yk_export_job_add_note_if(job, cpu,
                              "Layers of a CPU go to \"cpu\", where Accelerate stores them; it "
                              "computes them on a GPU.");
}

static void note_others(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_device *devices = job->cluster->devices;
    bool nodes = false;
    bool limits = false;
    for (int32_t i = 0; i < plan->rank_count; i++) {
        const struct yk_device *device = &devices[plan->ranks[i].device];
        nodes = nodes || device->node != devices[plan->ranks[0].device].node;
        limits = limits || plan->ranks[i].limit_bytes < device->memory_bytes;
    }
    yk_export_job_add_note_if(job, nodes,
                              "The devices are in several nodes; a device_map is for the devices "
                              "of one process.");
    yk_export_job_add_note_if(job, limits,
                              "Limits of memory are not said; a device_map that is given takes no "
                              "max_memory.");
    yk_export_job_add_note_if(job, plan->micro_batches > 1,
                              "The %" PRId32
                              " micro-batches and their order (%s) are not said: devices "
                              "compute one after the other.",
                              plan->micro_batches, yk_plan_pipeline_schedule_name(plan->pipeline));
    yk_export_job_add_note_if(job, plan->transfer_count > 0,
                              "The plan's order of transfers is not said.");
    yk_export_job_add_note_if(job, plan->clip,
                              "Clipping is not said; it belongs to the training loop.");
    yk_export_job_add_note(job, "Load the model with dtype %s.",
                           yk_precision_name(plan->workload.precision));
    yk_data_parallel_add_lora_note(job);
}

static yk_status write_accelerate(const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    const struct yk_module_tree *modules = NULL;
    const struct yk_device_map *map = NULL;
    int32_t *places = NULL;
    YK_TRY_NEW(job->arena, places, plan->layer_count);
    for (int32_t i = 0; i < plan->layer_count; i++) {
        places[i] = place_of(job->cluster, find_device(plan, i));
    }
    YK_TRY(yk_module_tree_build(job->model->config, job->arena, &modules));
    YK_TRY(yk_device_map_create_from_layers(job->model, places, modules, job->cluster->device_count,
                                            job->arena, &map));
    YK_TRY(yk_export_accelerate_device_map(map, job->out));
    note_layers(job);
    note_others(job);
    return YK_OK;
}

const struct yk_exporter yk_exporter_accelerate = {
    .name = "accelerate",
    .summary = "a device_map for Hugging Face Accelerate: which device holds which module",
    .file = "device_map.json",
    .supports_groups = true,
    .write = write_accelerate,
};
