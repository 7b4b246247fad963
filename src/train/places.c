#include "train/places.h"

#include <stdlib.h>

enum {
    THINGS_OF_PASS = 7
};

/* Held from the start of op `from` to the end of op `until`; its offset goes to `*to`. */
struct thing {
    size_t bytes;
    int32_t from;
    int32_t until;
    size_t *to;
    size_t offset;
};

struct finding {
    const struct yk_program *program;
    const struct yk_program_rank *list;
    const struct yk_net *net;
    struct yk_places *places;
    int32_t *forward; /* (L, M) ops; −1: none */
    int32_t *recompute;
    int32_t *backward;
    struct thing *things;
    int32_t count;
};

static int64_t cell(const struct finding *finding, int32_t layer, int32_t micro_batch)
{
    return (int64_t)layer * finding->program->plan->micro_batches + micro_batch;
}

static void add(struct finding *finding, struct thing thing)
{
    if (thing.bytes > 0 && thing.from >= 0 && thing.until >= 0) {
        thing.bytes =
            (thing.bytes + YK_BACKEND_ALIGNMENT - 1) / YK_BACKEND_ALIGNMENT * YK_BACKEND_ALIGNMENT;
        finding->things[finding->count++] = thing;
    }
}

static void find_passes(struct finding *finding)
{
    for (int32_t i = 0; i < finding->list->op_count; i++) {
        const struct yk_op *op = &finding->list->ops[i];
        if (op->kind == YK_OP_FORWARD) {
            finding->forward[cell(finding, op->layer, op->micro_batch)] = i;
        } else if (op->kind == YK_OP_RECOMPUTE) {
            finding->recompute[cell(finding, op->layer, op->micro_batch)] = i;
        } else if (op->kind == YK_OP_BACKWARD) {
            finding->backward[cell(finding, op->layer, op->micro_batch)] = i;
        }
    }
}

/* What a layer puts out is held until the last that takes it has no more use for it; the gradient
 * comes back from the first of those that go backward. */
static void add_stream(struct finding *finding, int32_t layer, int32_t micro_batch, size_t bytes)
{
    const struct yk_model *model = yk_sizes_whole(finding->program->sizes);
    const int64_t at = cell(finding, layer, micro_batch);
    struct yk_place *place = &finding->places->of[at];
    int32_t last = -1;
    int32_t first_back = -1;
    for (int32_t e = 0; e < model->edge_count; e++) {
        const struct yk_layer_edge *edge = &model->edges[e];
        const int64_t there = cell(finding, edge->to, micro_batch);
        if (edge->from != layer || finding->forward[there] < 0) {
            continue;
        }
        const int32_t back = finding->backward[there];
        const bool kept = finding->net->layers[edge->to].keeps_input && back >= 0;
        const int32_t used = kept ? back : finding->forward[there];
        last = used > last ? used : last;
        first_back = back >= 0 && (first_back < 0 || back < first_back) ? back : first_back;
    }
    add(finding, (struct thing){bytes, finding->forward[at], last, &place->output, 0});
    /* A frozen layer that does not go backward itself is sent one all the same. */
    const int32_t last_back = finding->backward[at] >= 0 ? finding->backward[at] : first_back;
    add(finding, (struct thing){bytes, first_back, last_back, &place->gradient, 0});
}

static struct yk_extent extent_of(const struct yk_net *net, int32_t layer, int64_t samples)
{
    const struct yk_workload *workload = &net->workload;
    const int64_t target =
        workload->target_sequence > 0 ? workload->target_sequence : workload->sequence;
    return (struct yk_extent){
        .samples = samples,
        .sequence = net->layers[layer].decodes ? target : workload->sequence,
        .memory = net->layers[layer].memory >= 0 ? workload->sequence : 0,
    };
}

static void add_pass(struct finding *finding, int32_t layer, int32_t micro_batch)
{
    const int64_t at = cell(finding, layer, micro_batch);
    const int32_t forward = finding->forward[at];
    const int32_t recompute = finding->recompute[at];
    const int32_t backward = finding->backward[at];
    const struct yk_net *net = finding->net;
    struct yk_place *place = &finding->places->of[at];
    struct yk_layer_sizes sizes;
    const int64_t samples = forward >= 0 ? finding->list->ops[forward].samples : 0;
    if (samples == 0) {
        return;
    }
    const struct yk_extent extent = extent_of(net, layer, samples);
    const int64_t rows = samples * extent.sequence;
    net->layers[layer].kind->measure(net, layer, &extent, &sizes);
    add_stream(finding, layer, micro_batch,
               (size_t)(rows * net->config->width * yk_precision_bytes(net->workload.precision)));
    const int32_t kept = recompute >= 0 || backward < 0 ? forward : backward;
    const struct thing things[] = {
        {sizes.saved_bytes, forward, kept, &place->forward_saved, 0},
        {sizes.saved_bytes, recompute, backward, &place->saved, 0},
        {sizes.forward_bytes, forward, forward, &place->forward_work, 0},
        {sizes.forward_bytes, recompute, recompute, &place->recompute_work, 0},
        {sizes.backward_bytes, backward, backward, &place->backward_work, 0},
    };
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        add(finding, things[i]);
    }
}

/* The largest first; of equal ones the earlier. */
static int compare(const void *a, const void *b)
{
    const struct thing *left = a;
    const struct thing *right = b;
    if (left->bytes != right->bytes) {
        return left->bytes > right->bytes ? -1 : 1;
    }
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Where something lies. */
struct span {
    size_t begin;
    size_t end;
};

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a;
    const struct span *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

/* The lowest place that nothing held at the same time touches; `near` is room for all things. */
static void place_one(struct thing *thing, const struct thing *placed, int32_t count,
                      struct span *near)
{
    int32_t near_count = 0;
    for (int32_t i = 0; i < count; i++) {
        if (placed[i].from <= thing->until && thing->from <= placed[i].until) {
            near[near_count++] =
                (struct span){placed[i].offset, placed[i].offset + placed[i].bytes};
        }
    }
    qsort(near, (size_t)near_count, sizeof *near, compare_spans);
    size_t at = 0;
    for (int32_t i = 0; i < near_count && near[i].begin < at + thing->bytes; i++) {
        at = near[i].end > at ? near[i].end : at;
    }
    thing->offset = at;
    *thing->to = at;
}

static yk_status place_all(struct finding *finding, struct yk_arena *arena)
{
    struct span *near = NULL;
    YK_TRY_NEW(arena, near, finding->count + 1);
    qsort(finding->things, (size_t)finding->count, sizeof *finding->things, compare);
    for (int32_t i = 0; i < finding->count; i++) {
        struct thing *thing = &finding->things[i];
        place_one(thing, finding->things, i, near);
        const size_t end = thing->offset + thing->bytes;
        finding->places->bytes = end > finding->places->bytes ? end : finding->places->bytes;
    }
    return YK_OK;
}

static yk_status take_ops(struct yk_arena *arena, int64_t count, int32_t **out)
{
    YK_TRY_NEW(arena, *out, count);
    for (int64_t i = 0; i < count; i++) {
        (*out)[i] = -1;
    }
    return YK_OK;
}

static yk_status find(struct finding *finding, struct yk_arena *scratch)
{
    const struct yk_plan *plan = finding->program->plan;
    const int64_t cells = (int64_t)plan->layer_count * plan->micro_batches;
    YK_TRY(take_ops(scratch, cells, &finding->forward));
    YK_TRY(take_ops(scratch, cells, &finding->recompute));
    YK_TRY(take_ops(scratch, cells, &finding->backward));
    YK_TRY_NEW(scratch, finding->things, cells * THINGS_OF_PASS);
    find_passes(finding);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        for (int32_t m = 0; m < plan->micro_batches; m++) {
            add_pass(finding, l, m);
        }
    }
    YK_TRY(place_all(finding, scratch));
    for (int64_t i = 0; i < cells; i++) {
        struct yk_place *place = &finding->places->of[i];
        place->saved = finding->recompute[i] >= 0 ? place->saved : place->forward_saved;
    }
    return YK_OK;
}

yk_status yk_places_find(const struct yk_program *program, int32_t rank, const struct yk_net *net,
                         struct yk_arena *arena, struct yk_places *out)
{
    struct finding finding = {
        .program = program, .list = &program->ranks[rank], .net = net, .places = out};
    struct yk_arena *scratch = NULL;
    *out = (struct yk_places){0};
    YK_TRY_NEW(arena, out->of, (int64_t)net->layer_count * program->plan->micro_batches);
    YK_TRY(yk_arena_create(&scratch));
    const yk_status status = find(&finding, scratch);
    yk_arena_destroy(scratch);
    return status;
}
