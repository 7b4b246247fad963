#include "measure/survey/copies.h"

#include "base/arena.h"
#include "comm/exchange.h"
#include "cost/profile_key.h"
#include "measure/timings.h"

#include <string.h>

enum {
    SMALLEST = 4 << 10,
    LARGEST = 64 << 20,
    FACTOR = 4,
    MOST_SIZES = 16,
    WAYS = 2,
    ROWS = WAYS * MOST_SIZES,
    WARM_UP_ROUNDS = 1,
    ROUNDS = 15,
    NUMBERS = 3, /* of a measurement, as they are gathered */
};

struct copying {
    struct yk_survey *survey;
    const struct yk_measure_ranks *team;
    const struct yk_survey_request *wish;
    int64_t sizes[MOST_SIZES];
    int32_t size_count;
    void *host;   /* (the largest) */
    void *device; /* (the largest) */
    struct yk_backend_lane *lane;
    struct yk_backend_event *begin;
    struct yk_backend_event *end;
    struct yk_timings timings[WAYS][MOST_SIZES];
    double own[ROWS * NUMBERS];
    double *all; /* (ranks, rows, NUMBERS) */
};

static const char *const ways[WAYS] = {YK_PROFILE_KEY_TO_DEVICE, YK_PROFILE_KEY_FROM_DEVICE};

static void list_sizes(struct copying *copying, int64_t most_bytes)
{
    for (int64_t bytes = SMALLEST; copying->size_count < MOST_SIZES; bytes *= FACTOR) {
        copying->sizes[copying->size_count++] = bytes;
        if (bytes >= most_bytes) {
            break;
        }
    }
}

/* ---- measuring ---- */

static yk_status open_copies(struct copying *copying)
{
    const struct yk_engine *engine = &copying->team->engine;
    const size_t bytes = (size_t)copying->sizes[copying->size_count - 1];
    YK_TRY(engine->backend->allocate_host(engine->device, bytes, &copying->host));
    YK_TRY(engine->backend->allocate(engine->device, bytes, &copying->device));
    YK_TRY(engine->backend->lane_create(engine->device, "copies", &copying->lane));
    YK_TRY(engine->backend->event_create(engine->device, &copying->begin));
    YK_TRY(engine->backend->event_create(engine->device, &copying->end));
    /* Every page is there before its copies are timed. */
    memset(copying->host, 1, bytes);
    return YK_OK;
}

static void close_copies(struct copying *copying)
{
    const struct yk_engine *engine = &copying->team->engine;
    for (int way = 0; way < WAYS; way++) {
        for (int32_t i = 0; i < MOST_SIZES; i++) {
            yk_timings_free(&copying->timings[way][i]);
        }
    }
    engine->backend->event_destroy(copying->end);
    engine->backend->event_destroy(copying->begin);
    engine->backend->lane_destroy(copying->lane);
    engine->backend->free(engine->device, copying->device);
    engine->backend->free_host(engine->device, copying->host);
}

static yk_status take(struct copying *copying, int way, int32_t size, double *out)
{
    const struct yk_backend *backend = copying->team->engine.backend;
    void *to = way == 0 ? copying->device : copying->host;
    const void *from = way == 0 ? copying->host : copying->device;
    backend->event_record(copying->lane, copying->begin);
    backend->copy(copying->lane, to, from, (size_t)copying->sizes[size]);
    backend->event_record(copying->lane, copying->end);
    YK_TRY(backend->lane_synchronize(copying->lane));
    *out = backend->event_time_s(copying->end) - backend->event_time_s(copying->begin);
    return YK_OK;
}

/* Every size and both ways in turn, each round begun by all ranks together. */
static yk_status run_round(struct copying *copying, bool counts)
{
    YK_TRY(yk_exchange_barrier(copying->team->ranks));
    for (int32_t i = 0; i < copying->size_count; i++) {
        for (int way = 0; way < WAYS; way++) {
            double seconds = 0;
            YK_TRY(take(copying, way, i, &seconds));
            if (counts) {
                YK_TRY(yk_timings_add(&copying->timings[way][i], seconds));
            }
        }
    }
    return YK_OK;
}

static yk_status run_rounds(struct copying *copying)
{
    const struct yk_survey_callbacks *watch = &copying->wish->watch;
    for (int32_t round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
        bool stops = false;
        YK_TRY(yk_survey_is_stopped(copying->survey, copying->team, copying->wish, &stops));
        if (stops) {
            return YK_OK;
        }
        if (watch->progress) {
            watch->progress(watch->user, "copies", (double)round / (WARM_UP_ROUNDS + ROUNDS));
        }
        YK_TRY(run_round(copying, round >= WARM_UP_ROUNDS));
    }
    return YK_OK;
}

/* ---- rows ---- */

/* The slowest of the ranks whose device has this name. */
static struct yk_profile_measurement slowest_of(const struct copying *copying, const char *name,
                                                int32_t row)
{
    struct yk_profile_measurement slowest = {.versions = copying->wish->versions};
    for (int32_t rank = 0; rank < copying->team->ranks->size; rank++) {
        const double *made = &copying->all[((int64_t)rank * ROWS + row) * NUMBERS];
        char other[YK_PROFILE_KEY_SIZE];
        if (yk_profile_key_host(&copying->wish->cluster->devices[rank], NULL, other) &&
            strcmp(name, other) == 0 && made[0] > slowest.value) {
            slowest.value = made[0];
            slowest.spread = made[1];
            slowest.samples = (int64_t)made[2];
        }
    }
    return slowest;
}

static yk_status add_device(const struct copying *copying, const char *name)
{
    for (int32_t row = 0; row < ROWS; row++) {
        const struct yk_survey_link made = {
            .link = {.link = name, .collective = ways[row / MOST_SIZES], .ranks = 1},
            .bytes = copying->sizes[row % MOST_SIZES],
            .measurement = slowest_of(copying, name, row),
        };
        if (made.measurement.value > 0) {
            YK_TRY(yk_survey_add_link(copying->survey, &made));
        }
    }
    return YK_OK;
}

/* A device of a kind that came before replaces its rows with the same. */
static yk_status add_rows(struct copying *copying)
{
    for (int32_t row = 0; row < ROWS; row++) {
        struct yk_timings *timings = &copying->timings[row / MOST_SIZES][row % MOST_SIZES];
        const struct yk_profile_measurement made =
            yk_timings_summarise(timings, copying->wish->versions);
        double *own = &copying->own[(int64_t)row * NUMBERS];
        own[0] = made.samples > 0 ? made.value : 0;
        own[1] = made.spread;
        own[2] = (double)made.samples;
    }
    YK_TRY(yk_measure_ranks_all_gather(copying->team, copying->own, ROWS * NUMBERS, copying->all));
    for (int32_t rank = 0; rank < copying->team->ranks->size; rank++) {
        char name[YK_PROFILE_KEY_SIZE];
        if (yk_profile_key_host(&copying->wish->cluster->devices[rank], NULL, name)) {
            YK_TRY(add_device(copying, name));
        }
    }
    return yk_survey_save(copying->survey);
}

/* ---- what is known ---- */

/* Whether the profile has every size, both ways, for every device that has a name. */
static yk_status is_known(const struct copying *copying, bool *out)
{
    double known = 1;
    for (int32_t rank = 0; rank < copying->team->ranks->size; rank++) {
        char name[YK_PROFILE_KEY_SIZE];
        const bool named = yk_profile_key_host(&copying->wish->cluster->devices[rank], NULL, name);
        for (int32_t row = 0; named && row < WAYS * copying->size_count; row++) {
            const struct yk_profile_link link = {
                .link = name, .collective = ways[row / copying->size_count], .ranks = 1};
            bool found = yk_survey_has_link(copying->survey, &link, copying->wish->versions);
            if (!found && !copying->wish->again) {
                YK_TRY(yk_survey_knows_link(copying->survey, &link,
                                            copying->sizes[row % copying->size_count],
                                            copying->wish->versions, &found));
            }
            known = found ? known : 0;
        }
    }
    YK_TRY(yk_measure_ranks_max(copying->team, known, &known));
    *out = known > 0;
    return YK_OK;
}

static yk_status measure(struct copying *copying, struct yk_arena *arena)
{
    bool known = false;
    YK_TRY(is_known(copying, &known));
    if (known) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, copying->all, (int64_t)copying->team->ranks->size * ROWS * NUMBERS);
    yk_status status = open_copies(copying);
    if (status == YK_OK) {
        status = run_rounds(copying);
    }
    if (status == YK_OK && !copying->survey->stopped) {
        status = add_rows(copying);
    }
    close_copies(copying);
    return status;
}

yk_status yk_survey_copies_measure(struct yk_survey *survey, const struct yk_measure_ranks *team,
                                   const struct yk_survey_request *wish, int64_t most_bytes)
{
    struct copying copying = {.survey = survey, .team = team, .wish = wish};
    list_sizes(&copying, most_bytes);
    YK_TRY_IN_ARENA(arena, measure(&copying, arena));
    return YK_OK;
}

yk_status yk_survey_copies(struct yk_survey *survey, const struct yk_measure_ranks *team,
                           const struct yk_survey_request *wish)
{
    /* All of them or none: they wait for each other. */
    double lacking = 0;
    YK_TRY(yk_measure_ranks_max(team, team->engine.backend->used_bytes ? 0 : 1, &lacking));
    return lacking > 0 ? YK_OK : yk_survey_copies_measure(survey, team, wish, LARGEST);
}
