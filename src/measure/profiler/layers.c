#include "measure/profiler/profiler.h"

#include "comm/host_collective.h"
#include "cost/profile_key.h"
#include "measure/benchmark/batch_sweep.h"
#include "measure/benchmark/reduced_model.h"
#include "measure/profiler/comm_benchmark.h"
#include "measure/slowdown/slowdown.h"

#include <math.h>
#include <stdio.h>

enum {
    REPEATS = 3, /* of each number of samples */
    MAX_BATCHES = 32,
    LINE_SIZE = 128,
    NUMBERS = 5,        /* of a measurement, as they are gathered */
    STEPS_IN_TIME = 10, /* of the most samples that the time must be enough for */
};

/* Of a device's memory, for what is measured there. */
static const double part_used = 0.9;

struct run {
    struct yk_profiler *profiler;
    const struct yk_measuring_ranks *team;
    const struct yk_profiler_request *request;
    struct yk_arena *arena;
    struct yk_cluster *alone; /* this rank's device */
    const struct yk_model_config *config;
    int64_t batches[MAX_BATCHES]; /* to be measured */
    int32_t batch_count;
    struct yk_benchmark_model *model;
    struct yk_batch_sweep *sweep;
    struct yk_layer_times *times;
    double context_bytes;
};

static const struct yk_device *own_device(const struct run *run)
{
    return &run->request->cluster->devices[run->team->host_communicator->rank];
}

static yk_status fail_no_type(const struct yk_device *device)
{
    return yk_fail(YK_ERROR_INPUT,
                   "device %s has no type, by which a profile would know it again; give it one",
                   device->name);
}

static yk_status open_device(struct run *run)
{
    const struct yk_device *device = own_device(run);
    char subject[YK_PROFILE_KEY_SIZE];
    char line[LINE_SIZE + YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_format_device(device, NULL, subject)) {
        return fail_no_type(device);
    }
    snprintf(line, sizeof line, "%s:%.0fMiB", subject,
             fmax(device->memory_bytes / (1024.0 * 1024.0) - 0.5, 1));
    return yk_cluster_parse_line(line, &run->alone);
}

/* ---- what is to be measured ---- */

static yk_status agree_on_min(const struct run *run, int64_t *number)
{
    double min = 0;
    YK_TRY(yk_measuring_ranks_all_reduce_max(run->team, -(double)*number, &min));
    *number = (int64_t)-min;
    return YK_OK;
}

/* As much of the model, and as many samples, as every rank's device holds. */
static yk_status truncate_model(struct run *run, int64_t *batch)
{
    const struct yk_profiler_request *request = run->request;
    const struct yk_reduced_model_request truncate_request = {
        .config = request->config,
        .workload = request->workload,
        .cluster = run->alone,
        .free_bytes = part_used * own_device(run)->memory_bytes,
        .step_s = request->seconds > 0 ? request->seconds / STEPS_IN_TIME : INFINITY,
    };
    struct yk_reduced_model made;
    YK_TRY(yk_reduced_model_choose_blocks(&truncate_request, run->arena, &made));
    int64_t blocks = made.config->layers > made.config->encoder_layers
                         ? made.config->layers
                         : made.config->encoder_layers;
    YK_TRY(agree_on_min(run, &blocks));
    YK_TRY(agree_on_min(run, &made.batch));
    if (made.batch == 0) {
        return yk_fail(YK_ERROR_NO_FIT,
                       "%s: a sample of %lld tokens does not fit with two of %s's blocks; try a "
                       "shorter --seq",
                       own_device(run)->name, (long long)request->workload.sequence,
                       request->config->name);
    }
    YK_TRY(yk_reduced_model_make_config(request->config, blocks, run->arena, &run->config));
    const bool whole = run->config->layers == request->config->layers &&
                       run->config->encoder_layers == request->config->encoder_layers;
    run->profiler->blocks = whole ? 0 : blocks;
    run->profiler->batch = made.batch < request->workload.batch ? made.batch : 0;
    *batch = made.batch;
    return YK_OK;
}

/* 1, 2, 4 … and the most. */
static int32_t list_batches(int64_t max, int64_t batches[MAX_BATCHES])
{
    int32_t count = 0;
    for (int64_t batch = 1; batch < max && count < MAX_BATCHES - 1; batch *= 2) {
        batches[count++] = batch;
    }
    batches[count++] = max;
    return count;
}

/* Whether the profile has every layer of the batch, on every device. */
static yk_status is_known(const struct run *run, const struct yk_model *model, int64_t batch,
                          bool *out)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    const struct yk_profiler_request *request = run->request;
    bool known = !request->remeasure;
    for (int32_t d = 0; d < request->cluster->device_count && known; d++) {
        char device[YK_PROFILE_KEY_SIZE] = "";
        known = yk_profile_key_format_device_type(&request->cluster->devices[d], device);
        for (int32_t i = 0; i < model->layer_count * 3 && known; i++) {
            const struct yk_profile_layer_key wanted = {
                .device = device,
                .part = request->cluster->devices[d].fraction,
                .shape = model->layers[i / 3].shape,
                .sequence = request->workload.sequence,
                .pass = passes[i % 3],
            };
            const bool update = i % 3 == 2;
            if (!update || model->layers[i / 3].trainable > 0) {
                YK_TRY(yk_profile_has_layer_time(run->profiler->profile, &wanted,
                                                 update ? 1 : batch, request->versions, &known));
            }
        }
    }
    *out = known;
    return YK_OK;
}

static yk_status choose_batches(struct run *run, int64_t max)
{
    const struct yk_model *model = NULL;
    int64_t batches[MAX_BATCHES];
    double known[MAX_BATCHES];
    const int32_t count = list_batches(max, batches);
    YK_TRY(yk_model_build(run->config, &run->request->workload, run->arena, &model));
    for (int32_t i = 0; i < count; i++) {
        bool found = false;
        YK_TRY(is_known(run, model, batches[i], &found));
        known[i] = found ? 1 : 0;
    }
    YK_TRY(yk_host_collective_all_reduce_max(run->team->host_communicator, known, count));
    for (int32_t i = 0; i < count; i++) {
        if (known[i] > 0) {
            run->profiler->skipped_count += 1;
        } else {
            run->batches[run->batch_count++] = batches[i];
        }
    }
    return YK_OK;
}

/* ---- rows ---- */

/* The mean over the ranks whose devices are like that of `rank`; (size, count, NUMBERS). */
static struct yk_profile_measurement mean_of(const struct run *run, int32_t rank, const double *all,
                                             int32_t count, int32_t number)
{
    const struct yk_device *devices = run->request->cluster->devices;
    struct yk_profile_measurement mean = {.versions = run->request->versions};
    int32_t ranks = 0;
    for (int32_t r = 0; r < run->team->host_communicator->size; r++) {
        const double *made = &all[((int64_t)r * count + number) * NUMBERS];
        if (yk_device_has_equal_hardware(&devices[rank], &devices[r])) {
            mean.value += made[0];
            mean.spread = fmax(mean.spread, made[1]);
            mean.samples += (int64_t)made[2];
            mean.min = ranks > 0 ? fmin(mean.min, made[3]) : made[3];
            mean.max = fmax(mean.max, made[4]);
            ranks++;
        }
    }
    mean.value /= ranks;
    return mean;
}

/* The last row of what is gathered: of this model, and of any for which it was not measured. */
static yk_status add_context(const struct run *run, int32_t rank, const double *all)
{
    const struct yk_device *device = &run->request->cluster->devices[rank];
    const int32_t rows = run->times->count + 1;
    char subject[YK_PROFILE_KEY_SIZE];
    const struct yk_profiler_fact_row row = {
        .fact = {.subject = subject, .fact = YK_PROFILE_FACT_CONTEXT_BYTES},
        .measurement = mean_of(run, rank, all, rows, rows - 1),
    };
    if (!(row.measurement.value > 0)) {
        return YK_OK;
    }
    if (yk_profile_key_format_device_with_model(device, NULL, run->request->config->name,
                                                subject)) {
        YK_TRY(yk_profiler_add_fact_row(run->profiler, &row));
    }
    return yk_profile_key_format_device(device, NULL, subject)
               ? yk_profiler_add_fact_row(run->profiler, &row)
               : YK_OK;
}

static yk_status add_device(const struct run *run, int32_t rank, const double *all)
{
    const struct yk_layer_times *times = run->times;
    const struct yk_device *device = &run->request->cluster->devices[rank];
    char name[YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_format_device_type(device, name)) {
        return fail_no_type(device);
    }
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_layer_times_entry *time = &times->times[i];
        const struct yk_profiler_layer_row row = {
            .layer = {.device = name,
                      .part = device->fraction,
                      .shape = time->shape,
                      .sequence = run->request->workload.sequence,
                      .pass = time->pass},
            .batch = time->batch,
            .measurement = mean_of(run, rank, all, times->count + 1, i),
        };
        if (row.measurement.samples > 0 && row.measurement.value > 0) {
            YK_TRY(yk_profiler_add_layer_row(run->profiler, &row));
        }
    }
    return add_context(run, rank, all);
}

static yk_status gather_all(const struct run *run)
{
    const struct yk_layer_times *times = run->times;
    const struct yk_device *devices = run->request->cluster->devices;
    const int64_t count = ((int64_t)times->count + 1) * NUMBERS;
    double *own = NULL;
    double *all = NULL;
    YK_TRY_NEW(times->arena, own, count);
    YK_TRY_NEW(times->arena, all, count * run->team->host_communicator->size);
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_profile_measurement made =
            yk_timings_summarize(&times->times[i].timings, run->request->versions);
        double *row = &own[(int64_t)i * NUMBERS];
        row[0] = made.samples > 0 ? made.value : 0;
        row[1] = made.spread;
        row[2] = (double)made.samples;
        row[3] = made.min;
        row[4] = made.max;
    }
    double *context = &own[(int64_t)times->count * NUMBERS];
    context[0] = run->context_bytes;
    context[2] = 1;
    context[3] = run->context_bytes;
    context[4] = run->context_bytes;
    YK_TRY(yk_measuring_ranks_all_gather(run->team, own, (int32_t)count, all));
    for (int32_t rank = 0; rank < run->team->host_communicator->size; rank++) {
        int32_t first = 0;
        while (!yk_device_has_equal_hardware(&devices[first], &devices[rank]) && first < rank) {
            first++;
        }
        if (first == rank) {
            YK_TRY(add_device(run, rank, all));
        }
    }
    return YK_OK;
}

/* What is known by now becomes rows, and the rows are kept. */
static yk_status save_rows(struct run *run)
{
    YK_TRY(yk_batch_sweep_make_layer_times(run->sweep, &run->times));
    yk_status status = gather_all(run);
    yk_layer_times_destroy(run->times);
    run->times = NULL;
    YK_TRY(status);
    return yk_profiler_save_rows(run->profiler);
}

/* ---- measuring ---- */

/* A run that also finds the context: what a process holds besides the model and the messages. */
static yk_status run_with_warm_group(struct run *run, struct yk_batch_sweep_run *run_batch)
{
    const enum yk_comm_data_type type =
        yk_comm_data_type_from_precision(run->request->workload.precision);
    struct yk_comm_benchmark *warm = NULL;
    YK_TRY(yk_comm_benchmark_create_warmed_up(run->team, type, run->arena, &warm));
    const yk_status status = yk_batch_sweep_measure_batch(run->sweep, run_batch);
    const double own_bytes = warm ? (double)yk_comm_benchmark_allocated_bytes(warm) : 0;
    run->context_bytes = fmax(run_batch->held - run_batch->bytes - own_bytes, 0);
    yk_comm_benchmark_destroy(warm);
    return status;
}

/* The largest batch is first, so that out-of-memory and the peak are known at once. */
static yk_status run_batch(struct run *run, int32_t repeat)
{
    const struct yk_profiler_request *request = run->request;
    const int32_t count = run->batch_count;
    struct yk_batch_sweep_run made = {
        .batch = count - 1 - repeat % count,
        .seconds = request->seconds / REPEATS / count,
        .held_bytes = request->used_bytes,
    };
    YK_TRY(repeat == 0 ? run_with_warm_group(run, &made)
                       : yk_batch_sweep_measure_batch(run->sweep, &made));
    return save_rows(run);
}

static yk_status run_all(struct run *run)
{
    const struct yk_profiler_callbacks *callbacks = &run->request->callbacks;
    const int32_t repeats = REPEATS * run->batch_count;
    for (int32_t repeat = 0; repeat < repeats; repeat++) {
        bool stops = false;
        YK_TRY(yk_profiler_should_stop(run->profiler, &stops));
        if (stops) {
            return YK_OK;
        }
        if (callbacks->progress) {
            callbacks->progress(callbacks->user, "layers", (double)repeat / repeats);
        }
        YK_TRY(run_batch(run, repeat));
    }
    return YK_OK;
}

/* Slowdowns by messages, and while others idle. */
static yk_status measure_slowdowns(const struct run *run)
{
    int32_t batch = 0;
    YK_TRY(yk_slowdown_choose_batch(run->team, run->sweep, run->batch_count, &batch));
    struct yk_benchmark *benchmark = yk_batch_sweep_get_benchmark(run->sweep, batch);
    YK_TRY(yk_benchmark_allocate_memory(benchmark));
    yk_status status = yk_slowdown_measure(run->profiler, benchmark);
    if (status == YK_OK && !run->profiler->stopped) {
        status = yk_idle_speedup_measure(run->profiler, benchmark);
    }
    yk_benchmark_free_memory(benchmark);
    YK_TRY(status);
    return yk_profiler_save_rows(run->profiler);
}

/* A survey that was stopped after the layers lacks the slowdowns: a step of the most samples. */
static yk_status choose_step(struct run *run, int64_t max)
{
    struct yk_slowdown_rank_pairs pairs;
    bool idle_known = false;
    YK_TRY(yk_slowdown_rank_pairs_choose(run->profiler, run->arena, &pairs));
    YK_TRY(yk_idle_speedup_can_be_skipped(run->profiler, &idle_known));
    if (!pairs.all_known || !idle_known) {
        run->batches[run->batch_count++] = max;
    }
    return YK_OK;
}

static yk_status measure(struct run *run)
{
    const struct yk_profiler_request *request = run->request;
    const bool alone = run->team->host_communicator->size == 1;
    int64_t max = 0;
    YK_TRY(yk_arena_create(&run->arena));
    YK_TRY(open_device(run));
    YK_TRY(truncate_model(run, &max));
    YK_TRY(choose_batches(run, max));
    const bool known = run->batch_count == 0;
    if (known && !alone) {
        YK_TRY(choose_step(run, max));
    }
    if (run->batch_count == 0) {
        return YK_OK;
    }
    const struct yk_benchmark_model_request model = {run->config, request->workload,
                                                     request->slowdown_factor};
    YK_TRY(yk_benchmark_model_create(&model, run->alone, &run->team->context, &run->model));
    YK_TRY(yk_batch_sweep_create(run->team, run->model, run->batches, run->batch_count,
                                 &request->callbacks, &run->sweep));
    if (!known) {
        YK_TRY(run_all(run));
    }
    return alone || run->profiler->stopped ? YK_OK : measure_slowdowns(run);
}

yk_status yk_profiler_measure_layers(struct yk_profiler *profiler,
                                     const struct yk_measuring_ranks *team,
                                     const struct yk_profiler_request *request)
{
    struct run run = {.profiler = profiler, .team = team, .request = request};
    profiler->team = team;
    profiler->request = request;
    const yk_status status = measure(&run);
    yk_batch_sweep_destroy(run.sweep);
    yk_benchmark_model_destroy(run.model);
    yk_cluster_destroy(run.alone);
    yk_arena_destroy(run.arena);
    return status;
}
