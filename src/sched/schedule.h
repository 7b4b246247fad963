/*
 * Schedule: the device and the start of each task.
 *
 * A schedule owns its arrays and refers to its graph, which must outlive the schedule. Times are
 * ticks of the graph. In the comments below, n is the number of tasks and P the number of devices.
 * A schedule is not thread-safe, because yk_schedule_list_device_tasks() allocates memory in it.
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
    int32_t *order;      /* (n) the tasks in the order of their placement, a topological order */
    int64_t makespan;    /* latest finish of a task */
    int64_t lower_bound; /* lower bound of the makespan, proved by the scheduler; 0 means: none */
};

yk_status yk_schedule_create(const struct yk_graph *graph, struct yk_schedule **out) YK_MUST_USE;
void yk_schedule_destroy(struct yk_schedule *schedule);

/* Like yk_schedule_create(), but fills the struct `out` of the caller. The arrays live in `arena`.
 */
yk_status yk_schedule_create_in_arena(const struct yk_graph *graph, struct yk_arena *arena,
                                      struct yk_schedule *out) YK_MUST_USE;

/* Copies the content of `from` to `to`. Both must belong to the same graph. */
void yk_schedule_copy(const struct yk_schedule *from, struct yk_schedule *to);

/* Returns the number of devices that run at least one task. */
int32_t yk_schedule_count_used_devices(const struct yk_schedule *schedule);

/* The tasks of each device, sorted by start. */
struct yk_schedule_device_tasks {
    int32_t *tasks; /* (n) */
    int32_t *first; /* (P + 1) device p runs tasks[first[p]] to tasks[first[p + 1] − 1] */
};

/* Lists the tasks of each device. The arrays live as long as the schedule. */
yk_status yk_schedule_list_device_tasks(struct yk_schedule *schedule,
                                        struct yk_schedule_device_tasks *out) YK_MUST_USE;

/* Sorts `tasks` by device, then by start, then by finish, then by position in `tasks`. If `devices`
 * is NULL, ignores the device. If `tasks` was in a topological order, the tasks of each device
 * still are, because tasks of duration 0 come before other tasks with the same start and keep their
 * order. */
yk_status yk_schedule_sort_tasks_by_start(const int32_t *devices, const int64_t *starts,
                                          const int64_t *finishes, int32_t *tasks,
                                          int32_t count) YK_MUST_USE;

/*
 * Memory of a schedule. A device holds
 *   - for the whole schedule: the resident bytes of its groups, and the shared stores that these
 *     groups use;
 *   - while a task runs: the memory of the task;
 *   - from the start of a task to the finish of a consumer: the resident bytes of the edge to this
 *     consumer. If the consumer runs on another device, this other device holds them too, from the
 *     finish of the producer to the finish of the consumer.
 * Intervals contain their start, but not their end. Data is never evicted.
 */

/* Computes the peak memory of each device, in bytes. `out` has one element per device. */
yk_status yk_schedule_compute_memory_peaks(const struct yk_schedule *schedule,
                                           int64_t *out) YK_MUST_USE;

/* Fails with YK_ERROR_NO_FIT if the peak of a device exceeds its memory. The error message contains
 * the name of the device and the missing bytes. */
yk_status yk_schedule_check_memory_limits(const struct yk_schedule *schedule) YK_MUST_USE;

/* The reason why a task did not start earlier. */
enum yk_task_wait_reason {
    YK_TASK_WAIT_NONE,      /* the task starts at time 0 */
    YK_TASK_WAIT_DATA,      /* the task starts when its last input arrives */
    YK_TASK_WAIT_DEVICE,    /* the task starts when its device finishes the previous task */
    YK_TASK_WAIT_MEMORY,    /* the task starts when another task frees memory of the same device */
    YK_TASK_WAIT_SCHEDULER, /* none of the other reasons: the scheduler chose a later start */
};

struct yk_task_wait {
    enum yk_task_wait_reason reason;
    int32_t task; /* task that sent the data, used the device or held the memory; -1 means: none */
    int32_t edge; /* for YK_TASK_WAIT_DATA: edge whose data arrived last; otherwise -1 */
    int64_t arrival; /* first time when all inputs had arrived and the device was free, in ticks */
};

/* Finds, for each task, the reason why it did not start earlier. `out` has one element per task. */
yk_status yk_task_wait_find_reasons(struct yk_schedule *schedule,
                                    struct yk_task_wait *out) YK_MUST_USE;

#endif
