#include "program/memory.h"

#include "cost/device_facts.h"
#include "program/layout.h"

#include <math.h>

enum {
    TOKEN_BYTES = 8,
    SAVING_BYTES = 4 << 20, /* numbers go to a file in pieces of at most this size */
    HOLDS_OF_PASS = 8,      /* at most, of one layer and micro-batch, besides messages */
};

struct counting {
    const struct yk_program *program;
    const struct yk_program_rank *list;
    struct yk_arena *arena;
    struct yk_program_memory *memory;
    int32_t *forward;        /* (L, M) ops; −1: not on this rank */
    int32_t *backward;       /* (L, M) */
    int32_t *recompute;      /* (L, M) */
    int32_t *first_gradient; /* (L, M) where the gradient of a layer's weights begins */
    int32_t *next_release;   /* (L) the first release at or after the op at hand; −1 */
    int32_t *first_release;  /* (L) of the round */
};

static int64_t cell(const struct counting *counting, int32_t layer, int32_t micro_batch)
{
    return (int64_t)layer * counting->program->plan->micro_batches + micro_batch;
}

static void hold(struct counting *counting, struct yk_hold held)
{
    if (held.bytes > 0 && held.from >= 0 && held.until >= 0) {
        counting->memory->holds[counting->memory->hold_count++] = held;
    }
}

/* State that the rank keeps of a layer; see the table in docs/planning.md. */
static void count_state(struct counting *counting, int32_t layer, double part)
{
    const struct yk_program_layer *message = &counting->program->layers[layer];
    const enum yk_strategy strategy = yk_plan_strategy(counting->program->plan, layer);
    double *always = counting->memory->always_bytes;
    const double weights = strategy == YK_REPLICATED || strategy == YK_SHARDED_STATE ? 1 : part;
    const double state = strategy == YK_REPLICATED ? 1 : part;
    always[YK_MEMORY_PARAMETERS] += weights * message->weight_bytes;
    always[YK_MEMORY_GRADIENTS] += state * message->gradient_bytes;
    always[YK_MEMORY_OPTIMIZER] += state * message->optimizer_bytes;
}

/*
 * Two blocks on their way, and two micro-batches of tokens and labels. A context that was measured
 * has the blocks in it; where the device's memory is the host's, as it is where a context is
 * measured, checkpoints are saved through some of it, too.
 */
static void count_buffers(struct counting *counting, int32_t device, double largest_message,
                          double largest_layer, int64_t most_samples)
{
    const struct yk_plan *plan = counting->program->plan;
    const struct yk_workload *workload = &plan->workload;
    const int64_t target =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    const double tokens = (double)most_samples * (double)(workload->sequence + target);
    const bool measured = yk_device_facts_at(counting->program->facts, device).context_bytes > 0;
    const double room =
        measured ? fmin(SAVING_BYTES, largest_layer) : 2 * fmin(plan->block_bytes, largest_message);
    counting->memory->always_bytes[YK_MEMORY_BUFFERS] += room + 2 * TOKEN_BYTES * tokens;
}

static void count_always(struct counting *counting, int32_t rank)
{
    const struct yk_program *program = counting->program;
    const struct yk_plan *plan = program->plan;
    double largest_message = 0;
    double largest_layer = 0;
    int64_t most_samples = 0;
    for (int32_t g = 0; g < plan->group_count; g++) {
        const struct yk_plan_group *group = &plan->groups[g];
        for (int32_t i = 0; i < group->member_count; i++) {
            if (group->members[i].rank != rank) {
                continue;
            }
            for (int32_t m = 0; m < plan->micro_batches; m++) {
                int64_t first = 0;
                const int64_t samples = yk_plan_samples(plan, g, i, m, &first);
                most_samples = samples > most_samples ? samples : most_samples;
            }
            for (int32_t l = 0; l < plan->layer_count; l++) {
                if (plan->layers[l].group == g) {
                    count_state(counting, l, group->members[i].part);
                    largest_layer = fmax(largest_layer, program->layers[l].weight_bytes);
                    largest_message = group->member_count > 1
                                          ? fmax(largest_message, program->layers[l].weight_bytes)
                                          : largest_message;
                }
            }
        }
    }
    const int32_t device = plan->ranks[rank].device;
    count_buffers(counting, device, largest_message, largest_layer, most_samples);
    counting->memory->always_bytes[YK_MEMORY_CONTEXT] =
        yk_device_facts_context_bytes(program->facts, program->cluster, device);
}

static yk_status take_ops(struct counting *counting, int64_t count, int32_t **out)
{
    YK_TRY_NEW(counting->arena, *out, count);
    for (int64_t i = 0; i < count; i++) {
        (*out)[i] = -1;
    }
    return YK_OK;
}

static void find_passes(struct counting *counting)
{
    for (int32_t i = counting->list->op_count - 1; i >= 0; i--) {
        const struct yk_op *op = &counting->list->ops[i];
        if (op->kind == YK_OP_FORWARD) {
            counting->forward[cell(counting, op->layer, op->micro_batch)] = i;
        } else if (op->kind == YK_OP_BACKWARD) {
            counting->backward[cell(counting, op->layer, op->micro_batch)] = i;
        } else if (op->kind == YK_OP_RECOMPUTE) {
            counting->recompute[cell(counting, op->layer, op->micro_batch)] = i;
        } else if (op->kind == YK_OP_RELEASE) {
            counting->first_release[op->layer] = i;
        }
    }
}

/*
 * The backward pass in which the whole gradient that a micro-batch reduces begins to be summed up:
 * the first one of any layer that uses the weights, of the first micro-batch where the sum goes on
 * over all of them.
 */
static void find_gradients(struct counting *counting)
{
    const struct yk_plan *plan = counting->program->plan;
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const int32_t units[] = {l, counting->program->layers[l].leader};
        for (int32_t m = 0; m < plan->micro_batches; m++) {
            const int32_t op = counting->backward[cell(counting, l, m)];
            const int32_t summed = plan->no_sync ? plan->micro_batches - 1 : m;
            for (int32_t u = 0; u < (units[1] == l ? 1 : 2) && op >= 0; u++) {
                int32_t *first = &counting->first_gradient[cell(counting, units[u], summed)];
                *first = *first < 0 || op < *first ? op : *first;
            }
        }
    }
}

static yk_status hold_pass(struct counting *counting, int32_t layer, int32_t micro_batch)
{
    const int64_t at = cell(counting, layer, micro_batch);
    const int32_t forward = counting->forward[at];
    const int32_t backward = counting->backward[at];
    const int32_t recompute = counting->recompute[at];
    const struct yk_model *plain = NULL;
    const struct yk_model *saving = NULL;
    if (forward < 0 || counting->list->ops[forward].samples == 0) {
        return YK_OK;
    }
    const int64_t samples = counting->list->ops[forward].samples;
    YK_TRY(yk_sizes_get(counting->program->sizes, samples, false, &plain));
    YK_TRY(yk_sizes_get(counting->program->sizes, samples, recompute >= 0, &saving));
    const double saved = (double)saving->layers[layer].saved_bytes;
    const double workspace = (double)plain->layers[layer].workspace_bytes;
    const int32_t passes[] = {forward, recompute, backward};
    hold(counting, (struct yk_hold){.kind = YK_MEMORY_ACTIVATIONS,
                                    .bytes = saved,
                                    .from = forward,
                                    .until = backward >= 0 ? backward : forward});
    hold(counting, (struct yk_hold){.kind = YK_MEMORY_ACTIVATIONS,
                                    .bytes = (double)plain->layers[layer].saved_bytes - saved,
                                    .from = recompute,
                                    .until = backward});
    for (int32_t i = 0; i < 3; i++) {
        hold(counting, (struct yk_hold){.kind = YK_MEMORY_BUFFERS,
                                        .bytes = workspace,
                                        .from = passes[i],
                                        .until = passes[i]});
    }
    return YK_OK;
}

/* What a layer puts out, from when it is made or received until the last layer here that takes it
 * has begun; its gradient, from the first of those going backward until it has gone backward. */
static yk_status hold_output(struct counting *counting, int32_t layer, int32_t micro_batch)
{
    const int64_t at = cell(counting, layer, micro_batch);
    const int32_t forward = counting->forward[at];
    int32_t last_taken = -1;
    int32_t first_returned = -1;
    int64_t samples = forward >= 0 ? counting->list->ops[forward].samples : 0;
    double bytes = 0;
    const struct yk_model *model = yk_sizes_whole(counting->program->sizes);
    for (int32_t e = 0; e < model->edge_count; e++) {
        const struct yk_layer_edge *edge = &model->edges[e];
        const int64_t there = cell(counting, edge->to, micro_batch);
        if (edge->from == layer && counting->forward[there] >= 0) {
            const int32_t taken = counting->forward[there];
            const int32_t returned = counting->backward[there];
            last_taken = taken > last_taken ? taken : last_taken;
            first_returned = returned >= 0 && (first_returned < 0 || returned < first_returned)
                                 ? returned
                                 : first_returned;
        }
    }
    if (samples > 0 && last_taken >= 0) {
        YK_TRY(yk_sizes_get(counting->program->sizes, samples, false, &model));
        for (int32_t e = 0; e < model->edge_count; e++) {
            bytes =
                model->edges[e].from == layer ? fmax(bytes, (double)model->edges[e].bytes) : bytes;
        }
    }
    hold(counting, (struct yk_hold){.kind = YK_MEMORY_ACTIVATIONS,
                                    .bytes = bytes,
                                    .from = forward,
                                    .until = last_taken,
                                    .handed_over = true});
    hold(counting, (struct yk_hold){.kind = YK_MEMORY_ACTIVATIONS,
                                    .bytes = bytes,
                                    .from = first_returned,
                                    .until = counting->backward[at]});
    return YK_OK;
}

/* The ops between which a message's buffer is used on this side: where its contents are made or
 * wanted. */
static void hold_message(struct counting *counting, int32_t number)
{
    const struct yk_op *op = &counting->list->ops[number];
    const struct yk_model *model = yk_sizes_whole(counting->program->sizes);
    struct yk_hold held = {.kind = YK_MEMORY_BUFFERS, .bytes = op->bytes, .from = -1, .until = -1};
    int32_t last_taken = -1;
    int32_t first_returned = -1;
    for (int32_t e = 0; e < model->edge_count; e++) {
        const int64_t there = cell(counting, model->edges[e].to, op->micro_batch);
        if (model->edges[e].from == op->layer && counting->forward[there] >= 0) {
            const int32_t taken = counting->forward[there];
            const int32_t returned = counting->backward[there];
            last_taken = taken > last_taken ? taken : last_taken;
            first_returned = first_returned < 0 || (returned >= 0 && returned < first_returned)
                                 ? returned
                                 : first_returned;
        }
    }
    const int64_t at = cell(counting, op->layer, op->micro_batch);
    if (op->kind == YK_OP_SEND) {
        held.from = op->backward ? first_returned : counting->forward[at];
        held.until = number;
    } else {
        held.from = number;
        held.until = op->backward ? counting->backward[at] : last_taken;
        held.handed_over = !op->backward;
    }
    hold(counting, held);
}

static void hold_gathered(struct counting *counting, int32_t number)
{
    const struct yk_op *op = &counting->list->ops[number];
    const int32_t next = counting->next_release[op->layer];
    if (yk_layout_is_gathered(counting->program, op->layer)) {
        hold(counting,
             (struct yk_hold){.kind = YK_MEMORY_GATHERED,
                              .bytes = op->bytes,
                              .from = number,
                              .until = next >= 0 ? next : counting->first_release[op->layer],
                              .lag = next >= 0 ? 0 : 1});
    }
}

static void hold_gradient(struct counting *counting, int32_t number, int32_t from)
{
    hold(counting, (struct yk_hold){.kind = YK_MEMORY_GRADIENTS,
                                    .bytes = counting->list->ops[number].bytes,
                                    .from = from,
                                    .until = number,
                                    .lag = from > number ? 1 : 0});
}

static void hold_scattered(struct counting *counting, int32_t number)
{
    const struct yk_op *op = &counting->list->ops[number];
    hold_gradient(counting, number,
                  counting->first_gradient[cell(counting, op->layer, op->micro_batch)]);
}

/* A bucket that is reduced in every micro-batch is summed up apart from what the rank keeps. */
static void hold_reduced(struct counting *counting, int32_t number)
{
    const struct yk_op *op = &counting->list->ops[number];
    const struct yk_bucket *bucket = &counting->program->buckets[op->bucket];
    int32_t from = -1;
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int32_t first =
            counting->first_gradient[cell(counting, bucket->layers[i], op->micro_batch)];
        from = from < 0 || (first >= 0 && first < from) ? first : from;
    }
    hold_gradient(counting, number, from);
}

/* Backwards, so that the next release of each layer is known. */
static void hold_communication(struct counting *counting)
{
    const struct yk_plan *plan = counting->program->plan;
    const bool each = !plan->no_sync && plan->micro_batches > 1;
    for (int32_t i = counting->list->op_count - 1; i >= 0; i--) {
        const struct yk_op *op = &counting->list->ops[i];
        if (op->kind == YK_OP_RELEASE) {
            counting->next_release[op->layer] = i;
        } else if (op->kind == YK_OP_GATHER) {
            hold_gathered(counting, i);
        } else if (op->kind == YK_OP_SCATTER) {
            hold_scattered(counting, i);
        } else if (op->kind == YK_OP_REDUCE && each) {
            hold_reduced(counting, i);
        } else if (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) {
            hold_message(counting, i);
        }
    }
}

static yk_status count_all(struct counting *counting, int32_t rank)
{
    const struct yk_plan *plan = counting->program->plan;
    const int64_t L = plan->layer_count;
    const int64_t cells = L * plan->micro_batches;
    YK_TRY(take_ops(counting, cells, &counting->forward));
    YK_TRY(take_ops(counting, cells, &counting->backward));
    YK_TRY(take_ops(counting, cells, &counting->recompute));
    YK_TRY(take_ops(counting, cells, &counting->first_gradient));
    YK_TRY(take_ops(counting, L, &counting->next_release));
    YK_TRY(take_ops(counting, L, &counting->first_release));
    count_always(counting, rank);
    find_passes(counting);
    find_gradients(counting);
    for (int32_t l = 0; l < L; l++) {
        for (int32_t m = 0; m < plan->micro_batches; m++) {
            YK_TRY(hold_pass(counting, l, m));
            YK_TRY(hold_output(counting, l, m));
        }
    }
    hold_communication(counting);
    return YK_OK;
}

yk_status yk_program_memory_count(const struct yk_program *program, int32_t rank,
                                  struct yk_arena *arena, struct yk_program_memory **out)
{
    struct counting counting = {.program = program, .list = &program->ranks[rank]};
    const int64_t cells = (int64_t)program->plan->layer_count * program->plan->micro_batches;
    YK_TRY_NEW(arena, counting.memory, 1);
    YK_TRY_NEW(arena, counting.memory->holds, cells * HOLDS_OF_PASS + counting.list->op_count);
    YK_TRY(yk_arena_create(&counting.arena));
    const yk_status status = count_all(&counting, rank);
    yk_arena_destroy(counting.arena);
    *out = counting.memory;
    return status;
}
