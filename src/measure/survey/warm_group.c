#include "measure/survey/warm_group.h"

#include "base/arena.h"

enum {
    MESSAGE_BYTES = 4 << 20, /* for which comms use all that they have */
};

static yk_status exchange_all(struct yk_exchange_times *times)
{
    static const enum yk_exchange_kind kinds[] = {
        YK_EXCHANGE_ALL_GATHER, YK_EXCHANGE_REDUCE_SCATTER, YK_EXCHANGE_ALL_REDUCE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        double seconds = 0;
        YK_TRY(yk_exchange_times_measure(times, kinds[i], MESSAGE_BYTES, &seconds));
    }
    return YK_OK;
}

yk_status yk_exchange_times_create_warm(const struct yk_measure_ranks *team, enum yk_comm_type type,
                                        struct yk_arena *arena, struct yk_exchange_times **out)
{
    struct yk_exchange_times *times = NULL;
    int32_t *ranks = NULL;
    const int32_t count = team->ranks->size;
    *out = NULL;
    if (count == 1 || yk_measure_ranks_use_cores(team)) {
        return YK_OK;
    }
    YK_TRY_NEW(arena, ranks, count);
    for (int32_t i = 0; i < count; i++) {
        ranks[i] = i;
    }
    const struct yk_exchange_times_group party = {ranks, count, type};
    YK_TRY(yk_exchange_times_create(team, &party, MESSAGE_BYTES, &times));
    const yk_status status = exchange_all(times);
    if (status != YK_OK) {
        yk_exchange_times_destroy(times);
        return status;
    }
    *out = times;
    return YK_OK;
}
