/* Where weights lie while they are gathered, and gradients while they are summed up to be
 * scattered, or to be reduced micro-batch by micro-batch. */
#include "nn/carve.h"
#include "program/layout.h"
#include "train/places_rules.h"

#include <stdlib.h>

static size_t *new_whole(struct yk_placing *placing, int32_t *out)
{
    *out = placing->places->whole_count++;
    return &placing->places->wholes[*out];
}

/* The release that ends the stay of weights that op `number` belongs to: the next one in the list,
 * or the first one of the next round. */
static int32_t next_release(const struct yk_rank_view *view, int32_t layer, int32_t number)
{
    int32_t first = -1;
    int32_t next = -1;
    for (int32_t i = view->first[YK_OP_RELEASE][layer]; i != YK_OP_NONE; i = view->next[i]) {
        first = first < 0 || i < first ? i : first;
        next = i >= number && (next < 0 || i < next) ? i : next;
    }
    return next >= 0 ? next : first;
}

static int32_t *stay_of(const struct yk_placing *placing, int32_t number, bool leader)
{
    struct yk_op_place *place = &placing->places->ops[number];
    return leader ? &place->leader_weights : &place->weights;
}

/* Tells every pass with the weights of `layer` that the stay which ends at `release` is at `whole`.
 */
static void note_users(struct yk_placing *placing, int32_t layer, int32_t release, int32_t whole)
{
    const struct yk_rank_view *view = placing->view;
    for (int32_t u = layer; u >= 0; u = yk_facts_next_user(view->facts, layer, u)) {
        for (int32_t m = 0; m < view->facts->M; m++) {
            const int64_t cell = yk_rank_view_cell(view, u, m);
            const int32_t passes[] = {view->forward[cell], view->recompute[cell],
                                      view->backward[cell]};
            for (int32_t i = 0; i < 3; i++) {
                if (passes[i] >= 0 && next_release(view, layer, passes[i]) == release) {
                    *stay_of(placing, passes[i], u != layer) = whole;
                }
            }
        }
    }
}

/* Gathered weights stay from the first gather after the release before, until the release. */
static void add_stay(struct yk_placing *placing, int32_t layer, int32_t release)
{
    const struct yk_rank_view *view = placing->view;
    int32_t whole = YK_PLACE_NONE;
    size_t *to = new_whole(placing, &whole);
    int32_t first = -1;   /* before the release, in the list */
    int32_t wrapped = -1; /* after it: of the round before */
    for (int32_t i = view->first[YK_OP_GATHER][layer]; i != YK_OP_NONE; i = view->next[i]) {
        if (next_release(view, layer, i) == release) {
            int32_t *slot = i < release ? &first : &wrapped;
            *slot = *slot < 0 || i < *slot ? i : *slot;
            *stay_of(placing, i, false) = whole;
        }
    }
    placing->places->ops[release].weights = whole;
    note_users(placing, layer, release, whole);
    struct yk_thing stay = yk_thing_new(placing->net->layers[layer].weight_bytes, to);
    yk_thing_begin(&stay, view, wrapped >= 0 ? wrapped : first);
    yk_thing_end(&stay, view, release);
    stay.lag = wrapped >= 0 ? 1 : 0;
    yk_things_add(&placing->things, stay);
}

/* A sum of gradients in the making: that of one micro-batch, or of all. */
struct sum {
    int32_t first_back;
    int32_t last_scatter;
    int32_t lag; /* of that: put off into the round after */
};

/* Tells every backward pass that adds to the gradient of `layer` that it is `at` bytes into
 * `whole`.
 */
static void note_sum(struct yk_placing *placing, int32_t layer, int32_t micro_batch, int32_t whole,
                     size_t at, struct sum *sum)
{
    const struct yk_rank_view *view = placing->view;
    for (int32_t u = layer; u >= 0; u = yk_facts_next_user(view->facts, layer, u)) {
        const int32_t back = view->backward[yk_rank_view_cell(view, u, micro_batch)];
        if (back >= 0) {
            struct yk_op_place *place = &placing->places->ops[back];
            *(u == layer ? &place->gradient : &place->leader_gradient) = whole;
            *(u == layer ? &place->gradient_at : &place->leader_gradient_at) = at;
            sum->first_back =
                sum->first_back < 0 || back < sum->first_back ? back : sum->first_back;
        }
    }
}

static void add_sum(struct yk_placing *placing, int32_t layer, int32_t first, int32_t last)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_net *net = placing->net;
    struct sum sum = {-1, -1, 0};
    int32_t whole = YK_PLACE_NONE;
    size_t *to = new_whole(placing, &whole);
    for (int32_t m = first; m <= last; m++) {
        note_sum(placing, layer, m, whole, 0, &sum);
    }
    for (int32_t i = view->first[YK_OP_SCATTER][layer]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *op = &view->list->ops[i];
        if (op->micro_batch < first || op->micro_batch > last) {
            continue;
        }
        const int32_t lag = op->step < 0 ? 1 : 0;
        const bool after = lag > sum.lag || (lag == sum.lag && i > sum.last_scatter);
        placing->places->ops[i].gradient = whole;
        sum.last_scatter = after ? i : sum.last_scatter;
        sum.lag = after ? lag : sum.lag;
    }
    const int64_t bytes = net->layers[layer].trained * yk_precision_bytes(net->workload.precision);
    struct yk_thing thing = yk_thing_new((size_t)bytes, to);
    yk_thing_begin(&thing, view, sum.first_back);
    yk_thing_end(&thing, view, sum.last_scatter);
    thing.lag = sum.lag;
    yk_things_add(&placing->things, thing);
}

static void add_sums(struct yk_placing *placing, int32_t layer)
{
    const int32_t M = placing->view->facts->M;
    if (yk_facts_is_summed(placing->view->facts, layer)) {
        add_sum(placing, layer, 0, M - 1);
        return;
    }
    for (int32_t m = 0; m < M; m++) {
        add_sum(placing, layer, m, m);
    }
}

/* Whether another reduction of the step has put its sums before: see is_added() of exchanges. */
static bool adds(const struct yk_rank_view *view, int32_t bucket, int32_t number)
{
    const struct yk_op *op = &view->list->ops[number];
    for (int32_t i = view->first[YK_OP_REDUCE][bucket]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *other = &view->list->ops[i];
        if (other->step > op->step || (other->step == op->step && i < number)) {
            return true;
        }
    }
    return false;
}

/* The gradients of a bucket's layers in one micro-batch, behind each other as the store keeps them.
 */
static void add_bucket_sum(struct yk_placing *placing, int32_t bucket, int32_t number)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_net *net = placing->net;
    const struct yk_bucket *reduced = &placing->program->buckets[bucket];
    const size_t width = (size_t)yk_precision_bytes(net->workload.precision);
    const struct yk_op *op = &view->list->ops[number];
    struct yk_op_place *place = &placing->places->ops[number];
    struct yk_carver carver = {0};
    struct sum sum = {-1, -1, 0};
    int32_t whole = YK_PLACE_NONE;
    size_t *to = new_whole(placing, &whole);
    for (int32_t i = 0; i < reduced->layer_count; i++) {
        const int32_t layer = reduced->layers[i];
        note_sum(placing, layer, op->micro_batch, whole, carver.used, &sum);
        place->reduced_bytes = carver.used + (size_t)net->layers[layer].trained * width;
        (void)yk_carve(&carver, net->layers[layer].trained, width);
    }
    place->gradient = whole;
    place->adds = adds(view, bucket, number);
    struct yk_thing thing = yk_thing_new(carver.used, to);
    yk_thing_begin(&thing, view, sum.first_back);
    yk_thing_end(&thing, view, number);
    thing.lag = op->step < 0 ? 1 : 0;
    yk_things_add(&placing->things, thing);
}

static void add_bucket_sums(struct yk_placing *placing)
{
    const struct yk_rank_view *view = placing->view;
    for (int32_t b = 0; b < placing->program->bucket_count; b++) {
        const int32_t layer = placing->program->buckets[b].layers[0];
        if (!yk_rank_view_holds(view, layer) || yk_facts_is_summed(view->facts, layer)) {
            continue;
        }
        for (int32_t i = view->first[YK_OP_REDUCE][b]; i != YK_OP_NONE; i = view->next[i]) {
            add_bucket_sum(placing, b, i);
        }
    }
}

yk_status yk_placing_add_wholes(struct yk_placing *placing, struct yk_arena *arena)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_facts *facts = view->facts;
    const int64_t most = view->list->op_count + (int64_t)facts->L * facts->M;
    YK_TRY_NEW(arena, placing->places->wholes, most + 1);
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_rank_view_holds(view, l)) {
            continue;
        }
        for (int32_t i = view->first[YK_OP_RELEASE][l];
             i != YK_OP_NONE && yk_layout_is_gathered(placing->program, l); i = view->next[i]) {
            add_stay(placing, l, i);
        }
        if (yk_layout_is_scattered(placing->program, l)) {
            add_sums(placing, l);
        }
    }
    add_bucket_sums(placing);
    return YK_OK;
}

/* Gradients of a layer are added up from nothing: by the first backward that uses its weights, of
 * each sum. */
static void find_clear(struct yk_placing *placing, int32_t layer, int32_t first, int32_t last)
{
    const struct yk_rank_view *view = placing->view;
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
        struct yk_op_place *place = &placing->places->ops[op];
        *(leader ? &place->clears_leader : &place->clears_gradient) = true;
    }
}

void yk_placing_find_clears(struct yk_placing *placing)
{
    const struct yk_facts *facts = placing->view->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        if (!yk_rank_view_holds(placing->view, l) || placing->net->layers[l].trained == 0) {
            continue;
        }
        const bool all = yk_facts_is_summed(facts, l);
        for (int32_t m = 0; m < (all ? 1 : facts->M); m++) {
            find_clear(placing, l, m, all ? facts->M - 1 : m);
        }
    }
}
