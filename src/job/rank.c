#include "job/rank.h"

#include <inttypes.h>
#include <string.h>

yk_status yk_rank_find(const struct yk_rank_choice *place, struct yk_launcher *out)
{
    const bool some = place->rank >= 0 || place->world > 0 || place->master;
    if (!some) {
        return yk_launcher_find(out);
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
    if (yk_launcher_find(&started) == YK_OK && started.size > 1 && !started.meets) {
        return yk_fail(YK_ERROR_USAGE,
                       "--rank is for processes that were started by hand, but %s started these; "
                       "leave --rank, --world and --master out",
                       started.name);
    }
    return yk_launcher_manual(place->rank, place->world, place->master, out);
}

yk_status yk_rank_decide_launch(const struct yk_launcher *launcher, int64_t ranks, bool *out)
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
