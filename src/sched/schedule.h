/*
 * Schedule: which device runs each task, and when.
 *
 * A schedule owns its arrays and refers to its graph, which must outlive it. Times are ticks of the
 * graph. A schedule is not thread-safe: yk_schedule_list_device_tasks() allocates memory in it.
 */
#ifndef YK_SCHED_SCHEDULE_H
#define YK_SCHED_SCHEDULE_H

#include "base/status.h"
#include "graph/graph.h"

struct yk_schedule {
    const struct yk_graph *graph;
    struct yk_arena *arena;
    int32_t *devices;    /* (n) the device of each task */
    int64_t *starts;     /* (n) */
    int64_t *finishes;   /* (n) */
    int32_t *order;      /* (n) the tasks in the order of placement, which is topological */
    int64_t makespan;    /* the latest finish */
    int64_t lower_bound; /* proved by the scheduler; 0: it proves nothing */
};

yk_status yk_schedule_create(const struct yk_graph *graph, struct yk_schedule **out) YK_MUST_USE;
void yk_schedule_destroy(struct yk_schedule *schedule);

/* Copies the arrays, (n) each, into the schedule. */
void yk_schedule_fill(struct yk_schedule *schedule, const int32_t *order, const int32_t *devices,
                      const int64_t *starts, const int64_t *finishes);

/* Copies the content of `from` to `to`. Both must belong to the same graph. */
void yk_schedule_copy(const struct yk_schedule *from, struct yk_schedule *to);

/* The number of devices that run at least one task. */
int32_t yk_schedule_count_used_devices(const struct yk_schedule *schedule);

/* The tasks of each device, sorted by start. */
struct yk_schedule_device_tasks {
    int32_t *tasks; /* (n) */
    int32_t *first; /* (P + 1) device p runs tasks [first[p], first[p + 1]) */
};

/* Lists the tasks of each device. The arrays live as long as the schedule. */
yk_status yk_schedule_list_device_tasks(struct yk_schedule *schedule,
                                        struct yk_schedule_device_tasks *out) YK_MUST_USE;

/* Sorts `tasks` by device, start, finish and position in `tasks`. `devices` of NULL means: ignore
 * the device. If `tasks` is in a topological order, the tasks of each device are so afterwards too,
 * because tasks of duration 0 come first and keep their order. */
yk_status yk_schedule_sort_tasks_by_start(const int32_t *devices, const int64_t *starts,
                                          const int64_t *finishes, int32_t *tasks,
                                          int32_t count) YK_MUST_USE;

/*
 * Memory of a schedule. A device holds
 *   - for the whole schedule: the resident bytes of its groups, and the shared stores they use;
 *   - while a task runs: the memory of the task;
 *   - from the start of a task to the finish of the consumer: the resident bytes of each outgoing
 *     edge. If the consumer runs on another device, that device holds them too, from the finish of
 *     the producer.
 * Intervals contain their start, but not their end. Nothing is evicted.
 */

/* Computes the peak bytes of each device. `out` has one entry per device. */
yk_status yk_schedule_memory_peaks(const struct yk_schedule *schedule, int64_t *out) YK_MUST_USE;

/* Fails with YK_ERROR_NO_FIT if the peak of a device exceeds its memory. The error message names
 * the device and the missing bytes. */
yk_status yk_schedule_memory_check(const struct yk_schedule *schedule) YK_MUST_USE;

/* The reason why a task did not start earlier. */
enum yk_task_wait_reason {
    YK_TASK_WAIT_NONE,      /* it starts at time 0 */
    YK_TASK_WAIT_DATA,      /* its last input arrived at its start */
    YK_TASK_WAIT_DEVICE,    /* its device finished another task at its start */
    YK_TASK_WAIT_MEMORY,    /* another task freed memory of its device at its start */
    YK_TASK_WAIT_SCHEDULER, /* none of these: the scheduler chose a later start */
};

struct yk_task_wait {
    enum yk_task_wait_reason reason;
    int32_t task;    /* the task that sent the data, used the device or held its memory; or -1 */
    int32_t edge;    /* YK_TASK_WAIT_DATA: the edge whose data arrived last; otherwise -1 */
    int64_t arrival; /* ticks; the time when all inputs were present and the device was free */
};

/* Finds the reason for each task. `out` has one entry per task. */
yk_status yk_task_wait_explain(struct yk_schedule *schedule, struct yk_task_wait *out) YK_MUST_USE;

#endif
