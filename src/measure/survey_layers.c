#include "measure/survey.h"

#include "base/clock.h"
#include "cost/subject.h"
#include "measure/beside.h"
#include "measure/layer_times.h"
#include "measure/quiet.h"
#include "measure/rehearsal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WARM_UP_ROUNDS = 2,
    LEAST_ROUNDS = 3,
    MOST_ROUNDS = 40,
    MOST_BATCHES = 32,
    LINE_SIZE = 80,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

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

struct surveying {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_wish *wish;
    struct yk_cluster *alone; /* this rank's device */
    struct yk_rehearsal *rehearsal;
    struct yk_layer_times *times;
    double context_bytes;
};

static yk_status open_device(struct surveying *surveying)
{
    const struct yk_device *device =
        &surveying->wish->cluster->devices[surveying->team->ranks->rank];
    char line[LINE_SIZE];
    snprintf(line, sizeof line, "cpu:%d:%.0fMiB", (int)(device->cores > 0 ? device->cores : 1),
             fmax(device->memory_bytes / (1024.0 * 1024.0) - 0.5, 1));
    return yk_cluster_parse(line, &surveying->alone);
}

/* What the ops of every round that counts took, and how much of its cores the process got. */
struct rounds {
    int32_t count;
    double *op_s; /* (MOST_ROUNDS, ops) */
    struct yk_quiet_round quiet[MOST_ROUNDS];
};

static yk_status run_round(const struct surveying *surveying, bool counts, struct rounds *rounds)
{
    const int32_t ops = yk_rehearsal_program(surveying->rehearsal)->ranks[0].op_count;
    const struct yk_rehearsal_round *made = NULL;
    const double began_s = yk_clock_now_s();
    const double computed_s = yk_quiet_computed_s();
    YK_TRY(yk_rehearsal_begin(surveying->rehearsal));
    YK_TRY(yk_rehearsal_end(surveying->rehearsal, &made));
    if (counts && made->whole) {
        rounds->quiet[rounds->count] =
            (struct yk_quiet_round){yk_clock_now_s() - began_s, yk_quiet_computed_s() - computed_s};
        memcpy(rounds->op_s + (int64_t)rounds->count * ops, made->op_s,
               (size_t)ops * sizeof *made->op_s);
        rounds->count++;
    }
    return YK_OK;
}

static yk_status run_rounds(const struct surveying *surveying, double began_s,
                            struct rounds *rounds)
{
    const struct yk_survey_wish *wish = surveying->wish;
    for (int32_t round = 0; round < WARM_UP_ROUNDS + MOST_ROUNDS; round++) {
        bool stops = false;
        double passed_s = 0;
        YK_TRY(yk_measure_most(surveying->team, yk_clock_now_s() - began_s, &passed_s));
        YK_TRY(yk_survey_stops(surveying->survey, surveying->team, wish, &stops));
        if (stops || (round >= WARM_UP_ROUNDS + LEAST_ROUNDS && passed_s > wish->seconds)) {
            break;
        }
        if (wish->watch.progress) {
            wish->watch.progress(
                wish->watch.user, "layers",
                fmax(passed_s / wish->seconds, (double)round / (WARM_UP_ROUNDS + MOST_ROUNDS)));
        }
        YK_TRY(run_round(surveying, round >= WARM_UP_ROUNDS, rounds));
    }
    return YK_OK;
}

/* Rounds that others disturbed are left out. */
static yk_status time_layers(const struct surveying *surveying, double began_s)
{
    const int64_t ops = yk_rehearsal_program(surveying->rehearsal)->ranks[0].op_count;
    bool quiet[MOST_ROUNDS];
    struct rounds rounds = {.op_s = calloc((size_t)ops * MOST_ROUNDS, sizeof *rounds.op_s)};
    yk_status status =
        rounds.op_s ? run_rounds(surveying, began_s, &rounds) : yk_fail_out_of_memory();
    yk_quiet_choose(rounds.quiet, rounds.count, LEAST_ROUNDS, quiet);
    for (int32_t i = 0; i < rounds.count && status == YK_OK; i++) {
        if (quiet[i]) {
            status = yk_layer_times_add(surveying->times, rounds.op_s + i * ops);
        }
    }
    free(rounds.op_s);
    return status;
}

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
            ranks++;
        }
    }
    mean.value /= ranks;
    return mean;
}

/* The last row of what is gathered. */
static yk_status add_context(const struct surveying *surveying, int32_t rank, const char *device,
                             const double *all)
{
    const int32_t rows = surveying->times->count + 1;
    const struct yk_survey_fact row = {
        .fact = {.subject = device, .fact = YK_PROFILE_CONTEXT},
        .measurement = mean_of(surveying, rank, all, rows, rows - 1),
    };
    return row.measurement.value > 0 ? yk_survey_add_fact(surveying->survey, &row) : YK_OK;
}

static yk_status add_device(const struct surveying *surveying, int32_t rank, const double *all)
{
    const struct yk_layer_times *times = surveying->times;
    const struct yk_device *device = &surveying->wish->cluster->devices[rank];
    char name[YK_SUBJECT_SIZE];
    if (!yk_subject_device(device, name)) {
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
    return add_context(surveying, rank, name, all);
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
    }
    own[(int64_t)times->count * NUMBERS] = surveying->context_bytes;
    own[(int64_t)times->count * NUMBERS + 2] = 1;
    YK_TRY(yk_measure_gather(surveying->team, own, (times->count + 1) * NUMBERS, all));
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

/* What this process holds besides what it trains. */
static double context_of(const struct surveying *surveying)
{
    return fmax(surveying->wish->held_bytes() - yk_rehearsal_bytes(surveying->rehearsal), 0);
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

static yk_status measure(struct surveying *surveying)
{
    const struct yk_survey_wish *wish = surveying->wish;
    int64_t batches[MOST_BATCHES];
    const struct yk_rehearsal_wish rehearsal = {
        .config = wish->config,
        .workload = wish->workload,
        .batches = batches,
        .batch_count = list_batches(wish->workload.batch, batches),
        .slowness = wish->slowness,
    };
    const double began_s = yk_clock_now_s();
    YK_TRY(open_device(surveying));
    YK_TRY(yk_rehearsal_create(&rehearsal, surveying->alone, &surveying->team->engine,
                               &surveying->rehearsal));
    YK_TRY(yk_layer_times_create(yk_rehearsal_program(surveying->rehearsal), batches,
                                 rehearsal.batch_count, &surveying->times));
    YK_TRY(time_layers(surveying, began_s));
    surveying->context_bytes = context_of(surveying);
    YK_TRY(gather_all(surveying));
    YK_TRY(yk_survey_keep(surveying->survey));
    return surveying->team->ranks->size > 1 && !surveying->survey->stopped
               ? yk_survey_beside(surveying->survey, surveying->team, wish, surveying->rehearsal)
               : YK_OK;
}

yk_status yk_survey_layers(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_wish *wish)
{
    struct surveying surveying = {.survey = survey, .team = team, .wish = wish};
    const yk_status status = measure(&surveying);
    yk_layer_times_destroy(surveying.times);
    yk_rehearsal_destroy(surveying.rehearsal);
    yk_cluster_destroy(surveying.alone);
    return status;
}
