/*
 * Slurm: a batch script that starts the ranks of yoke, or of a PyTorch script. Equal nodes are one
 * component of the job. If nodes differ, the job is heterogeneous: several components, whose ranks
 * one srun starts.
 */
#include "export/export.h"
#include "export/export_job.h"
#include "export/process_map.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum {
    MOST_NAME = 40
};

/* A component of the job: equal nodes, with their GPU ranks or with their CPU ranks. */
struct component {
    const char *request; /* " --ntasks-per-node=2 --gres=gpu:rtx3090:2" */
    int32_t nodes;
};

struct components {
    struct component *list;
    int32_t *order; /* the plan's rank of each task, in the order of srun's numbers */
    int32_t count;
    int32_t task_count;
};

/* "gpu:rtx3090:2,gpu:rtx6000ada:1": the GPUs of a node by type, as its ranks come. */
static void add_types(struct yk_text *out, const struct yk_process_map *map, int32_t node)
{
    bool first = true;
    for (int32_t i = 0; i < map->rank_count; i++) {
        const struct yk_device *device = map->ranks[i].device;
        int32_t count = 0;
        bool listed = map->ranks[i].node != node || device->is_cpu;
        for (int32_t j = 0; j < map->rank_count && !listed; j++) {
            const struct yk_device *other = map->ranks[j].device;
            const bool same =
                map->ranks[j].node == node && !other->is_cpu &&
                strcmp(other->type ? other->type : "", device->type ? device->type : "") == 0;
            listed = same && j < i;
            count += same ? 1 : 0;
        }
        if (!listed) {
            yk_text_addf(out, "%sgpu:%s%s%" PRId32, first ? " --gres=" : ",",
                         device->type ? device->type : "", device->type ? ":" : "", count);
            first = false;
        }
    }
}

/* Adds the GPU ranks or the CPU ranks of a node, to the last component if that has equal nodes. */
static yk_status add_component(struct components *components, const struct yk_process_map *map,
                               int32_t node, bool cpus, struct yk_arena *arena)
{
    struct yk_text text = {0};
    const char *request = NULL;
    int32_t tasks = 0;
    int32_t cores = 0;
    for (int32_t i = 0; i < map->rank_count; i++) {
        const struct yk_process_map_rank *rank = &map->ranks[i];
        if (rank->node == node && rank->device->is_cpu == cpus) {
            components->order[components->task_count++] = i;
            cores = rank->device->cores > cores ? rank->device->cores : cores;
            tasks++;
        }
    }
    if (tasks == 0) {
        return YK_OK;
    }
    yk_text_addf(&text, " --ntasks-per-node=%" PRId32, tasks);
    if (cpus && cores > 0) {
        yk_text_addf(&text, " --cpus-per-task=%" PRId32, cores);
    }
    if (!cpus) {
        add_types(&text, map, node);
    }
    YK_TRY(yk_text_move_to_arena(&text, arena, &request));
    struct component *last =
        components->count > 0 ? &components->list[components->count - 1] : NULL;
    if (last && strcmp(last->request, request) == 0) {
        last->nodes++;
    } else {
        components->list[components->count++] = (struct component){request, 1};
    }
    return YK_OK;
}

static yk_status list_components(const struct yk_process_map *map, struct yk_arena *arena,
                                 struct components *out)
{
    YK_TRY_NEW(arena, out->list, 2 * (int64_t)map->node_count);
    YK_TRY_NEW(arena, out->order, map->rank_count);
    for (int32_t i = 0; i < map->node_count; i++) {
        /* MASTER_ADDR is the first host, so rank 0 must be in the first component. */
        const bool cpus = map->ranks[map->nodes[i].first_rank].device->is_cpu;
        YK_TRY(add_component(out, map, i, cpus, arena));
        YK_TRY(add_component(out, map, i, !cpus, arena));
    }
    return YK_OK;
}

/* The last part of the source, without what a name may not have. */
static void add_job_name(struct yk_text *out, const char *source)
{
    char name[MOST_NAME + 1];
    size_t length = 0;
    const char *slash = strrchr(source, '/');
    for (const char *c = slash ? slash + 1 : source; *c && length < MOST_NAME; c++) {
        name[length++] = isalnum((unsigned char)*c) || strchr("-_.", *c) ? *c : '_';
    }
    name[length] = '\0';
    yk_text_addf(out, "#SBATCH --job-name=%s\n", length > 0 ? name : "yoke");
}

static bool is_in_order(const struct components *components)
{
    bool ordered = true;
    for (int32_t i = 0; i < components->task_count; i++) {
        ordered = ordered && components->order[i] == i;
    }
    return ordered;
}

/* Whether task i is the plan's rank i, as it is for yoke itself, which knows no groups' numbers. */
static bool are_plan_ranks(const struct components *components, const struct yk_process_map *map,
                           const struct yk_export_job *job)
{
    const struct yk_plan *plan = job->plan;
    bool same = components->task_count == plan->rank_count;
    for (int32_t i = 0; same && i < components->task_count; i++) {
        const struct yk_device *device = map->ranks[components->order[i]].device;
        same = device == &job->cluster->devices[plan->ranks[i].device];
    }
    return same;
}

/* What is to be started, and how srun is to treat it: words that are no script of Python's are
 * yoke's. */
static void add_program(struct yk_text *out, bool ordered)
{
    yk_text_add(out, "\ncase ${1-} in\n"
                     "    *.py) # a rank that fails ends the others\n"
                     "        options=(--kill-on-bad-exit=1)\n"
                     "        set -- python3 \"$@\" ;;\n");
    if (!ordered) {
        yk_text_add(out, "    *)\n"
                         "        echo 'job.sh: yoke train needs ranks in the order of the plan, "
                         "and these tasks are in another' >&2\n"
                         "        exit 2 ;;\nesac\n");
        return;
    }
    yk_text_add(
        out, "    *) # ranks that lose one find out themselves, and ranks that stop must all have "
             "saved\n"
             "        options=(--mpi=pmix --kill-on-bad-exit=0 --wait=60)\n"
             "        run=${RUN:-runs/$SLURM_JOB_NAME-$SLURM_JOB_ID}\n"
             "        if [ \"${SLURM_RESTART_COUNT:-0}\" -gt 0 ] && ls \"$run\"/checkpoints/step-* "
             ">/dev/null 2>&1; then\n"
             "            set -- --resume \"$@\"\n"
             "        fi\n"
             "        set -- \"${YOKE:-yoke}\" train --out \"$run\" \"$@\" ;;\n"
             "esac\n");
}

static void add_srun(struct yk_text *out, const struct components *components, bool has_cpus)
{
    const bool several = components->count > 1;
    yk_text_addf(out,
                 "\nMASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST%s\" | head "
                 "-n 1)\nexport MASTER_ADDR MASTER_PORT=${MASTER_PORT:-29500} WORLD_SIZE=%" PRId32
                 "\n\ncode=0\nsrun ",
                 several ? "_HET_GROUP_0" : "", components->task_count);
    if (several) {
        yk_text_addf(out, "--het-group=0-%" PRId32 " ", components->count - 1);
    }
    yk_text_add(out, "\"${options[@]}\" bash -c '\n");
    if (is_in_order(components)) {
        yk_text_add(out, "    export RANK=$SLURM_PROCID");
    } else {
        yk_text_add(out, "    ranks=(");
        for (int32_t i = 0; i < components->task_count; i++) {
            yk_text_addf(out, "%s%" PRId32, i > 0 ? " " : "", components->order[i]);
        }
        yk_text_add(out, ") # of the tasks as Slurm numbers them\n"
                         "    export RANK=${ranks[$SLURM_PROCID]}");
    }
    yk_text_add(out, " LOCAL_RANK=$SLURM_LOCALID\n");
    if (has_cpus) {
        yk_text_add(out, "    export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}\n");
    }
    yk_text_add(out, "    exec \"$@\"' task \"$@\" || code=$?\n\n"
                     "# Stopped by a signal, and saved: Slurm starts it again and it goes on.\n"
                     "[ \"$code\" != 75 ] || scontrol requeue \"$SLURM_JOB_ID\"\n"
                     "exit \"$code\"\n");
}

static bool has_mixed_node(const struct yk_process_map *map)
{
    bool mixed = false;
    for (int32_t i = 0; i < map->rank_count; i++) {
        for (int32_t j = 0; j < i; j++) {
            const struct yk_process_map_rank *a = &map->ranks[i];
            const struct yk_process_map_rank *b = &map->ranks[j];
            mixed = mixed ||
                    (a->node == b->node && strcmp(a->device->type ? a->device->type : "",
                                                  b->device->type ? b->device->type : "") != 0);
        }
    }
    return mixed;
}

static void add_notes(const struct yk_export_job *job, const struct yk_process_map *map)
{
    yk_export_job_add_note_if(job, map->has_gpus,
                              "Types of GPUs after --gres are the plan's names; yours may differ "
                              "(scontrol show node).");
    yk_export_job_add_note(job, "Time, account and partition are yours to add.");
    yk_export_job_add_note_if(job, has_mixed_node(map),
                              "A node has devices of several types: Slurm does not promise that "
                              "LOCAL_RANK 0 is the first that is asked for. Hold nvidia-smi "
                              "against the devices of the plan.");
    yk_export_job_add_note_if(job, map->has_cpus && map->has_gpus,
                              "CPUs are asked for as a component of their own, which may be "
                              "another node than the plan's.");
    yk_process_map_add_notes(job, map);
}

static void add_components(struct yk_text *out, const struct components *components)
{
    for (int32_t i = 0; i < components->count; i++) {
        yk_text_addf(out, "%s#SBATCH --nodes=%" PRId32 "%s\n", i > 0 ? "#SBATCH hetjob\n" : "",
                     components->list[i].nodes, components->list[i].request);
    }
}

/* Comments may come before the last #SBATCH line, commands may not. */
static yk_status write_slurm(const struct yk_export_job *job)
{
    const char *source = job->plan->model_source;
    struct yk_text *out = job->out;
    struct yk_process_map map = {0};
    struct components components = {0};
    YK_TRY(yk_process_map_make(job, &map));
    YK_TRY(list_components(&map, job->arena, &components));
    add_notes(job, &map);
    yk_text_add(out, "#!/bin/bash\n");
    add_job_name(out, source ? source : "");
    /* A minute before the time is up: enough to save. What is printed after a restart is added. */
    yk_text_add(out, "#SBATCH --requeue --open-mode=append --signal=TERM@60\n");
    add_components(out, &components);
    yk_export_job_add_header_comment(job);
    yk_text_add(out, "#\n# Use: sbatch job.sh --plan plan.json --data …   trains with yoke; RUN is "
                     "its folder\n"
                     "#      sbatch job.sh train.py …                  starts a PyTorch script\n"
                     "# TERM, also a minute before the time is up, makes ranks save and exit with "
                     "75: the job is queued again.\n"
                     "set -eu\n");
    add_program(out, are_plan_ranks(&components, &map, job));
    add_srun(out, &components, map.has_cpus);
    return YK_OK;
}

const struct yk_exporter yk_exporter_slurm = {
    .name = "slurm",
    .summary = "a batch script for Slurm, a heterogeneous job where nodes differ",
    .file = "job.sh",
    .supports_groups = true,
    .write = write_slurm,
};
