/* Fixture schedule: schedules whose every number is known from outside the code under test. */
#ifndef YK_TESTS_FIXTURE_SCHEDULE_H
#define YK_TESTS_FIXTURE_SCHEDULE_H

#include "graph/graph.h"
#include "sched/schedule.h"

#include <stdint.h>

struct fixture_schedule {
    struct yk_graph *graph;
    struct yk_schedule *schedule;
};

/* The ten tasks on three processors of the HEFT paper (Topcuoglu, Hariri, Wu, 2002), with the
 * schedule it gives: length 80. */
struct fixture_schedule fixture_heft_paper(void);

/* One task after another on the first of two devices, each of the length given; no edges. The name
 * of task i is `names[i]`, or its number where `names` is NULL. */
struct fixture_schedule fixture_row(const double *lengths, int32_t count, const char *const *names,
                                    const char *device_name);

void fixture_free(struct fixture_schedule *fixture);

#endif
