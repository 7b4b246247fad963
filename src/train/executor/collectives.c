#include "train/executor/collectives.h"

#include "train/rank_partitions.h"

struct creation {
    const struct yk_collectives_request *request;
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_parameter_store *store;
    struct yk_arena *arena;
    struct yk_collectives *out;
    int64_t width; /* bytes of a trained parameter */
};

/* The first element of each member's part of a block, counted from the start of the block. `count`
 * is the number of elements of all blocks. */
static yk_status find_firsts(const struct creation *creation, const struct yk_plan_group *group,
                             int64_t count, int32_t blocks, int32_t block, int64_t **out)
{
    const int64_t base = yk_layer_partition_block_start(count, blocks, block);
    const int32_t n = group->member_count;
    YK_TRY_NEW(creation->arena, *out, n + 1);
    for (int32_t i = 0; i <= n; i++) {
        (*out)[i] = yk_layer_partition_fraction_to_element(
                        count, blocks, block, yk_rank_partitions_member_begin_fraction(group, i)) -
                    base;
    }
    return YK_OK;
}

static int32_t blocks_of(const struct creation *creation, int32_t layer)
{
    const int32_t count = creation->program->layers[layer].block_count;
    return count > 1 ? count : 1;
}

static union yk_op_collective *new_collective(const struct creation *creation)
{
    return &creation->out->items[creation->out->count++];
}

/* Adds the all-gather of one block of an array of `count` elements into `whole`. This rank's part
 * is in `part`; NULL: it is already in `whole`. */
static yk_status gather_block(struct creation *creation, int32_t layer, int32_t block,
                              int64_t count, int64_t size,
                              const struct yk_layer_partition_span *span, void *part, void *whole)
{
    const int32_t blocks = blocks_of(creation, layer);
    const int32_t group = creation->plan->layers[layer].group;
    int64_t *firsts = NULL;
    if (count == 0) {
        return YK_OK;
    }
    YK_TRY(find_firsts(creation, &creation->plan->groups[group], count, blocks, block, &firsts));
    new_collective(creation)->all_gather = (struct yk_comm_all_gather){
        .group = creation->out->groups[group],
        .own = part ? (char *)part + span->at * size : (char *)whole + span->first * size,
        .whole = (char *)whole + yk_layer_partition_block_start(count, blocks, block) * size,
        .offsets = firsts,
        .element_bytes = (size_t)size,
    };
    return YK_OK;
}

static yk_status add_gather(struct creation *creation, const struct yk_op *op,
                            const struct yk_op_parameter_buffers *buffers)
{
    const struct yk_parameter_store_layer *kept = &creation->store->layers[op->layer];
    const struct yk_net_layer *layer = &creation->store->net->layers[op->layer];
    const int64_t trained = layer->trained * creation->width;
    const bool sharded = kept->partition.kind == YK_LAYER_PARTITION_FULLY_SHARDED;
    char *whole =
        sharded ? creation->request->memory + creation->request->buffers->offsets[buffers->weights]
                : kept->weights;
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        YK_TRY(gather_block(creation, op->layer, b, layer->trained, creation->width,
                            &kept->spans[b], kept->part, whole));
        if (sharded) { /* frozen weights, by the byte */
            YK_TRY(gather_block(creation, op->layer, b, (int64_t)layer->weight_bytes - trained, 1,
                                &kept->frozen_spans[b], kept->part + kept->frozen_at,
                                whole + trained));
        }
    }
    return YK_OK;
}

/* Whether an earlier reduce-scatter of the same step has already written the block's sum. Within a
 * step, ops of the next round come last. */
static bool is_added(const struct yk_op_list *list, int32_t number, int32_t block)
{
    const struct yk_op *op = &list->ops[number];
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *other = &list->ops[i];
        if (other->kind != YK_OP_REDUCE_SCATTER || other->layer != op->layer ||
            block < other->first_block || block >= other->first_block + other->block_count) {
            continue;
        }
        if (other->step > op->step || (other->step == op->step && i < number)) {
            return true;
        }
    }
    return false;
}

static yk_status add_scatter(struct creation *creation, const struct yk_op_list *list,
                             int32_t number)
{
    const struct yk_op *op = &list->ops[number];
    const struct yk_parameter_store_layer *kept = &creation->store->layers[op->layer];
    const int64_t count = creation->store->net->layers[op->layer].trained;
    const int32_t blocks = blocks_of(creation, op->layer);
    const int32_t group = creation->plan->layers[op->layer].group;
    const struct yk_executor_buffers *buffers = creation->request->buffers;
    char *whole = creation->request->memory + buffers->offsets[buffers->ops[number].gradient];
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        int64_t *firsts = NULL;
        YK_TRY(find_firsts(creation, &creation->plan->groups[group], count, blocks, b, &firsts));
        new_collective(creation)->reduce_scatter = (struct yk_comm_reduce_scatter){
            .group = creation->out->groups[group],
            .whole = whole + yk_layer_partition_block_start(count, blocks, b) * creation->width,
            .own = kept->gradient_part + kept->spans[b].at * creation->width,
            .accumulate = is_added(list, number, b),
            .offsets = firsts,
            .type = yk_comm_data_type_from_precision(creation->store->net->workload.precision),
            .sum_in_fp32 = creation->request->reduce_in_fp32,
        };
    }
    return YK_OK;
}

static struct yk_comm_all_reduce reduce_of(const struct creation *creation, int32_t group,
                                           void *numbers, int64_t count)
{
    return (struct yk_comm_all_reduce){
        .group = creation->out->groups[group],
        .numbers = numbers,
        .count = count,
        .type = yk_comm_data_type_from_precision(creation->store->net->workload.precision),
        .sum_in_fp32 = creation->request->reduce_in_fp32,
    };
}

/* Contiguous gradients of a bucket are reduced together, including the alignment gaps between them,
 * which nothing reads. */
static void add_reduce(struct creation *creation, const struct yk_op *op,
                       const struct yk_op_parameter_buffers *buffers)
{
    const struct yk_gradient_bucket *bucket = &creation->program->buckets[op->bucket];
    struct yk_comm_all_reduce *last = NULL;
    if (buffers->gradient != YK_BUFFER_NONE) {
        new_collective(creation)->all_reduce = reduce_of(
            creation, bucket->group,
            creation->request->memory + creation->request->buffers->offsets[buffers->gradient],
            (int64_t)buffers->reduced_bytes / creation->width);
        return;
    }
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int32_t layer = bucket->layers[i];
        char *begin = creation->store->layers[layer].gradients;
        const int64_t count = creation->store->net->layers[layer].trained;
        const char *end = last ? (const char *)last->numbers + last->count * creation->width : NULL;
        if (last && begin >= end && begin - end < YK_BACKEND_ALIGNMENT) {
            last->count = (begin - (const char *)last->numbers) / creation->width + count;
            continue;
        }
        last = &new_collective(creation)->all_reduce;
        *last = reduce_of(creation, bucket->group, begin, count);
    }
}

static yk_status create_groups(struct creation *creation)
{
    const struct yk_communicator *ranks = creation->request->ranks;
    const struct yk_plan *plan = creation->plan;
    struct yk_collectives *out = creation->out;
    int32_t *members = NULL;
    YK_TRY_NEW(creation->arena, out->groups, plan->group_count);
    out->group_count = plan->group_count;
    YK_TRY_NEW(creation->arena, members, plan->rank_count);
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            members[i] = group->members[i].rank;
        }
        if (group->member_count > 1) {
            YK_TRY(ranks->comm->group_create(ranks->world, members, group->member_count,
                                             &out->groups[g]));
        }
    }
    return YK_OK;
}

static yk_status add_all(struct creation *creation, const struct yk_op_list *list)
{
    const struct yk_op_parameter_buffers *buffers = creation->request->buffers->ops;
    struct yk_collectives *out = creation->out;
    int64_t max =
        0; /* for each block of an all_gather, one for trained and one for frozen weights */
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        max += op->kind == YK_OP_ALL_REDUCE ? creation->program->buckets[op->bucket].layer_count
                                            : 2 * (int64_t)op->block_count;
    }
    YK_TRY_NEW(creation->arena, out->items, max + 1);
    YK_TRY_NEW(creation->arena, out->first, list->op_count + 1);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        if (op->kind == YK_OP_ALL_GATHER) {
            YK_TRY(add_gather(creation, op, &buffers[i]));
        } else if (op->kind == YK_OP_REDUCE_SCATTER) {
            YK_TRY(add_scatter(creation, list, i));
        } else if (op->kind == YK_OP_ALL_REDUCE) {
            add_reduce(creation, op, &buffers[i]);
        }
        out->first[i + 1] = out->count;
    }
    return YK_OK;
}

yk_status yk_collectives_create(const struct yk_collectives_request *request,
                                struct yk_arena *arena, struct yk_collectives *out)
{
    struct creation creation = {
        .request = request,
        .program = request->program,
        .plan = request->program->plan,
        .store = request->store,
        .arena = arena,
        .out = out,
        .width = yk_precision_bytes(request->store->net->workload.precision),
    };
    const struct yk_op_list *list = &request->program->ranks[request->ranks->rank];
    *out = (struct yk_collectives){.comm = request->ranks->comm};
    YK_TRY(create_groups(&creation));
    return add_all(&creation, list);
}

void yk_collectives_destroy(struct yk_collectives *collectives)
{
    for (int32_t g = 0; collectives->groups && g < collectives->group_count; g++) {
        collectives->comm->group_destroy(collectives->groups[g]);
    }
    *collectives = (struct yk_collectives){0};
}

void yk_collectives_enqueue_op(const struct yk_collectives *collectives,
                               const struct yk_op_list *list, int32_t op)
{
    const enum yk_op_kind kind = list->ops[op].kind;
    for (int32_t i = collectives->first[op]; i < collectives->first[op + 1]; i++) {
        union yk_op_collective *item = &collectives->items[i];
        if (kind == YK_OP_ALL_GATHER) {
            collectives->comm->all_gather(&item->all_gather);
        } else if (kind == YK_OP_REDUCE_SCATTER) {
            collectives->comm->reduce_scatter(&item->reduce_scatter);
        } else {
            collectives->comm->all_reduce(&item->all_reduce);
        }
    }
}

yk_status yk_collectives_compute_gradient_order(const struct yk_program *program,
                                                struct yk_arena *arena, int32_t **out)
{
    const int32_t L = program->plan->layer_count;
    int32_t count = 0;
    bool *placed = NULL;
    YK_TRY_NEW(arena, *out, L);
    YK_TRY_NEW(arena, placed, L);
    for (int32_t b = 0; b < program->bucket_count; b++) {
        for (int32_t i = 0; i < program->buckets[b].layer_count; i++) {
            const int32_t layer = program->buckets[b].layers[i];
            placed[layer] = true;
            (*out)[count++] = layer;
        }
    }
    for (int32_t l = 0; l < L; l++) {
        if (!placed[l]) {
            (*out)[count++] = l;
        }
    }
    return YK_OK;
}
