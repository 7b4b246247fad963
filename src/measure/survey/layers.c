#include "measure/survey/survey.h"

#include "comm/exchange.h"
#include "cost/profile_key.h"
#include "measure/benchmark/rounds.h"
#include "measure/benchmark/truncate.h"
#include "measure/slowdown/idle_speedup.h"
#include "measure/slowdown/pairs.h"
#include "measure/slowdown/slowdown.h"
#include "measure/survey/exchange_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    VISITS = 3, /* of each number of samples */
    MOST_BATCHES = 32,
    LINE_SIZE = 128,
    NUMBERS = 5,        /* of a measurement, as they are gathered */
    STEPS_IN_TIME = 10, /* of the most samples that the time must be enough for */
};

/* Of a device's memory, for what is measured there. */
static const double part_used = 0.9;

struct surveying {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_request *wish;
    struct yk_arena *arena;
    struct yk_cluster *alone; /* this rank's device */
    const struct yk_model_config *config;
    int64_t batches[MOST_BATCHES]; /* to be measured */
    int32_t batch_count;
    struct yk_benchmark_model *practice;
    struct yk_benchmark_rounds *visits;
    struct yk_layer_times *times;
    double context_bytes;
};

static const struct yk_device *own_device(const struct surveying *surveying)
{
    return &surveying->wish->cluster->devices[surveying->team->ranks->rank];
}

static yk_status open_device(struct surveying *surveying)
{
    const struct yk_device *device = own_device(surveying);
    char subject[YK_PROFILE_KEY_SIZE];
    char line[LINE_SIZE + YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_device(device, NULL, subject)) {
        return yk_fail(YK_ERROR_INPUT,
                       "device %s has no type, by which a profile would know it again; give it one",
                       device->name);
    }
    snprintf(line, sizeof line, "%s:%.0fMiB", subject,
             fmax(device->memory_bytes / (1024.0 * 1024.0) - 0.5, 1));
    return yk_cluster_parse(line, &surveying->alone);
}

/* ---- what is to be measured ---- */

static yk_status agree_on_least(const struct surveying *surveying, int64_t *number)
{
    double least = 0;
    YK_TRY(yk_measure_ranks_max(surveying->team, -(double)*number, &least));
    *number = (int64_t)-least;
    return YK_OK;
}

/* As much of the model, and as many samples, as every rank's device holds. */
static yk_status abridge(struct surveying *surveying, int64_t *batch)
{
    const struct yk_survey_request *wish = surveying->wish;
    const struct yk_benchmark_truncate_request asked = {
        .config = wish->config,
        .workload = wish->workload,
        .cluster = surveying->alone,
        .free_bytes = part_used * own_device(surveying)->memory_bytes,
        .step_s = wish->seconds > 0 ? wish->seconds / STEPS_IN_TIME : INFINITY,
    };
    struct yk_benchmark_truncated made;
    YK_TRY(yk_benchmark_truncate(&asked, surveying->arena, &made));
    int64_t blocks = made.config->layers > made.config->encoder_layers
                         ? made.config->layers
                         : made.config->encoder_layers;
    YK_TRY(agree_on_least(surveying, &blocks));
    YK_TRY(agree_on_least(surveying, &made.batch));
    if (made.batch == 0) {
        return yk_fail(YK_ERROR_NO_FIT,
                       "%s: a sample of %lld tokens does not fit with two of %s's blocks; try a "
                       "shorter --seq",
                       own_device(surveying)->name, (long long)wish->workload.sequence,
                       wish->config->name);
    }
    YK_TRY(
        yk_benchmark_truncate_blocks(wish->config, blocks, surveying->arena, &surveying->config));
    const bool whole = surveying->config->layers == wish->config->layers &&
                       surveying->config->encoder_layers == wish->config->encoder_layers;
    surveying->survey->blocks = whole ? 0 : blocks;
    surveying->survey->batch = made.batch < wish->workload.batch ? made.batch : 0;
    *batch = made.batch;
    return YK_OK;
}

/* 1, 2, 4 … and the most. */
static int32_t list_batches(int64_t most, int64_t batches[MOST_BATCHES])
{
    int32_t count = 0;
    for (int64_t batch = 1; batch < most && count < MOST_BATCHES - 1; batch *= 2) {
        batches[count++] = batch;
    }
    batches[count++] = most;
    return count;
}

/* Whether the profile has every layer of the batch, on every device. */
static yk_status is_known(const struct surveying *surveying, const struct yk_model *model,
                          int64_t batch, bool *out)
{
    static const char *const passes[] = {"forward", "backward", "update"};
    const struct yk_survey_request *wish = surveying->wish;
    bool known = !wish->again;
    for (int32_t d = 0; d < wish->cluster->device_count && known; d++) {
        char device[YK_PROFILE_KEY_SIZE] = "";
        known = yk_profile_key_device_type(&wish->cluster->devices[d], device);
        for (int32_t i = 0; i < model->layer_count * 3 && known; i++) {
            const struct yk_profile_layer wanted = {
                .device = device,
                .part = wish->cluster->devices[d].part,
                .shape = model->layers[i / 3].shape,
                .sequence = wish->workload.sequence,
                .pass = passes[i % 3],
            };
            const bool update = i % 3 == 2;
            if (!update || model->layers[i / 3].trainable > 0) {
                YK_TRY(yk_survey_knows_layer(surveying->survey, &wanted, update ? 1 : batch,
                                             wish->versions, &known));
            }
        }
    }
    *out = known;
    return YK_OK;
}

static yk_status choose_batches(struct surveying *surveying, int64_t most)
{
    const struct yk_model *model = NULL;
    int64_t batches[MOST_BATCHES];
    double known[MOST_BATCHES];
    const int32_t count = list_batches(most, batches);
    YK_TRY(
        yk_model_describe(surveying->config, &surveying->wish->workload, surveying->arena, &model));
    for (int32_t i = 0; i < count; i++) {
        bool found = false;
        YK_TRY(is_known(surveying, model, batches[i], &found));
        known[i] = found ? 1 : 0;
    }
    YK_TRY(yk_exchange_max(surveying->team->ranks, known, count));
    for (int32_t i = 0; i < count; i++) {
        if (known[i] > 0) {
            surveying->survey->known += 1;
        } else {
            surveying->batches[surveying->batch_count++] = batches[i];
        }
    }
    return YK_OK;
}

/* ---- rows ---- */

static bool same_device(const struct yk_device *a, const struct yk_device *b)
{
    return a->part == b->part && a->cores == b->cores && a->type && b->type &&
           strcmp(a->type, b->type) == 0;
}

/* The mean over the ranks whose devices are like that of `rank`; (size, count, NUMBERS). */
static struct yk_profile_measurement mean_of(const struct surveying *surveying, int32_t rank,
                                             const double *all, int32_t count, int32_t number)
{
    const struct yk_device *devices = surveying->wish->cluster->devices;
    struct yk_profile_measurement mean = {.versions = surveying->wish->versions};
    int32_t ranks = 0;
    for (int32_t r = 0; r < surveying->team->ranks->size; r++) {
        const double *made = &all[((int64_t)r * count + number) * NUMBERS];
        if (same_device(&devices[rank], &devices[r])) {
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
static yk_status add_context(const struct surveying *surveying, int32_t rank, const double *all)
{
    const struct yk_device *device = &surveying->wish->cluster->devices[rank];
    const int32_t rows = surveying->times->count + 1;
    char subject[YK_PROFILE_KEY_SIZE];
    const struct yk_survey_fact row = {
        .fact = {.subject = subject, .fact = YK_PROFILE_CONTEXT_BYTES},
        .measurement = mean_of(surveying, rank, all, rows, rows - 1),
    };
    if (!(row.measurement.value > 0)) {
        return YK_OK;
    }
    if (yk_profile_key_device_with_model(device, NULL, surveying->wish->config->name, subject)) {
        YK_TRY(yk_survey_add_fact(surveying->survey, &row));
    }
    return yk_profile_key_device(device, NULL, subject)
               ? yk_survey_add_fact(surveying->survey, &row)
               : YK_OK;
}

static yk_status add_device(const struct surveying *surveying, int32_t rank, const double *all)
{
    const struct yk_layer_times *times = surveying->times;
    const struct yk_device *device = &surveying->wish->cluster->devices[rank];
    char name[YK_PROFILE_KEY_SIZE];
    if (!yk_profile_key_device_type(device, name)) {
        return yk_fail(YK_ERROR_INPUT,
                       "device %s has no type, by which a profile would know it again; give it one",
                       device->name);
    }
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_layer_time *time = &times->times[i];
        const struct yk_survey_layer row = {
            .layer = {.device = name,
                      .part = device->part,
                      .shape = time->shape,
                      .sequence = surveying->wish->workload.sequence,
                      .pass = time->pass},
            .batch = time->batch,
            .measurement = mean_of(surveying, rank, all, times->count + 1, i),
        };
        if (row.measurement.samples > 0 && row.measurement.value > 0) {
            YK_TRY(yk_survey_add_layer(surveying->survey, &row));
        }
    }
    return add_context(surveying, rank, all);
}

static yk_status add_all(const struct surveying *surveying, double *own, double *all)
{
    const struct yk_layer_times *times = surveying->times;
    const struct yk_device *devices = surveying->wish->cluster->devices;
    for (int32_t i = 0; i < times->count; i++) {
        const struct yk_profile_measurement made =
            yk_timings_summarise(&times->times[i].timings, surveying->wish->versions);
        own[(int64_t)i * NUMBERS] = made.samples > 0 ? made.value : 0;
        own[(int64_t)i * NUMBERS + 1] = made.spread;
        own[(int64_t)i * NUMBERS + 2] = (double)made.samples;
        own[(int64_t)i * NUMBERS + 3] = made.min;
        own[(int64_t)i * NUMBERS + 4] = made.max;
    }
    double *context = &own[(int64_t)times->count * NUMBERS];
    context[0] = surveying->context_bytes;
    context[2] = 1;
    context[3] = surveying->context_bytes;
    context[4] = surveying->context_bytes;
    YK_TRY(yk_measure_ranks_all_gather(surveying->team, own, (times->count + 1) * NUMBERS, all));
    for (int32_t rank = 0; rank < surveying->team->ranks->size; rank++) {
        int32_t first = 0;
        while (!same_device(&devices[first], &devices[rank]) && first < rank) {
            first++;
        }
        if (first == rank) {
            YK_TRY(add_device(surveying, rank, all));
        }
    }
    return YK_OK;
}

static yk_status gather_all(const struct surveying *surveying)
{
    const size_t count = ((size_t)surveying->times->count + 1) * NUMBERS;
    double *own = calloc(count, sizeof *own);
    double *all = calloc(count * (size_t)surveying->team->ranks->size, sizeof *all);
    const yk_status status = own && all ? add_all(surveying, own, all) : yk_fail_out_of_memory();
    free(own);
    free(all);
    return status;
}

/* What is known by now becomes rows, and the rows are kept. */
static yk_status keep(struct surveying *surveying)
{
    YK_TRY(yk_benchmark_rounds_times(surveying->visits, &surveying->times));
    yk_status status = gather_all(surveying);
    yk_layer_times_destroy(surveying->times);
    surveying->times = NULL;
    YK_TRY(status);
    return yk_survey_save(surveying->survey);
}

/* ---- measuring ---- */

/* A visit that also tells what a process holds besides what it trains and what is measured with. */
static yk_status visit_in_company(struct surveying *surveying, struct yk_visit *visit)
{
    const enum yk_comm_type type = yk_comm_type_of(surveying->wish->workload.precision);
    struct yk_exchange_times *company = NULL;
    YK_TRY(yk_exchange_times_create_warm(surveying->team, type, surveying->arena, &company));
    const yk_status status = yk_benchmark_rounds_run(surveying->visits, visit);
    const double own_bytes = company ? (double)yk_exchange_times_bytes(company) : 0;
    surveying->context_bytes = fmax(visit->held - visit->bytes - own_bytes, 0);
    yk_exchange_times_destroy(company);
    return status;
}

/* The largest size comes first: whatever does not fit is found at once, and what a process holds at
 * its fullest is known. */
static yk_status visit(struct surveying *surveying, int32_t turn)
{
    const struct yk_survey_request *wish = surveying->wish;
    const int32_t count = surveying->batch_count;
    struct yk_visit made = {
        .batch = count - 1 - turn % count,
        .seconds = wish->seconds / VISITS / count,
        .held_bytes = wish->held_bytes,
    };
    YK_TRY(turn == 0 ? visit_in_company(surveying, &made)
                     : yk_benchmark_rounds_run(surveying->visits, &made));
    return keep(surveying);
}

static yk_status visit_all(struct surveying *surveying)
{
    const struct yk_survey_callbacks *watch = &surveying->wish->watch;
    const int32_t turns = VISITS * surveying->batch_count;
    for (int32_t turn = 0; turn < turns; turn++) {
        bool stops = false;
        YK_TRY(yk_survey_is_stopped(surveying->survey, surveying->team, surveying->wish, &stops));
        if (stops) {
            return YK_OK;
        }
        if (watch->progress) {
            watch->progress(watch->user, "layers", (double)turn / turns);
        }
        YK_TRY(visit(surveying, turn));
    }
    return YK_OK;
}

/* What computes beside messages, and while others rest. */
static yk_status survey_beside(const struct surveying *surveying)
{
    int32_t batch = 0;
    YK_TRY(yk_slowdown_choose_batch(surveying->team, surveying->visits, surveying->batch_count,
                                    &batch));
    struct yk_benchmark *rehearsal = yk_benchmark_rounds_get(surveying->visits, batch);
    YK_TRY(yk_benchmark_allocate(rehearsal));
    yk_status status =
        yk_slowdown_measure(surveying->survey, surveying->team, surveying->wish, rehearsal);
    if (status == YK_OK && !surveying->survey->stopped) {
        status =
            yk_idle_speedup_measure(surveying->survey, surveying->team, surveying->wish, rehearsal);
    }
    yk_benchmark_free(rehearsal);
    YK_TRY(status);
    return yk_survey_save(surveying->survey);
}

/* Whoever was stopped after the layers has not measured what computation and messages do beside
 * each other: that is done by a step of the most samples. */
static yk_status choose_step(struct surveying *surveying, int64_t most)
{
    struct yk_slowdown_pairs pairs;
    bool rest_known = false;
    YK_TRY(yk_slowdown_pairs_find(surveying->survey, surveying->team, surveying->wish,
                                  surveying->arena, &pairs));
    YK_TRY(
        yk_idle_speedup_is_known(surveying->survey, surveying->team, surveying->wish, &rest_known));
    if (!pairs.all_known || !rest_known) {
        surveying->batches[surveying->batch_count++] = most;
    }
    return YK_OK;
}

static yk_status measure(struct surveying *surveying)
{
    const struct yk_survey_request *wish = surveying->wish;
    const bool alone = surveying->team->ranks->size == 1;
    int64_t most = 0;
    YK_TRY(yk_arena_create(&surveying->arena));
    YK_TRY(open_device(surveying));
    YK_TRY(abridge(surveying, &most));
    YK_TRY(choose_batches(surveying, most));
    const bool known = surveying->batch_count == 0;
    if (known && !alone) {
        YK_TRY(choose_step(surveying, most));
    }
    if (surveying->batch_count == 0) {
        return YK_OK;
    }
    const struct yk_benchmark_model_request practice = {surveying->config, wish->workload,
                                                        wish->slowness};
    YK_TRY(yk_benchmark_model_create(&practice, surveying->alone, &surveying->team->engine,
                                     &surveying->practice));
    YK_TRY(yk_benchmark_rounds_create(surveying->team, surveying->practice, surveying->batches,
                                      surveying->batch_count, &wish->watch, &surveying->visits));
    if (!known) {
        YK_TRY(visit_all(surveying));
    }
    return alone || surveying->survey->stopped ? YK_OK : survey_beside(surveying);
}

yk_status yk_survey_layers(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_request *wish)
{
    struct surveying surveying = {.survey = survey, .team = team, .wish = wish};
    const yk_status status = measure(&surveying);
    yk_benchmark_rounds_destroy(surveying.visits);
    yk_benchmark_model_destroy(surveying.practice);
    yk_cluster_destroy(surveying.alone);
    yk_arena_destroy(surveying.arena);
    return status;
}
