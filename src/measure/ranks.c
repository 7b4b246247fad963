#include "measure/ranks.h"

#include "base/hash.h"
#include "comm/exchange.h"

#include <string.h>

yk_status yk_measure_ranks_all_gather(const struct yk_measure_ranks *team, const double *own,
                                      int32_t count, double *out)
{
    const int64_t all = (int64_t)team->ranks->size * count;
    memset(out, 0, (size_t)all * sizeof *out);
    memcpy(out + (int64_t)team->ranks->rank * count, own, (size_t)count * sizeof *own);
    return yk_exchange_sum(team->ranks, out, all);
}

yk_status yk_measure_ranks_max(const struct yk_measure_ranks *team, double own, double *out)
{
    double most = own;
    YK_TRY(yk_exchange_max(team->ranks, &most, 1));
    *out = most;
    return YK_OK;
}

yk_status yk_measure_ranks_differ(const struct yk_measure_ranks *team, const char *words, bool *out)
{
    const double own = (double)(yk_hash_bytes(words, strlen(words)) >> 12); /* exact */
    double most = 0;
    double least = 0;
    YK_TRY(yk_measure_ranks_max(team, own, &most));
    YK_TRY(yk_measure_ranks_max(team, -own, &least));
    *out = most != -least;
    return YK_OK;
}
