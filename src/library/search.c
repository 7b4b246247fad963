#include "library/library.h"

#include <math.h>
#include <stdlib.h>

yoke_status yoke_stop_create(yoke_stop **out)
{
    YK_LIBRARY_REQUIRE(out);
    yoke_stop *stop = malloc(sizeof *stop);
    if (!stop) {
        return yk_library_status(yk_fail_out_of_memory());
    }
    atomic_init(&stop->raised, false);
    *out = stop;
    return YOKE_OK;
}

void yoke_stop_destroy(yoke_stop *stop)
{
    free(stop);
}

void yoke_stop_raise(yoke_stop *stop)
{
    atomic_store(&stop->raised, true);
}

void yoke_stop_lower(yoke_stop *stop)
{
    atomic_store(&stop->raised, false);
}

yk_status yk_library_search_options(const struct yoke_search *search, double usual_s,
                                    struct yk_scheduler_options *out)
{
    const struct yoke_search given = search ? *search : (struct yoke_search){0};
    if (!isfinite(given.budget_s) || given.budget_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "a search takes 0 seconds or more, not %g", given.budget_s);
    }
    if (given.moves < 0) {
        return yk_fail(YK_ERROR_USAGE, "a search takes 0 moves or more, not %lld",
                       (long long)given.moves);
    }
    *out = (struct yk_scheduler_options){
        .budget_s = given.budget_s > 0 ? given.budget_s : usual_s,
        .moves = given.moves,
        .seed = given.seed > 0 ? given.seed : 1,
        .progress = given.progress,
        .progress_user = given.progress_user,
        .stop = given.stop ? &given.stop->raised : NULL,
    };
    return YK_OK;
}
