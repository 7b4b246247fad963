#include "measure/measuring_ranks.h"

#include "base/hash.h"
#include "comm/host_collective.h"

#include <string.h>

yk_status yk_measuring_ranks_all_gather(const struct yk_measuring_ranks *team, const double *own,
                                        int32_t count, double *out)
{
    const int64_t all = (int64_t)team->host_communicator->size * count;
    memset(out, 0, (size_t)all * sizeof *out);
    memcpy(out + (int64_t)team->host_communicator->rank * count, own, (size_t)count * sizeof *own);
    return yk_host_collective_all_reduce_sum(team->host_communicator, out, all);
}

yk_status yk_measuring_ranks_all_reduce_max(const struct yk_measuring_ranks *team, double own,
                                            double *out)
{
    double max = own;
    YK_TRY(yk_host_collective_all_reduce_max(team->host_communicator, &max, 1));
    *out = max;
    return YK_OK;
}

yk_status yk_measuring_ranks_texts_differ(const struct yk_measuring_ranks *team, const char *text,
                                          bool *out)
{
    const double own = (double)(yk_hash_bytes(text, strlen(text)) >> 12); /* exact */
    double max = 0;
    double min = 0;
    YK_TRY(yk_measuring_ranks_all_reduce_max(team, own, &max));
    YK_TRY(yk_measuring_ranks_all_reduce_max(team, -own, &min));
    *out = max != -min;
    return YK_OK;
}
