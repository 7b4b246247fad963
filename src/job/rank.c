#include "job/rank.h"

#include "base/number.h"

#include <inttypes.h>
#include <string.h>

yk_status yk_rank_detect(const struct yk_rank_options *place, struct yk_launcher *out)
{
    const bool some = place->rank >= 0 || place->world > 0 || place->master;
    if (!some) {
        return yk_launcher_detect(out);
    }
    if (place->rank < 0 || place->world == 0 || !place->master) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank, --world and --master go together, as in --rank 1 --world 3 "
                       "--master node1:29500; --%s is missing",
                       place->rank < 0     ? "rank"
                       : place->world == 0 ? "world"
                                           : "master");
    }
    struct yk_launcher started;
    if (yk_launcher_detect(&started) == YK_OK && started.size > 1 && !started.uses_rendezvous) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank is for processes that were started by hand, but %s started these; "
                       "leave --rank, --world and --master out",
                       started.name);
    }
    return yk_launcher_from_options(place->rank, place->world, place->master, out);
}

yk_status yk_rank_must_start_ranks(const struct yk_launcher *launcher, int64_t ranks, bool *out)
{
    if (launcher->name && strcmp(launcher->name, "hand") == 0 && ranks > 0) {
        return yk_fail(YK_ERROR_USAGE, "--ranks starts processes here, and --rank is one that was "
                                       "started by hand; leave one of them out");
    }
    if (launcher->name && ranks > 0 && launcher->size != ranks) {
        return yk_fail(
            YK_ERROR_USAGE, "--ranks %" PRId64 ", but %s started %" PRId32 "; leave --ranks out",
            ranks, strcmp(launcher->name, "env") == 0 ? "whoever set WORLD_SIZE" : launcher->name,
            launcher->size);
    }
    *out = !launcher->name && ranks > 1;
    return YK_OK;
}

static const double most_slow = 1000;

static yk_status fail_pair(const char *pair, size_t length)
{
    return yk_fail(YK_ERROR_USAGE,
                   "--slow: \"%.*s\" is not a rank and how many times as long it computes, as in "
                   "1:2.5",
                   (int)length, pair);
}

static yk_status read_pair(const char *pair, size_t length, int32_t ranks, double *factors)
{
    const char *colon = memchr(pair, ':', length);
    int64_t rank = 0;
    double factor = 0;
    if (!colon || !yk_number_parse_integer(pair, (size_t)(colon - pair), &rank) ||
        !yk_number_parse(colon + 1, length - (size_t)(colon + 1 - pair), &factor)) {
        return fail_pair(pair, length);
    }
    if (rank < 0 || rank >= ranks) {
        return yk_fail(YK_ERROR_USAGE, "--slow: there is no rank %lld; ranks are 0 to %d",
                       (long long)rank, (int)ranks - 1);
    }
    if (!(factor >= 1) || factor > most_slow) {
        return yk_fail(YK_ERROR_USAGE, "--slow: rank %lld %g times as long; 1 to %g, please",
                       (long long)rank, factor, most_slow);
    }
    factors[rank] = factor;
    return YK_OK;
}

yk_status yk_rank_parse_slowdowns(const char *word, int32_t ranks, struct yk_arena *arena,
                                  double **out)
{
    double *factors = NULL;
    YK_TRY_NEW(arena, factors, ranks);
    for (int32_t i = 0; i < ranks; i++) {
        factors[i] = 1;
    }
    while (word) {
        const size_t length = strcspn(word, ",");
        YK_TRY(read_pair(word, length, ranks, factors));
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    *out = factors;
    return YK_OK;
}
