#include "train/executor/collectives.h"

#include "train/partitions.h"

struct making {
    const struct yk_collectives_request *request;
    const struct yk_program *program;
    const struct yk_plan *plan;
    const struct yk_store *store;
    struct yk_arena *arena;
    struct yk_collectives *out;
    int64_t width; /* of a trained number */
};

/* Where the members' parts of a block of `count` numbers begin, counted from the block's first. */
static yk_status find_firsts(const struct making *making, const struct yk_plan_group *group,
                             int64_t count, int32_t blocks, int32_t block, int64_t **out)
{
    const int64_t base = yk_partition_block_first(count, blocks, block);
    const int32_t n = group->member_count;
    YK_TRY_NEW(making->arena, *out, n + 1);
    for (int32_t i = 0; i <= n; i++) {
        (*out)[i] =
            yk_partition_block_cut(count, blocks, block, yk_partitions_begin(group, i)) - base;
    }
    return YK_OK;
}

static int32_t blocks_of(const struct making *making, int32_t layer)
{
    const int32_t count = making->program->layers[layer].block_count;
    return count > 1 ? count : 1;
}

/* Of a block of `count` elements, into `whole` from the parts of all; this rank's is at `part`, or,
 * where that is NULL, already in `whole`. */
static yk_status add_part(struct making *making, int32_t layer, int32_t block, int64_t count,
                          int64_t size, const struct yk_partition_span *span, void *part,
                          void *whole)
{
    const int32_t blocks = blocks_of(making, layer);
    const int32_t group = making->plan->layers[layer].group;
    int64_t *firsts = NULL;
    if (count == 0) {
        return YK_OK;
    }
    YK_TRY(find_firsts(making, &making->plan->groups[group], count, blocks, block, &firsts));
    making->out->gathers[making->out->gather_count++] = (struct yk_comm_all_gather){
        .group = making->out->groups[group],
        .own = part ? (char *)part + span->at * size : (char *)whole + span->first * size,
        .whole = (char *)whole + yk_partition_block_first(count, blocks, block) * size,
        .firsts = firsts,
        .size = (size_t)size,
    };
    return YK_OK;
}

static yk_status add_gather(struct making *making, const struct yk_op *op,
                            const struct yk_op_buffers *buffers)
{
    const struct yk_store_layer *kept = &making->store->layers[op->layer];
    const struct yk_net_layer *layer = &making->store->net->layers[op->layer];
    const int64_t trained = layer->trained * making->width;
    const bool parted = kept->partition.kind == YK_PARTITION_FULLY_SHARDED;
    char *whole =
        parted ? making->request->memory + making->request->buffers->offsets[buffers->weights]
               : kept->weights;
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        YK_TRY(add_part(making, op->layer, b, layer->trained, making->width, &kept->spans[b],
                        kept->part, whole));
        if (parted) { /* frozen weights, by the byte */
            YK_TRY(add_part(making, op->layer, b, (int64_t)layer->weight_bytes - trained, 1,
                            &kept->frozen_spans[b], kept->part + kept->frozen_at, whole + trained));
        }
    }
    return YK_OK;
}

/* Whether another reduce-scatter of the step has left its sum of the block before: one earlier in
 * the step, in which those of the round after come last. */
static bool is_added(const struct yk_program_rank *list, int32_t number, int32_t block)
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

static yk_status add_scatter(struct making *making, const struct yk_program_rank *list,
                             int32_t number)
{
    const struct yk_op *op = &list->ops[number];
    const struct yk_store_layer *kept = &making->store->layers[op->layer];
    const int64_t count = making->store->net->layers[op->layer].trained;
    const int32_t blocks = blocks_of(making, op->layer);
    const int32_t group = making->plan->layers[op->layer].group;
    const struct yk_buffers *buffers = making->request->buffers;
    char *whole = making->request->memory + buffers->offsets[buffers->ops[number].gradient];
    for (int32_t b = op->first_block; b < op->first_block + op->block_count; b++) {
        int64_t *firsts = NULL;
        YK_TRY(find_firsts(making, &making->plan->groups[group], count, blocks, b, &firsts));
        making->out->scatters[making->out->scatter_count++] = (struct yk_comm_reduce_scatter){
            .group = making->out->groups[group],
            .whole = whole + yk_partition_block_first(count, blocks, b) * making->width,
            .own = kept->gradient_part + kept->spans[b].at * making->width,
            .added = is_added(list, number, b),
            .firsts = firsts,
            .type = yk_comm_type_of(making->store->net->workload.precision),
            .wide = making->request->wide,
        };
    }
    return YK_OK;
}

static struct yk_comm_all_reduce reduce_of(const struct making *making, int32_t group,
                                           void *numbers, int64_t count)
{
    return (struct yk_comm_all_reduce){
        .group = making->out->groups[group],
        .numbers = numbers,
        .count = count,
        .type = yk_comm_type_of(making->store->net->workload.precision),
        .wide = making->request->wide,
    };
}

/* Gradients of a bucket's layers that lie behind each other go as one. What fills the gaps between
 * them nobody reads. */
static void add_reduce(struct making *making, const struct yk_op *op,
                       const struct yk_op_buffers *buffers)
{
    const struct yk_bucket *bucket = &making->program->buckets[op->bucket];
    struct yk_comm_all_reduce *last = NULL;
    if (buffers->gradient != YK_BUFFER_NONE) {
        making->out->reduces[making->out->reduce_count++] = reduce_of(
            making, bucket->group,
            making->request->memory + making->request->buffers->offsets[buffers->gradient],
            (int64_t)buffers->reduced_bytes / making->width);
        return;
    }
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int32_t layer = bucket->layers[i];
        char *begin = making->store->layers[layer].gradients;
        const int64_t count = making->store->net->layers[layer].trained;
        const char *end = last ? (const char *)last->numbers + last->count * making->width : NULL;
        if (last && begin >= end && begin - end < YK_BACKEND_ALIGNMENT) {
            last->count = (begin - (const char *)last->numbers) / making->width + count;
            continue;
        }
        last = &making->out->reduces[making->out->reduce_count++];
        *last = reduce_of(making, bucket->group, begin, count);
    }
}

static yk_status make_groups(struct making *making)
{
    const struct yk_ranks *ranks = making->request->ranks;
    const struct yk_plan *plan = making->plan;
    struct yk_collectives *out = making->out;
    int32_t *members = NULL;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(making->arena, out->groups, plan->group_count);
    out->group_count = plan->group_count;
    YK_TRY_NEW(making->arena, members, plan->rank_count);
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

static yk_status allocate_records(struct making *making, const struct yk_program_rank *list)
{
    int64_t gathers = 0;
    int64_t scatters = 0;
    int64_t reduces = 0;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        gathers += op->kind == YK_OP_ALL_GATHER ? 2 * (int64_t)op->block_count : 0;
        scatters += op->kind == YK_OP_REDUCE_SCATTER ? op->block_count : 0;
        reduces +=
            op->kind == YK_OP_ALL_REDUCE ? making->program->buckets[op->bucket].layer_count : 0;
    }
    YK_TRY_NEW(making->arena, making->out->gathers, gathers + 1);
    YK_TRY_NEW(making->arena, making->out->scatters, scatters + 1);
    YK_TRY_NEW(making->arena, making->out->reduces, reduces + 1);
    YK_TRY_NEW(making->arena, making->out->of, list->op_count + 1);
    return YK_OK;
}

static yk_status make_records(struct making *making, const struct yk_program_rank *list)
{
    struct yk_collectives *out = making->out;
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        const int32_t *made = op->kind == YK_OP_ALL_GATHER       ? &out->gather_count
                              : op->kind == YK_OP_REDUCE_SCATTER ? &out->scatter_count
                                                                 : &out->reduce_count;
        out->of[i].first = *made;
        if (op->kind == YK_OP_ALL_GATHER) {
            YK_TRY(add_gather(making, op, &making->request->buffers->ops[i]));
        } else if (op->kind == YK_OP_REDUCE_SCATTER) {
            YK_TRY(add_scatter(making, list, i));
        } else if (op->kind == YK_OP_ALL_REDUCE) {
            add_reduce(making, op, &making->request->buffers->ops[i]);
        }
        out->of[i].count = *made - out->of[i].first;
    }
    return YK_OK;
}

yk_status yk_collectives_create(const struct yk_collectives_request *request,
                                struct yk_arena *arena, struct yk_collectives *out)
{
    struct making making = {
        .request = request,
        .program = request->program,
        .plan = request->program->plan,
        .store = request->store,
        .arena = arena,
        .out = out,
        .width = yk_precision_bytes(request->store->net->workload.precision),
    };
    const struct yk_program_rank *list = &request->program->ranks[request->ranks->rank];
    *out = (struct yk_collectives){.comm = request->ranks->comm};
    YK_TRY(make_groups(&making));
    YK_TRY(allocate_records(&making, list));
    return make_records(&making, list);
}

void yk_collectives_destroy(struct yk_collectives *collectives)
{
    for (int32_t g = 0; collectives->groups && g < collectives->group_count; g++) {
        collectives->comm->group_destroy(collectives->groups[g]);
    }
    *collectives = (struct yk_collectives){0};
}

void yk_collectives_enqueue(const struct yk_collectives *collectives,
                            const struct yk_program_rank *list, int32_t op)
{
    const struct yk_collective_span *span = &collectives->of[op];
    const enum yk_op_kind kind = list->ops[op].kind;
    for (int32_t i = span->first; i < span->first + span->count; i++) {
        if (kind == YK_OP_ALL_GATHER) {
            collectives->comm->all_gather(&collectives->gathers[i]);
        } else if (kind == YK_OP_REDUCE_SCATTER) {
            collectives->comm->reduce_scatter(&collectives->scatters[i]);
        } else {
            collectives->comm->all_reduce(&collectives->reduces[i]);
        }
    }
}

yk_status yk_collectives_gradient_order(const struct yk_program *program, struct yk_arena *arena,
                                        int32_t **out)
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
