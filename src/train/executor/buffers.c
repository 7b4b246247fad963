#include "train/executor/buffers.h"

#include "nn/carve.h"
#include "nn/store/partition.h"
#include "program/layout.h"

#include <inttypes.h>

struct finding {
    const struct yk_buffers_request *request;
    const struct yk_program *program;
    const struct yk_rank_view *view;
    const struct yk_net *net;
    struct yk_lifetimes lifetimes;
    struct yk_offsets offsets;
    struct yk_buffers *out;
    /* Of the pass that was looked at last: those of a pass follow each other. */
    struct yk_layer_sizes sizes;
    int32_t sized_layer;
    int64_t sized_samples;
};

/* ---- sizes ---- */

static int64_t sequence_of(const struct yk_net *net, int32_t layer)
{
    const struct yk_workload *workload = &net->workload;
    return net->layers[layer].decodes && workload->target_sequence > 0 ? workload->target_sequence
                                                                       : workload->sequence;
}

/* SIZE_MAX where they cannot be counted, which is refused when offsets are found. */
static size_t output_bytes(const struct finding *finding, const struct yk_lifetime *lifetime)
{
    const struct yk_net *net = finding->net;
    const int64_t samples = lifetime->samples + finding->request->spare_samples;
    int64_t bytes = yk_precision_bytes(net->workload.precision);
    const bool overflows =
        __builtin_mul_overflow(bytes, samples, &bytes) ||
        __builtin_mul_overflow(bytes, sequence_of(net, lifetime->layer), &bytes) ||
        __builtin_mul_overflow(bytes, net->config->width, &bytes);
    return overflows ? SIZE_MAX : (size_t)bytes;
}

static const struct yk_layer_sizes *pass_sizes(struct finding *finding,
                                               const struct yk_lifetime *lifetime)
{
    const struct yk_net *net = finding->net;
    const int32_t layer = lifetime->layer;
    if (layer != finding->sized_layer || lifetime->samples != finding->sized_samples) {
        const struct yk_batch_shape batch = {
            .samples = lifetime->samples + finding->request->spare_samples,
            .sequence = sequence_of(net, layer),
            .memory = net->layers[layer].memory >= 0 ? net->workload.sequence : 0,
        };
        net->layers[layer].kind->measure(net, layer, &batch, &finding->sizes);
        finding->sized_layer = layer;
        finding->sized_samples = lifetime->samples;
    }
    return &finding->sizes;
}

static size_t trained_bytes(const struct finding *finding, int32_t layer)
{
    return (size_t)finding->net->layers[layer].trained *
           (size_t)yk_precision_bytes(finding->net->workload.precision);
}

static size_t bucket_bytes(const struct finding *finding, const struct yk_bucket *bucket)
{
    struct yk_carver carver = {0};
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        (void)yk_carve(&carver, (int64_t)trained_bytes(finding, bucket->layers[i]), 1);
    }
    return carver.used;
}

/* Blocks of `count` numbers of some width that lie `at` bytes into the buffer. */
static void add_blocks(struct finding *finding, const struct yk_lifetime *lifetime, size_t at,
                       int64_t count, size_t width)
{
    const struct yk_op *op = &finding->view->list->ops[lifetime->op];
    const int32_t all = finding->program->layers[op->layer].block_count;
    const int32_t blocks = all > 1 ? all : 1;
    const int64_t first = yk_partition_block_first(count, blocks, op->first_block);
    const int64_t end = yk_partition_block_first(count, blocks, op->first_block + op->block_count);
    yk_offsets_add(&finding->offsets, lifetime, at + (size_t)first * width,
                   (size_t)(end - first) * width);
}

/* Trained numbers come first, frozen ones behind them; each block has some of both. */
static void add_weights(struct finding *finding, const struct yk_lifetime *lifetime)
{
    const struct yk_op *op = &finding->view->list->ops[lifetime->op];
    const struct yk_net_layer *layer = &finding->net->layers[op->layer];
    const size_t trained = trained_bytes(finding, op->layer);
    if (op->block_count >= finding->program->layers[op->layer].block_count) {
        yk_offsets_add(&finding->offsets, lifetime, 0, layer->weight_bytes);
        return;
    }
    add_blocks(finding, lifetime, 0, layer->trained,
               (size_t)yk_precision_bytes(finding->net->workload.precision));
    add_blocks(finding, lifetime, trained, (int64_t)(layer->weight_bytes - trained), 1);
}

static void add_lifetime(struct finding *finding, const struct yk_lifetime *lifetime)
{
    const struct yk_net_layer *layer = &finding->net->layers[lifetime->layer];
    struct yk_offsets *offsets = &finding->offsets;
    switch (lifetime->kind) {
    case YK_BUFFER_OUTPUT:
    case YK_BUFFER_OUTPUT_GRADIENT:
    case YK_BUFFER_INPUT:
    case YK_BUFFER_INPUT_GRADIENT:
    case YK_BUFFER_RETURNED:
        yk_offsets_add(offsets, lifetime, 0, output_bytes(finding, lifetime));
        break;
    case YK_BUFFER_SAVED:
    case YK_BUFFER_RECOMPUTED:
        yk_offsets_add(offsets, lifetime, 0, pass_sizes(finding, lifetime)->saved_bytes);
        break;
    case YK_BUFFER_FORWARD_WORK:
    case YK_BUFFER_RECOMPUTE_WORK:
        yk_offsets_add(offsets, lifetime, 0, pass_sizes(finding, lifetime)->forward_bytes);
        break;
    case YK_BUFFER_BACKWARD_WORK:
        yk_offsets_add(offsets, lifetime, 0, pass_sizes(finding, lifetime)->backward_bytes);
        break;
    case YK_BUFFER_WEIGHTS:
        add_weights(finding, lifetime);
        break;
    case YK_BUFFER_GRADIENT:
        add_blocks(finding, lifetime, 0, layer->trained,
                   (size_t)yk_precision_bytes(finding->net->workload.precision));
        break;
    case YK_BUFFER_BUCKET:
    case YK_BUFFER_KIND_COUNT:
    default:
        yk_offsets_add(
            offsets, lifetime, 0,
            bucket_bytes(
                finding,
                &finding->program->buckets[finding->view->list->ops[lifetime->op].bucket]));
        break;
    }
}

/* ---- offsets of passes and crossings ---- */

static void note_pass(const struct finding *finding, const struct yk_lifetime *lifetime,
                      size_t offset)
{
    struct yk_pass_offsets *pass =
        &finding->out
             ->passes[yk_rank_view_cell(finding->view, lifetime->layer, lifetime->micro_batch)];
    switch (lifetime->kind) {
    case YK_BUFFER_OUTPUT:
        pass->output = offset;
        break;
    case YK_BUFFER_OUTPUT_GRADIENT:
        pass->output_gradient = offset;
        break;
    case YK_BUFFER_SAVED: /* and there it stays, unless it is computed again */
        pass->forward_saved = offset;
        pass->saved = offset;
        break;
    case YK_BUFFER_RECOMPUTED:
        pass->saved = offset;
        break;
    case YK_BUFFER_FORWARD_WORK:
        pass->forward_work = offset;
        break;
    case YK_BUFFER_RECOMPUTE_WORK:
        pass->recompute_work = offset;
        break;
    case YK_BUFFER_BACKWARD_WORK:
        pass->backward_work = offset;
        break;
    default:
        break;
    }
}

static void note_crossing(const struct finding *finding, const struct yk_lifetime *lifetime,
                          size_t offset)
{
    struct yk_crossing_offsets *crossing =
        &finding->out->crossings[(int64_t)lifetime->crossing * finding->view->facts->M +
                                 lifetime->micro_batch];
    if (lifetime->kind == YK_BUFFER_INPUT) {
        crossing->input = offset;
    } else if (lifetime->kind == YK_BUFFER_INPUT_GRADIENT) {
        crossing->input_gradient = offset;
    } else {
        crossing->returned = offset;
    }
}

/* What returns where nobody else adds to it is the gradient. */
static void find_direct(const struct finding *finding)
{
    const struct yk_facts *facts = finding->view->facts;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        const int32_t producer = facts->crossings[c].producer;
        for (int32_t m = 0; m < facts->M && yk_rank_view_holds(finding->view, producer); m++) {
            struct yk_crossing_offsets *crossing =
                &finding->out->crossings[(int64_t)c * facts->M + m];
            if (yk_lifetimes_is_direct(finding->view, producer, m)) {
                crossing->direct = true;
                crossing->returned =
                    finding->out->passes[yk_rank_view_cell(finding->view, producer, m)]
                        .output_gradient;
            }
        }
    }
}

/* ---- weights and gradients of ops ---- */

static bool is_pass(const struct yk_op *op)
{
    return op->kind == YK_OP_FORWARD || op->kind == YK_OP_RECOMPUTE || op->kind == YK_OP_BACKWARD;
}

/* Every pass finds gathered weights in the buffer that the next release ends; after the last
 * release that is the first one's, of the round after. */
static yk_status note_weights(const struct finding *finding, struct yk_arena *arena)
{
    const struct yk_program_rank *list = finding->view->list;
    struct yk_op_buffers *ops = finding->out->ops;
    int32_t *released = NULL; /* (ops) the buffer that a release ends */
    int32_t *next = NULL;     /* (L) the one that the next release ends */
    YK_TRY_NEW(arena, released, list->op_count + 1);
    YK_TRY_NEW(arena, next, finding->view->facts->L);
    for (int32_t i = 0; i < list->op_count; i++) {
        released[i] = YK_BUFFER_NONE;
    }
    for (int32_t l = 0; l < finding->view->facts->L; l++) {
        next[l] = YK_BUFFER_NONE;
    }
    for (int32_t i = 0; i < finding->lifetimes.count; i++) {
        const struct yk_lifetime *lifetime = &finding->lifetimes.items[i];
        if (lifetime->kind == YK_BUFFER_WEIGHTS) {
            ops[lifetime->op].weights = lifetime->buffer;
            released[lifetime->end[YK_LANE_COMPUTE]] = lifetime->buffer;
        }
    }
    for (int round = 0; round < 2; round++) {
        for (int32_t i = list->op_count; i-- > 0;) {
            const struct yk_op *op = &list->ops[i];
            if (op->kind == YK_OP_RELEASE) {
                next[op->layer] = released[i];
            } else if (is_pass(op)) {
                const int32_t leader = finding->program->layers[op->layer].leader;
                ops[i].weights = next[op->layer];
                ops[i].leader_weights = leader != op->layer ? next[leader] : YK_BUFFER_NONE;
            }
        }
    }
    return YK_OK;
}

/* Every backward pass that adds to the gradient of `layer` finds it `at` bytes into the buffer. */
static void note_gradient(const struct finding *finding, int32_t layer, int32_t micro_batch,
                          int32_t buffer, size_t at)
{
    const struct yk_rank_view *view = finding->view;
    for (int32_t u = layer; u >= 0; u = yk_facts_next_user(view->facts, layer, u)) {
        const int32_t back = view->backward[yk_rank_view_cell(view, u, micro_batch)];
        if (back >= 0) {
            struct yk_op_buffers *op = &finding->out->ops[back];
            *(u == layer ? &op->gradient : &op->leader_gradient) = buffer;
            *(u == layer ? &op->gradient_at : &op->leader_gradient_at) = at;
        }
    }
}

static void note_scatter(const struct finding *finding, const struct yk_lifetime *lifetime)
{
    const struct yk_facts *facts = finding->view->facts;
    const bool all = yk_facts_is_summed(facts, lifetime->layer);
    finding->out->ops[lifetime->op].gradient = lifetime->buffer;
    for (int32_t m = all ? 0 : lifetime->micro_batch; m <= lifetime->micro_batch; m++) {
        note_gradient(finding, lifetime->layer, m, lifetime->buffer, 0);
    }
}

/* Whether another reduction of the step has left its sums there before: see is_added() of
 * collectives. */
static bool adds(const struct yk_rank_view *view, int32_t bucket, int32_t number)
{
    const struct yk_op *op = &view->list->ops[number];
    for (int32_t i = view->first[YK_OP_ALL_REDUCE][bucket]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *other = &view->list->ops[i];
        if (other->step > op->step || (other->step == op->step && i < number)) {
            return true;
        }
    }
    return false;
}

/* The gradients of a bucket's layers in one micro-batch lie behind each other, as the store keeps
 * them. */
static void note_bucket(const struct finding *finding, const struct yk_lifetime *lifetime)
{
    struct yk_op_buffers *op = &finding->out->ops[lifetime->op];
    const int32_t number = finding->view->list->ops[lifetime->op].bucket;
    const struct yk_bucket *bucket = &finding->program->buckets[number];
    struct yk_carver carver = {0};
    for (int32_t i = 0; i < bucket->layer_count; i++) {
        const int32_t layer = bucket->layers[i];
        const size_t bytes = trained_bytes(finding, layer);
        note_gradient(finding, layer, lifetime->micro_batch, lifetime->buffer, carver.used);
        op->reduced_bytes = carver.used + bytes;
        (void)yk_carve(&carver, (int64_t)bytes, 1);
    }
    op->gradient = lifetime->buffer;
    op->adds = adds(finding->view, number, lifetime->op);
}

/* Gradients of a layer are added up from nothing: by the first backward that uses its weights, of
 * each sum. */
static void find_clear(const struct finding *finding, int32_t layer, int32_t first, int32_t last)
{
    const struct yk_rank_view *view = finding->view;
    int32_t op = -1;
    bool leader = false;
    for (int32_t u = layer; u >= 0; u = yk_facts_next_user(view->facts, layer, u)) {
        for (int32_t m = first; m <= last; m++) {
            const int32_t back = view->backward[yk_rank_view_cell(view, u, m)];
            if (back >= 0 && (op < 0 || back < op)) {
                op = back;
                leader = u != layer;
            }
        }
    }
    if (op >= 0) {
        struct yk_op_buffers *buffers = &finding->out->ops[op];
        *(leader ? &buffers->clears_leader : &buffers->clears_gradient) = true;
    }
}

static void find_clears(const struct finding *finding)
{
    const struct yk_facts *facts = finding->view->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_rank_view_holds(finding->view, l) || finding->net->layers[l].trained == 0) {
            continue;
        }
        const bool all = yk_facts_is_summed(facts, l);
        for (int32_t m = 0; m < (all ? 1 : facts->M); m++) {
            find_clear(finding, l, m, all ? facts->M - 1 : m);
        }
    }
}

/* ---- all of it ---- */

static yk_status set_up(struct finding *finding, struct yk_arena *arena)
{
    const struct yk_facts *facts = finding->view->facts;
    struct yk_buffers *out = finding->out;
    const int32_t ops = finding->view->list->op_count;
    YK_TRY_NEW(arena, out->passes, (int64_t)facts->L * facts->M);
    YK_TRY_NEW(arena, out->crossings, (int64_t)facts->crossing_count * facts->M + 1);
    YK_TRY_NEW(arena, out->ops, ops + 1);
    for (int32_t i = 0; i < ops; i++) {
        out->ops[i] = (struct yk_op_buffers){.weights = YK_BUFFER_NONE,
                                             .leader_weights = YK_BUFFER_NONE,
                                             .gradient = YK_BUFFER_NONE,
                                             .leader_gradient = YK_BUFFER_NONE};
    }
    YK_TRY(yk_lifetimes_find(finding->view, arena, &finding->lifetimes));
    YK_TRY_NEW(arena, out->offsets, finding->lifetimes.buffer_count + 1);
    return YK_OK;
}

static void note_all(const struct finding *finding)
{
    for (int32_t i = 0; i < finding->lifetimes.count; i++) {
        const struct yk_lifetime *lifetime = &finding->lifetimes.items[i];
        const size_t offset = finding->out->offsets[lifetime->buffer];
        if (lifetime->kind == YK_BUFFER_GRADIENT) {
            note_scatter(finding, lifetime);
        } else if (lifetime->kind == YK_BUFFER_BUCKET) {
            note_bucket(finding, lifetime);
        } else if (lifetime->crossing >= 0) {
            note_crossing(finding, lifetime, offset);
        } else {
            note_pass(finding, lifetime, offset);
        }
    }
    find_direct(finding);
    find_clears(finding);
}

static yk_status find(struct finding *finding, struct yk_arena *arena)
{
    struct yk_buffers *out = finding->out;
    YK_TRY(set_up(finding, arena));
    for (int32_t i = 0; i < finding->lifetimes.count; i++) {
        add_lifetime(finding, &finding->lifetimes.items[i]);
    }
    YK_TRY(yk_offsets_assign(&finding->offsets, finding->view, out->offsets, &out->bytes));
    YK_TRY(yk_offsets_find_waits(&finding->offsets, finding->view, arena, &out->waits,
                                 &out->wait_count));
    YK_TRY(note_weights(finding, arena));
    note_all(finding);
    return YK_OK;
}

yk_status yk_buffers_assign(const struct yk_buffers_request *request, struct yk_arena *arena,
                            struct yk_buffers *out)
{
    struct finding finding = {
        .request = request,
        .program = request->view->facts->program,
        .view = request->view,
        .net = request->net,
        .out = out,
        .sized_layer = -1,
    };
    *out = (struct yk_buffers){0};
    /* The model has checked that a pass with all samples of the batch can be counted, several times
     * over: what layers multiply (nn) needs no check of its own for as many again. */
    if (request->spare_samples < 0 || request->spare_samples > request->net->workload.batch) {
        return yk_fail(YK_ERROR_INPUT,
                       "room for %" PRId64 " samples besides a batch of %" PRId64
                       " is more than can be counted",
                       request->spare_samples, request->net->workload.batch);
    }
    const yk_status status = find(&finding, arena);
    yk_offsets_free(&finding.offsets);
    return status;
}
