/* Search: the time limit, the progress callback and the stop flag of a search. */
#ifndef YOKE_SEARCH_H
#define YOKE_SEARCH_H

#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A flag that stops a search early. The search then returns the best result that it has found. */
typedef struct yoke_stop yoke_stop;

YOKE_API yoke_status yoke_stop_create(yoke_stop **out) YOKE_MUST_USE;
YOKE_API void yoke_stop_destroy(yoke_stop *stop);

/* Sets the flag. Any thread and any signal handler may call this function. */
YOKE_API void yoke_stop_raise(yoke_stop *stop);

/* Clears the flag, so that it can be used for another search. */
YOKE_API void yoke_stop_lower(yoke_stop *stop);

/* A progress callback. The thread that runs the search calls it from time to time. `what` is the
 * current activity, `done` is the fraction of the work that is done, 0 to 1. */
typedef void (*yoke_progress)(void *user, const char *what, double done);

/* Filled by the caller. The stop flag must outlive all searches that use it. */
struct yoke_search {
    double budget_s; /* limit of the wall clock time; 0 means: the default of the command line */
    int64_t moves;   /* stop after this many plans or annealing moves, not after `budget_s`. The
                        result is then reproducible. 0 means: use `budget_s`. The method "milp"
                        (yoke/order.h) always uses `budget_s` */
    uint64_t seed;   /* seed of the random numbers; 0 means: 1 */
    yoke_progress progress; /* may be NULL */
    void *progress_user;
    const yoke_stop *stop; /* may be NULL */
};

#ifdef __cplusplus
}
#endif

#endif
