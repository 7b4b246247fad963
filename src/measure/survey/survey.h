/*
 * Survey: what ranks measured of their devices and the links between them, ready to be saved in a
 * profile: times of layers and messages, and a few facts. Of the room measure:
 *
 *   ranks           the ranks that measure together
 *   timings         the median of several runs
 *   survey/         survey.h; layers, links and copies measure, exchange_groups and exchange_times
 *                   are the messages among some ranks
 *   benchmark/      steps of a model at several batch sizes, of a part of it where it is too large
 *   slowdown/       of computation by messages and the reverse; idle_speedup, while others idle
 *   calibration     a finished run against its prediction, and what a profile should say instead
 *   counters/       what a device's own counters (GPM, DCGM, NVML, perf) show meanwhile
 *
 * All ranks call the functions that measure, in one order, and each ends with the same survey. Of
 * equal devices the mean counts. Rank 0 has the profile, and saves every measurement when it is
 * whole: when a survey is interrupted, only the current measurement is missing. One thread at a
 * time.
 */
#ifndef YK_MEASURE_SURVEY_SURVEY_H
#define YK_MEASURE_SURVEY_SURVEY_H

#include "base/arena.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "measure/ranks.h"
#include "model/model.h"
#include "profile/profile.h"
#include "train/run.h"

#include <stdbool.h>
#include <stdint.h>

/* Called while it goes on; any may be NULL. */
struct yk_survey_callbacks {
    void *user;
    void (*progress)(void *user, const char *what, double done); /* of 1 */
    bool (*stop)(void *user);                                    /* end with what there is */
    void (*ran)(void *user, const struct yk_round_times *times); /* of every step */
};

struct yk_survey_request {
    const struct yk_model_config *config;
    struct yk_workload workload;      /* its batch: the most samples of a rank at once */
    const struct yk_cluster *cluster; /* a device for each rank, in order */
    double slowness;                  /* of this rank: its ops take so many times as long */
    double seconds;                   /* about as long as the layers may take */
    bool again;                       /* measure what is known already, too */
    double (*held_bytes)(const struct yk_engine *engine); /* what this process holds of the device
                                                             at most, or the device of all */
    const char *versions;
    struct yk_survey_callbacks callbacks;
};

struct yk_survey_layer {
    struct yk_profile_layer layer;
    int64_t batch;
    struct yk_profile_measurement measurement;
    bool kept; /* in the profile */
};

struct yk_survey_link {
    struct yk_profile_link link;
    int64_t bytes;
    struct yk_profile_measurement measurement;
    bool kept;
};

struct yk_survey_fact {
    struct yk_profile_fact fact;
    struct yk_profile_measurement measurement;
    bool kept;
};

/* Starts as {0}. */
struct yk_survey {
    struct yk_arena *arena;     /* owns all texts */
    struct yk_profile *profile; /* of rank 0; NULL: rows are saved nowhere */
    struct yk_survey_layer *layers;
    struct yk_survey_link *links;
    struct yk_survey_fact *facts;
    int32_t layer_count;
    int32_t link_count;
    int32_t fact_count;
    int32_t layer_capacity;
    int32_t link_capacity;
    int32_t fact_capacity;
    int64_t known;  /* numbers that were not measured, since the profile has them */
    int64_t blocks; /* of each kind that were measured instead of all; 0: all */
    int64_t batch;  /* the most samples that fitted; 0: all that were requested */
    bool stopped;   /* by the callback; what is there is whole */
};

yk_status yk_survey_begin(struct yk_survey *survey) YK_MUST_USE;
void yk_survey_free(struct yk_survey *survey);

/* Measures the model's layers, and where there are several ranks, slowdowns. */
yk_status yk_survey_layers(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_request *request) YK_MUST_USE;

/* Measures messages of up to `max_bytes` among all ranks, and from the first to the second. */
yk_status yk_survey_links(struct yk_survey *survey, const struct yk_measure_ranks *team,
                          const struct yk_survey_request *request, int64_t max_bytes) YK_MUST_USE;

/* Measures copies between the host and a device with memory of its own: all ranks at once, as in
 * training, each on a lane of its own; of equal devices the slowest counts. A profile has them as a
 * link (cost/profile_key.h). */
yk_status yk_survey_copies(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_request *request) YK_MUST_USE;

/* Copies of up to `max_bytes` whatever the device. */
yk_status yk_survey_copies_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *request,
                                   int64_t max_bytes) YK_MUST_USE;

/* One more row, whose texts are copied, in place of one of the same layer and batch, link and
 * bytes, or fact. */
yk_status yk_survey_add_layer(struct yk_survey *survey,
                              const struct yk_survey_layer *layer) YK_MUST_USE;
yk_status yk_survey_add_link(struct yk_survey *survey,
                             const struct yk_survey_link *link) YK_MUST_USE;
yk_status yk_survey_add_fact(struct yk_survey *survey,
                             const struct yk_survey_fact *fact) YK_MUST_USE;

/* NULL where it has none. */
const struct yk_survey_fact *yk_survey_find_fact(const struct yk_survey *survey,
                                                 const struct yk_profile_fact *fact);

/* Whether it has a message of any size on the link, measured with these versions. */
bool yk_survey_has_link(const struct yk_survey *survey, const struct yk_profile_link *link,
                        const char *versions);

/* Writes the rows that are not saved yet into any profile, all of them or nothing. */
yk_status yk_survey_write(const struct yk_survey *survey, struct yk_profile *profile) YK_MUST_USE;

/* Writes what is new since the last time into the survey's own, all of it or nothing. */
yk_status yk_survey_save(struct yk_survey *survey) YK_MUST_USE;

/* Whether the profile has the number, measured with these versions. Only rank 0 has a
 * profile: the others say no. */
yk_status yk_survey_knows_layer(const struct yk_survey *survey,
                                const struct yk_profile_layer *layer, int64_t batch,
                                const char *versions, bool *out) YK_MUST_USE;
yk_status yk_survey_knows_link(const struct yk_survey *survey, const struct yk_profile_link *link,
                               int64_t bytes, const char *versions, bool *out) YK_MUST_USE;
yk_status yk_survey_knows_fact(const struct yk_survey *survey, const struct yk_profile_fact *fact,
                               const char *versions, bool *out) YK_MUST_USE;

/* Whether the callback of any rank stops. */
yk_status yk_survey_is_stopped(struct yk_survey *survey, const struct yk_measure_ranks *team,
                               const struct yk_survey_request *request, bool *out) YK_MUST_USE;

/*
 * The upper quartile of the spreads (half the distance between the quartiles, over the median) of
 * the survey's layers and links: three of four varied less. What takes less than 50 us does not
 * count: there clocks and wake-ups vary on every machine. NAN where nothing counts.
 */
double yk_survey_noise(const struct yk_survey *survey);

#endif
