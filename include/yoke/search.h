/* Search: how long something may be looked for, who is told how far it is, and how to stop it. */
#ifndef YOKE_SEARCH_H
#define YOKE_SEARCH_H

#include <stdint.h>
#include <yoke/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A flag that ends searches early: they return the best they have. */
typedef struct yoke_stop yoke_stop;

YOKE_API yoke_status yoke_stop_create(yoke_stop **out) YOKE_MUST_USE;
YOKE_API void yoke_stop_destroy(yoke_stop *stop);

/* Raises the flag. Any thread may, and a signal handler. */
YOKE_API void yoke_stop_raise(yoke_stop *stop);

/* Takes it back, for the next search. */
YOKE_API void yoke_stop_lower(yoke_stop *stop);

/* Called now and then by the thread that searches, with what it does and the part that is done, 0
 * to 1. */
typedef void (*yoke_progress)(void *user, const char *what, double done);

/* Filled by the caller. The flag must outlive all searches that were given it. */
struct yoke_search {
    double budget_s; /* wall clock; 0: what the command line takes */
    int64_t moves;   /* look at so many plans, or anneal for so many moves, whatever the time: the
                        result is the same everywhere; 0: by time */
    uint64_t seed;   /* of random numbers; 0: 1 */
    yoke_progress progress; /* NULL: nobody is told */
    void *progress_user;
    const yoke_stop *stop; /* NULL: it is not stopped */
};

#ifdef __cplusplus
}
#endif

#endif
