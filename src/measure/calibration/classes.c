#include "measure/calibration/rows.h"

#include "base/array.h"
#include "cost/profile_key.h"

#include <math.h>
#include <string.h>

/* What one number stands for, whatever the op's own name. */
static enum yk_op_kind kind_of(const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_RECOMPUTE:
        return YK_OP_FORWARD;
    case YK_OP_RECV:
        return YK_OP_SEND;
    case YK_OP_AGREE:
        return YK_OP_ALL_REDUCE;
    default:
        return op->kind;
    }
}

static yk_status keep_name(const struct yk_calibration_state *calibrating, const char *name,
                           const char **out)
{
    *out = yk_arena_copy_text(calibrating->arena, name, strlen(name));
    return *out ? YK_OK : yk_fail_out_of_memory();
}

static void describe_pass(const struct yk_calibration_state *calibrating, int32_t rank,
                          const struct yk_op *op, struct yk_calibration_class *out)
{
    const struct yk_program *program = calibrating->wish->program;
    const bool updates = op->kind == YK_OP_UPDATE;
    const int32_t number = updates ? program->layers[op->layer].leader : op->layer;
    const struct yk_layer *layer = &yk_model_sizes_whole_batch(program->sizes)->layers[number];
    out->layer = layer->kind;
    out->shape = layer->shape;
    out->size = updates ? 0 : op->samples;
    out->device = program->plan->ranks[rank].device;
}

/* A message is known by the link, the collective and its bytes, were all parts as large as the
 * largest: as cost looks it up. */
static void describe_message(const struct yk_calibration_state *calibrating, int32_t rank,
                             const struct yk_op *op, char name[YK_PROFILE_KEY_SIZE],
                             struct yk_calibration_class *out)
{
    const struct yk_plan *plan = calibrating->wish->program->plan;
    const struct yk_cluster *cluster = calibrating->wish->program->cluster;
    int32_t from = plan->ranks[rank].device;
    int32_t to = op->peer >= 0 ? plan->ranks[op->peer].device : from;
    double bytes = op->bytes;
    out->ranks = 2;
    if (out->kind != YK_OP_SEND) {
        const struct yk_ring *ring =
            &calibrating->rings[op->kind == YK_OP_AGREE ? plan->group_count : op->group];
        const int32_t n = ring->ranks.count;
        const double largest = out->kind == YK_OP_ALL_REDUCE ? 0 : bytes * ring->largest_part;
        const double part_bytes = n > 0 ? fmax(bytes / n, largest) : 0;
        double round_s = 0;
        const int32_t slowest =
            n > 0 ? yk_communication_slowest_rank(cluster, &ring->ranks, part_bytes, &round_s) : 0;
        from = n > 0 ? ring->ranks.devices[slowest] : from;
        to = n > 0 ? ring->ranks.devices[(slowest + 1) % n] : to;
        bytes = part_bytes * n;
        out->ranks = n;
    }
    out->device = from;
    out->size = (int64_t)llround(bytes);
    out->is_known = yk_profile_key_link(cluster, calibrating->wish->program->facts, from, to, name);
}

static bool are_same(const struct yk_calibration_class *a, const struct yk_calibration_class *b)
{
    const bool same_shape =
        a->shape && b->shape ? strcmp(a->shape, b->shape) == 0 : a->shape == b->shape;
    return a->kind == b->kind && a->size == b->size && a->ranks == b->ranks && same_shape &&
           strcmp(a->on, b->on) == 0;
}

/* Devices that are different parts of one kind have different times. */
static bool is_like(const struct yk_calibration_state *calibrating,
                    const struct yk_calibration_class *a, const struct yk_calibration_class *b)
{
    const struct yk_device *devices = calibrating->wish->program->cluster->devices;
    return are_same(a, b) && (a->ranks > 0 || devices[a->device].part == devices[b->device].part);
}

static bool takes_time(const struct yk_op *op)
{
    switch (op->kind) {
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        return op->samples > 0;
    case YK_OP_LOAD:
    case YK_OP_RELEASE:
        return false;
    case YK_OP_UPDATE:
        return true;
    default:
        return op->match != YK_NO_MATCH && op->bytes > 0;
    }
}

yk_status yk_calibration_class_of(struct yk_calibration_state *calibrating, int32_t rank,
                                  const struct yk_op *op, int32_t *out)
{
    struct yk_calibration *made = calibrating->out;
    const struct yk_cluster *cluster = calibrating->wish->program->cluster;
    struct yk_calibration_class sort = {.kind = kind_of(op),
                                        .versions = calibrating->wish->spent->ranks[rank].versions};
    char name[YK_PROFILE_KEY_SIZE];
    *out = -1;
    if (!takes_time(op)) {
        return YK_OK;
    }
    if (op->match != YK_NO_MATCH) {
        describe_message(calibrating, rank, op, name, &sort);
        if (sort.ranks < 2) {
            return YK_OK;
        }
    } else {
        describe_pass(calibrating, rank, op, &sort);
        sort.is_known = yk_profile_key_device_type(&cluster->devices[sort.device], name);
    }
    sort.on = sort.is_known ? name : cluster->devices[sort.device].name;
    for (int32_t i = 0; i < made->sort_count; i++) {
        if (is_like(calibrating, &made->sorts[i], &sort)) {
            *out = i;
            return YK_OK;
        }
    }
    YK_TRY(keep_name(calibrating, sort.on, &sort.on));
    YK_TRY(
        yk_array_grow((void **)&made->sorts, &made->sort_capacity, made->sort_count, sizeof sort));
    *out = made->sort_count;
    made->sorts[made->sort_count++] = sort;
    return YK_OK;
}
