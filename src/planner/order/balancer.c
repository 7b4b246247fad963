#include "planner/order/draft.h"

#include <math.h>

enum {
    SCATTER,
    GATHER,
    MAX_LABELS = 16, /* of a slot */
    MAX_MOVERS = 16,
    START = -1, /* no block has arrived yet */
    WORD_BITS = 64,
};

/* A partial path that ends with a block arriving in a slot. */
struct label {
    double change_s; /* change of the step time by the slots before */
    double block_s;  /* of the arriving block */
    int32_t op;      /* of the arriving block */
    int32_t reach;   /* number of slots it could move further */
    int32_t before;  /* label of the previous slot, or START */
};

/* A block that may move to the next slot. */
struct mover {
    double block_s;
    int32_t op;
    int32_t reach;
};

/* The non-dominated labels of a slot. */
struct labels {
    int32_t max;
    int32_t count;
    struct label of[MAX_LABELS];
};

struct yk_transfer_order_balancer {
    double tolerance_s;    /* smaller gains are ignored */
    struct labels *labels; /* (slots) by distance from the start */
    int64_t work;          /* labels that may still be examined */
    int64_t moves;         /* paths followed so far */
    int64_t *tried;        /* (slots) value of `moves` when no path from the slot was found */
};

struct path {
    struct yk_transfer_order_draft *state;
    struct labels *labels;
    int32_t start;
    int32_t direction;
    int32_t costly;  /* the kind that needs memory where it arrives; the other kind frees it */
    int32_t length;  /* of the best path so far */
    int32_t label;   /* at its end */
    double change_s; /* of the step time by the best path */
    double tolerance_s;
};

yk_status yk_transfer_order_balancer_create(const struct yk_transfer_order_draft *state,
                                            struct yk_arena *arena,
                                            struct yk_transfer_order_balancer **out)
{
    struct yk_transfer_order_balancer *balancer = NULL;
    YK_TRY_NEW(arena, balancer, 1);
    YK_TRY_NEW(arena, balancer->labels, state->slots);
    YK_TRY_NEW(arena, balancer->tried, state->slots);
    double compute_s = 0;
    for (int32_t t = 0; t < state->slots; t++) {
        compute_s += state->problem->compute_s[t];
    }
    balancer->tolerance_s = 1e-9 * (compute_s + yk_transfer_order_draft_step_s(state));
    *out = balancer;
    return YK_OK;
}

/* The change of the slot's time if its load changes by `more_s`. */
static double change_s(const struct yk_transfer_order_draft *state, int32_t slot, double more_s)
{
    const double compute_s = state->problem->compute_s[slot];
    return fmax(compute_s, state->load_s[slot] + more_s) - fmax(compute_s, state->load_s[slot]);
}

static int32_t kind_of(int32_t op)
{
    return yk_transfer_order_op_is_all_gather(op) ? GATHER : SCATTER;
}

static bool has_room(const struct path *path, int32_t slot, int32_t arriving, int32_t leaving)
{
    const struct yk_transfer_order_draft *state = path->state;
    double used_bytes = state->used_bytes[slot];
    if (arriving >= 0 && kind_of(arriving) == path->costly) {
        used_bytes += state->ops[arriving].block_bytes;
    } else {
        return true;
    }
    if (leaving >= 0 && kind_of(leaving) != path->costly) {
        used_bytes -= state->ops[leaving].block_bytes;
    }
    return used_bytes <= state->limit_bytes[slot];
}

/* Whether `a` dominates `b`. */
static bool beats(const struct label *a, const struct label *b, double tolerance_s)
{
    return kind_of(a->op) == kind_of(b->op) && a->change_s <= b->change_s + tolerance_s &&
           a->block_s <= b->block_s + tolerance_s &&
           (a->reach >= b->reach || a->change_s < b->change_s - tolerance_s ||
            a->block_s < b->block_s - tolerance_s);
}

static void add_label(struct labels *labels, const struct label *label, double tolerance_s)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < labels->count; i++) {
        if (beats(&labels->of[i], label, tolerance_s)) {
            return;
        }
    }
    for (int32_t i = 0; i < labels->count; i++) {
        if (!beats(label, &labels->of[i], tolerance_s)) {
            labels->of[kept++] = labels->of[i];
        }
    }
    labels->count = kept;
    if (kept < labels->max) {
        labels->of[labels->count++] = *label;
        return;
    }
    /* Replaces the label with the smallest gain. */
    int32_t worst = 0;
    for (int32_t i = 1; i < kept; i++) {
        worst = labels->of[i].change_s > labels->of[worst].change_s ? i : worst;
    }
    if (label->change_s < labels->of[worst].change_s) {
        labels->of[worst] = *label;
    }
}

static int32_t slot_at(const struct path *path, int32_t distance)
{
    return yk_transfer_order_shift_slot(path->state->slots, path->start,
                                        distance * path->direction);
}

/* Extends the path of label `before`: `mover` leaves the slot at `distance`. */
static void extend_path(struct path *path, int32_t distance, int32_t before,
                        const struct mover *mover)
{
    const struct label *arrived = before == START ? NULL : &path->labels[distance].of[before];
    const int32_t slot = slot_at(path, distance);
    if (arrived && !has_room(path, slot, arrived->op, mover->op)) {
        return;
    }
    const double more_s = (arrived ? arrived->block_s : 0) - mover->block_s;
    const double sum_s = (arrived ? arrived->change_s : 0) + change_s(path->state, slot, more_s);
    if (sum_s < -path->tolerance_s) {
        const struct label label = {sum_s, mover->block_s, mover->op, mover->reach, before};
        add_label(&path->labels[distance + 1], &label, path->tolerance_s);
    }
}

static bool describe_mover(const struct path *path, int32_t slot, int32_t op, struct mover *out)
{
    const double block_s = path->state->ops[op].block_s;
    *out = (struct mover){.op = op, .block_s = block_s};
    return block_s > 0 && yk_transfer_order_draft_may_move_block(path->state, op, slot,
                                                                 path->direction, &out->reach);
}

/* Of blocks of one kind and size, only the one with the longest reach is kept. */
static int32_t add_mover(struct mover *movers, int32_t count, const struct mover *mover)
{
    for (int32_t i = 0; i < count; i++) {
        if (kind_of(movers[i].op) == kind_of(mover->op) && movers[i].block_s == mover->block_s) {
            if (mover->reach > movers[i].reach) {
                movers[i] = *mover;
            }
            return count;
        }
    }
    if (count < MAX_MOVERS) {
        movers[count++] = *mover;
    }
    return count;
}

/* Extends all paths that arrive at `distance`, by each block in the slot or the arriving one. */
static void leave(struct path *path, int32_t distance)
{
    const struct yk_transfer_order_draft *state = path->state;
    const int32_t slot = slot_at(path, distance);
    const uint64_t *present = &state->present[(int64_t)slot * state->word_count];
    struct mover movers[MAX_MOVERS];
    struct mover mover;
    int32_t count = 0;
    for (int32_t w = 0; w < state->word_count; w++) {
        for (uint64_t word = present[w]; word != 0; word &= word - 1) {
            if (describe_mover(path, slot, w * WORD_BITS + __builtin_ctzll(word), &mover)) {
                count = add_mover(movers, count, &mover);
            }
        }
    }
    for (int32_t i = 0; distance == 0 && i < count; i++) {
        extend_path(path, distance, START, &movers[i]);
    }
    for (int32_t at = 0; distance > 0 && at < path->labels[distance].count; at++) {
        for (int32_t i = 0; i < count; i++) {
            extend_path(path, distance, at, &movers[i]);
        }
        if (describe_mover(path, slot, path->labels[distance].of[at].op, &mover)) {
            extend_path(path, distance, at, &mover);
        }
    }
}

/* Ends the path here if that is the best so far; true if no longer path can be better. */
static bool arrive(struct path *path, int32_t distance, int32_t at)
{
    const struct yk_transfer_order_draft *state = path->state;
    const struct label *label = &path->labels[distance].of[at];
    const int32_t slot = slot_at(path, distance);
    if (!has_room(path, slot, label->op, -1)) {
        return false;
    }
    const double last_s = change_s(state, slot, label->block_s);
    if (label->change_s + last_s < path->change_s - path->tolerance_s) {
        path->change_s = label->change_s + last_s;
        path->length = distance;
        path->label = at;
        return last_s <= 0;
    }
    return false;
}

static void find(struct path *path, int64_t *work)
{
    path->labels[1].count = 0;
    leave(path, 0);
    for (int32_t distance = 1; path->labels[distance].count > 0; distance++) {
        const int32_t count = path->labels[distance].count;
        *work -= count;
        for (int32_t at = 0; at < count; at++) {
            if (arrive(path, distance, at)) {
                return;
            }
        }
        if (distance + 1 == path->state->slots) {
            return;
        }
        path->labels[distance + 1].count = 0;
        leave(path, distance);
    }
}

static void follow(const struct path *path)
{
    struct yk_transfer_order_draft *state = path->state;
    int32_t at = path->label;
    for (int32_t distance = path->length; distance > 0; distance--) {
        const struct label *label = &path->labels[distance].of[at];
        yk_transfer_order_draft_move_block(state, label->op, slot_at(path, distance - 1),
                                           path->direction);
        at = label->before;
    }
}

/* Whether the path can be followed again with the same gain. */
static bool serves_again(const struct path *path)
{
    const struct yk_transfer_order_draft *state = path->state;
    double sum_s = 0;
    int32_t at = path->label;
    int32_t leaving = -1;
    double leaving_s = 0;
    for (int32_t distance = path->length; distance >= 0; distance--) {
        const struct label *label = distance > 0 ? &path->labels[distance].of[at] : NULL;
        const int32_t slot = slot_at(path, distance);
        int32_t reach = 0;
        if (leaving >= 0 &&
            ((*yk_transfer_order_draft_block_count_pointer(state, leaving, slot) == 0 &&
              !(label && label->op == leaving)) ||
             !yk_transfer_order_draft_may_move_block(state, leaving, slot, path->direction,
                                                     &reach))) {
            return false;
        }
        if (label && !has_room(path, slot, label->op, leaving)) {
            return false;
        }
        sum_s += change_s(state, slot, (label ? label->block_s : 0) - leaving_s);
        leaving = label ? label->op : -1;
        leaving_s = label ? label->block_s : 0;
        at = label ? label->before : START;
    }
    return sum_s < path->change_s + path->tolerance_s;
}

/* Finds and follows a path from the slot; false if there is none. */
static bool relieve(struct yk_transfer_order_balancer *balancer,
                    struct yk_transfer_order_draft *state, int32_t slot)
{
    if (balancer->work <= 0 || balancer->tried[slot] == balancer->moves ||
        state->load_s[slot] <= state->problem->compute_s[slot] + balancer->tolerance_s) {
        return false;
    }
    for (int32_t direction = -1; direction <= 1; direction += 2) {
        struct path path = {
            .state = state,
            .labels = balancer->labels,
            .start = slot,
            .direction = direction,
            .costly = direction < 0 ? GATHER : SCATTER,
            .tolerance_s = balancer->tolerance_s,
        };
        find(&path, &balancer->work);
        if (path.length > 0) {
            do {
                follow(&path);
            } while (serves_again(&path));
            balancer->moves++;
            return true;
        }
    }
    balancer->tried[slot] = balancer->moves;
    return false;
}

/* Whether some slot has idle link time. */
static bool has_time_to_spare(const struct yk_transfer_order_balancer *balancer,
                              const struct yk_transfer_order_draft *state)
{
    for (int32_t t = 0; t < state->slots; t++) {
        if (state->load_s[t] < state->problem->compute_s[t] - balancer->tolerance_s) {
            return true;
        }
    }
    return false;
}

void yk_transfer_order_balancer_run(struct yk_transfer_order_balancer *balancer,
                                    struct yk_transfer_order_draft *state, int32_t width,
                                    int64_t *work)
{
    bool moved = true;
    balancer->work = *work;
    balancer->moves++; /* invalidates `tried`, which belongs to another order */
    for (int32_t t = 0; t < state->slots; t++) {
        balancer->labels[t].max = width < MAX_LABELS ? width : MAX_LABELS;
    }
    while (moved && has_time_to_spare(balancer, state)) {
        moved = false;
        for (int32_t t = 0; t < state->slots; t++) {
            while (relieve(balancer, state, t)) {
                moved = true;
            }
        }
    }
    *work = balancer->work;
}
