/* Treaps with lazy propagation: additions to a subtree wait at its root. */
#include "sched/timeline/device_memory_timeline.h"

#include "base/number.h"
#include "sched/timeline/treap.h"

#include <assert.h>

enum {
    NONE = YK_TREAP_NONE
};

struct step {
    struct yk_treap_links links;
    int64_t time;       /* the step reaches from here to the time of the next one */
    int64_t bytes;      /* without what ancestors still have pending */
    int64_t highest;    /* of the subtree, likewise */
    int64_t pending;    /* to be added to both children's subtrees */
    int64_t first_time; /* of the subtree */
};

struct yk_device_memory_timeline {
    struct step *steps;
    int32_t *roots; /* (P) */
    int32_t device_count;
    int32_t step_count;
    int32_t step_capacity;
};

yk_status yk_device_memory_timeline_create(struct yk_arena *arena, int32_t device_count,
                                           int32_t max_steps,
                                           struct yk_device_memory_timeline **out)
{
    struct yk_device_memory_timeline *usage = NULL;
    YK_TRY_NEW(arena, usage, 1);
    YK_TRY_NEW(arena, usage->roots, device_count);
    usage->device_count = device_count;
    usage->step_capacity = max_steps + device_count;
    YK_TRY_NEW(arena, usage->steps, usage->step_capacity);
    yk_device_memory_timeline_clear(usage);
    *out = usage;
    return YK_OK;
}

static int32_t new_step(struct yk_device_memory_timeline *usage, int64_t time, int64_t bytes)
{
    assert(usage->step_count < usage->step_capacity);
    const int32_t number = usage->step_count++;
    usage->steps[number] = (struct step){
        .time = time,
        .bytes = bytes,
        .highest = bytes,
        .first_time = time,
        .links = {.left = NONE, .right = NONE},
    };
    return number;
}

void yk_device_memory_timeline_clear(struct yk_device_memory_timeline *usage)
{
    usage->step_count = 0;
    for (int32_t p = 0; p < usage->device_count; p++) {
        usage->roots[p] = new_step(usage, 0, 0);
    }
}

static void update(void *all, int32_t number)
{
    struct step *steps = all;
    struct step *step = &steps[number];
    step->highest = step->bytes;
    step->first_time = step->time;
    if (step->links.left != NONE) {
        step->highest = yk_number_max(step->highest, steps[step->links.left].highest);
        step->first_time = steps[step->links.left].first_time;
    }
    if (step->links.right != NONE) {
        step->highest = yk_number_max(step->highest, steps[step->links.right].highest);
    }
}

static void lift(struct step *steps, int32_t number, int64_t bytes)
{
    if (number != NONE) {
        steps[number].bytes += bytes;
        steps[number].highest += bytes;
        steps[number].pending += bytes;
    }
}

static void pass_down(void *all, int32_t number)
{
    struct step *steps = all;
    lift(steps, steps[number].links.left, steps[number].pending);
    lift(steps, steps[number].links.right, steps[number].pending);
    steps[number].pending = 0;
}

static bool is_before(const void *steps, int32_t number, int64_t time)
{
    return ((const struct step *)steps)[number].time < time;
}

static const struct yk_treap_callbacks treap = {
    .node_size = sizeof(struct step),
    .is_before = is_before,
    .update = update,
    .pass_down = pass_down,
};

/* What is held at the end of a tree's last step. */
static int64_t last_bytes(const struct step *steps, int32_t root)
{
    int64_t carried = 0;
    while (steps[root].links.right != NONE) {
        carried += steps[root].pending;
        root = steps[root].links.right;
    }
    return steps[root].bytes + carried;
}

/* Cuts the device's tree at `time`, with a step that begins exactly there. */
static void cut(struct yk_device_memory_timeline *usage, int32_t root, int64_t time,
                int32_t *before, int32_t *after)
{
    struct step *steps = usage->steps;
    yk_treap_split(&treap, steps, root, time, before, after);
    const int64_t next =
        *after == NONE ? YK_DEVICE_MEMORY_TIMELINE_FOREVER : steps[*after].first_time;
    if (time < next) {
        *after =
            yk_treap_join(&treap, steps, new_step(usage, time, last_bytes(steps, *before)), *after);
    }
}

void yk_device_memory_timeline_add_bytes(struct yk_device_memory_timeline *usage, int32_t device,
                                         int64_t from, int64_t until, int64_t bytes)
{
    if (from >= until || bytes == 0) {
        return;
    }
    int32_t before = NONE;
    int32_t within = NONE;
    int32_t after = NONE;
    cut(usage, usage->roots[device], from, &before, &within);
    if (until != YK_DEVICE_MEMORY_TIMELINE_FOREVER) {
        cut(usage, within, until, &within, &after);
    }
    lift(usage->steps, within, bytes);
    usage->roots[device] = yk_treap_join(
        &treap, usage->steps, yk_treap_join(&treap, usage->steps, before, within), after);
}

/* One question about a span of one device. */
struct question {
    const struct step *steps;
    int64_t from;
    int64_t until;
    int64_t limit;
};

/* The end of the last step above the limit in a subtree whose last step ends at `end`, or NONE. */
static int64_t last_above(const struct question *question, int32_t root, int64_t carried,
                          int64_t end)
{
    while (root != NONE) {
        const struct step *step = &question->steps[root];
        if (step->highest + carried <= question->limit) {
            return NONE;
        }
        const int64_t below = carried + step->pending;
        const int64_t own_end =
            step->links.right == NONE ? end : question->steps[step->links.right].first_time;
        if (step->time < question->until) {
            const int64_t found = last_above(question, step->links.right, below, end);
            if (found != NONE || own_end <= question->from) {
                return found;
            }
            if (step->bytes + carried > question->limit) {
                return own_end;
            }
        }
        end = step->time;
        carried = below;
        root = step->links.left;
    }
    return NONE;
}

int64_t yk_device_memory_timeline_excess_end(const struct yk_device_memory_timeline *usage,
                                             int32_t device, int64_t from, int64_t until,
                                             int64_t limit)
{
    if (from >= until) {
        return NONE;
    }
    const struct question question = {usage->steps, from, until, limit};
    return last_above(&question, usage->roots[device], 0, YK_DEVICE_MEMORY_TIMELINE_FOREVER);
}
