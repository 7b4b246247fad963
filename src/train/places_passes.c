/* Where the passes of a rank find what comes in, and put what they save and send on. */
#include "train/places_rules.h"

static int64_t sequence_of(const struct yk_net *net, int32_t layer)
{
    const struct yk_workload *workload = &net->workload;
    return net->layers[layer].decodes && workload->target_sequence > 0 ? workload->target_sequence
                                                                       : workload->sequence;
}

static struct yk_extent extent_of(const struct yk_net *net, int32_t layer, int64_t samples)
{
    return (struct yk_extent){
        .samples = samples,
        .sequence = sequence_of(net, layer),
        .memory = net->layers[layer].memory >= 0 ? net->workload.sequence : 0,
    };
}

size_t yk_placing_output_bytes(const struct yk_placing *placing, int32_t layer, int64_t samples)
{
    const struct yk_net *net = placing->net;
    const int64_t rows = (samples + placing->wish->spare_samples) * sequence_of(net, layer);
    return samples > 0
               ? (size_t)(rows * net->config->width * yk_precision_bytes(net->workload.precision))
               : 0;
}

static int32_t later(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t earlier(int32_t a, int32_t b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* When layers of `group` here that take an output are done with it, and when the first of them
 * begins to send its gradient back. */
struct takers {
    int32_t last_use;
    int32_t first_back;
    int32_t last_back;
};

static void see_taker(const struct yk_placing *placing, int32_t layer, int32_t micro_batch,
                      struct takers *takers)
{
    const struct yk_rank_view *view = placing->view;
    const int64_t at = yk_placing_cell(placing, layer, micro_batch);
    const int32_t back = view->backward[at];
    const int32_t forward = later(view->forward[at], view->recompute[at]);
    const bool kept = placing->net->layers[layer].keeps_input && back >= 0;
    takers->last_use = later(takers->last_use, kept ? back : forward);
    takers->first_back = earlier(takers->first_back, back);
    takers->last_back = later(takers->last_back, back);
}

static struct takers find_takers(const struct yk_placing *placing, int32_t producer, int32_t group,
                                 int32_t micro_batch)
{
    const struct yk_facts *facts = placing->view->facts;
    struct takers takers = {-1, -1, -1};
    for (int32_t e = 0; e < facts->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &facts->model->edges[e];
        if (edge->from == producer && facts->plan->layers[edge->to].group == group) {
            see_taker(placing, edge->to, micro_batch, &takers);
        }
    }
    return takers;
}

/* The last message of a producer's output in a micro-batch, in one direction. */
static int32_t last_message(const struct yk_placing *placing, enum yk_op_kind kind, int32_t layer,
                            int32_t micro_batch, bool backward)
{
    const struct yk_rank_view *view = placing->view;
    int32_t last = -1;
    for (int32_t i = view->first[kind][layer]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *op = &view->list->ops[i];
        if (op->micro_batch == micro_batch && op->backward == backward) {
            last = later(last, i);
        }
    }
    return last;
}

static int32_t first_message(const struct yk_placing *placing, enum yk_op_kind kind, int32_t layer,
                             int32_t micro_batch, bool backward)
{
    const struct yk_rank_view *view = placing->view;
    int32_t first = -1;
    for (int32_t i = view->first[kind][layer]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *op = &view->list->ops[i];
        if (op->micro_batch == micro_batch && op->backward == backward) {
            first = earlier(first, i);
        }
    }
    return first;
}

/* Samples of a micro-batch that this rank takes in a group. */
static int64_t samples_in(const struct yk_placing *placing, int32_t group, int32_t micro_batch)
{
    int64_t first = 0;
    const int32_t member = placing->view->members[group];
    return member >= 0
               ? yk_plan_samples(placing->view->facts->plan, group, member, micro_batch, &first)
               : 0;
}

/* On the side that takes an output: from when it comes, or is made here for another group, until it
 * has been used; and its gradient until it has been sent, or taken over here. */
static void add_taken(struct yk_placing *placing, const struct yk_crossing *crossing,
                      int32_t micro_batch, struct yk_crossing_place *place)
{
    const int32_t producer = crossing->producer;
    const int64_t samples = samples_in(placing, crossing->group, micro_batch);
    const size_t bytes = yk_placing_output_bytes(placing, producer, samples);
    const struct takers takers = find_takers(placing, producer, crossing->group, micro_batch);
    const int64_t made = yk_placing_cell(placing, producer, micro_batch);
    const int32_t forward = placing->view->forward[made];
    const int32_t backward = placing->view->backward[made];
    const int32_t received = first_message(placing, YK_OP_RECV, producer, micro_batch, false);
    const int32_t sent = last_message(placing, YK_OP_SEND, producer, micro_batch, true);
    place->takes = samples > 0;
    yk_things_add(&placing->things, (struct yk_thing){.bytes = bytes,
                                                      .from = earlier(received, forward),
                                                      .until = takers.last_use,
                                                      .to = &place->input});
    yk_things_add(&placing->things,
                  (struct yk_thing){.bytes = bytes,
                                    .from = takers.first_back,
                                    .until = later(later(sent, backward), takers.last_back),
                                    .to = &place->input_gradient});
}

/* Whether layers of the producer's own group here take its output, or the rank itself takes it in
 * another group: then gradients come together from several sides. */
static bool is_shared(const struct yk_placing *placing, int32_t producer, int32_t micro_batch)
{
    const struct yk_facts *facts = placing->view->facts;
    const int32_t group = facts->plan->layers[producer].group;
    int32_t groups = 0;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        if (facts->crossings[c].producer == producer) {
            groups++;
            if (samples_in(placing, facts->crossings[c].group, micro_batch) > 0) {
                return true;
            }
        }
    }
    return groups > 1 || find_takers(placing, producer, group, micro_batch).last_use >= 0;
}

/* On the side that made it: what comes back of its gradient. */
static void add_made(struct yk_placing *placing, const struct yk_crossing *crossing,
                     int32_t micro_batch, struct yk_crossing_place *place)
{
    const int32_t producer = crossing->producer;
    const int32_t group = placing->view->facts->plan->layers[producer].group;
    const int64_t samples = samples_in(placing, group, micro_batch);
    const int32_t received = first_message(placing, YK_OP_RECV, producer, micro_batch, true);
    place->makes = samples > 0;
    place->direct = samples > 0 && !is_shared(placing, producer, micro_batch);
    if (!place->direct) {
        yk_things_add(
            &placing->things,
            (struct yk_thing){
                .bytes = yk_placing_output_bytes(placing, producer, samples),
                .from = received,
                .until = placing->view->backward[yk_placing_cell(placing, producer, micro_batch)],
                .to = &place->landing});
    }
}

void yk_placing_add_crossings(struct yk_placing *placing)
{
    const struct yk_facts *facts = placing->view->facts;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        for (int32_t m = 0; m < facts->M; m++) {
            add_taken(placing, &facts->crossings[c], m, yk_placing_crossing(placing, c, m));
            add_made(placing, &facts->crossings[c], m, yk_placing_crossing(placing, c, m));
        }
    }
}

/* What a layer puts out is held until the last that takes it here has no more use for it and it has
 * been sent; the gradient from when the first part of it comes. */
static void add_stream(struct yk_placing *placing, int32_t layer, int32_t micro_batch, size_t bytes)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_facts *facts = view->facts;
    const int64_t at = yk_placing_cell(placing, layer, micro_batch);
    const int32_t group = facts->plan->layers[layer].group;
    struct yk_place *place = &placing->places->of[at];
    struct takers takers = find_takers(placing, layer, group, micro_batch);
    int32_t last =
        later(takers.last_use, last_message(placing, YK_OP_SEND, layer, micro_batch, false));
    int32_t first_back =
        earlier(takers.first_back, first_message(placing, YK_OP_RECV, layer, micro_batch, true));
    int32_t last_back = takers.last_back;
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        const int32_t other = facts->crossings[c].group;
        if (facts->crossings[c].producer == layer && view->members[other] >= 0) {
            const struct takers there = find_takers(placing, layer, other, micro_batch);
            last = later(last, there.last_use);
            first_back = earlier(first_back, there.first_back);
        }
    }
    /* A frozen layer that does not go backward itself is sent one all the same. */
    last_back = view->backward[at] >= 0 ? view->backward[at] : last_back;
    yk_things_add(&placing->things, (struct yk_thing){.bytes = bytes,
                                                      .from = view->forward[at],
                                                      .until = last,
                                                      .to = &place->output});
    yk_things_add(&placing->things, (struct yk_thing){.bytes = bytes,
                                                      .from = first_back,
                                                      .until = last_back,
                                                      .to = &place->gradient});
}

static void add_pass(struct yk_placing *placing, int32_t layer, int32_t micro_batch)
{
    const struct yk_rank_view *view = placing->view;
    const int64_t at = yk_placing_cell(placing, layer, micro_batch);
    const int32_t forward = view->forward[at];
    const int32_t recompute = yk_placing_recompute(placing, layer, micro_batch);
    const int32_t backward = view->backward[at];
    const struct yk_net *net = placing->net;
    struct yk_place *place = &placing->places->of[at];
    struct yk_layer_sizes sizes;
    const int64_t samples = forward >= 0 ? view->list->ops[forward].samples : 0;
    if (samples == 0) {
        return;
    }
    const struct yk_extent extent = extent_of(net, layer, samples + placing->wish->spare_samples);
    net->layers[layer].kind->measure(net, layer, &extent, &sizes);
    add_stream(placing, layer, micro_batch, yk_placing_output_bytes(placing, layer, samples));
    const int32_t kept = recompute >= 0 || backward < 0 ? forward : backward;
    const struct yk_thing things[] = {
        {sizes.saved_bytes, forward, kept, 0, &place->forward_saved, 0},
        {sizes.saved_bytes, recompute, backward, 0, &place->saved, 0},
        {sizes.forward_bytes, forward, forward, 0, &place->forward_work, 0},
        {sizes.forward_bytes, recompute, recompute, 0, &place->recompute_work, 0},
        {sizes.backward_bytes, backward, backward, 0, &place->backward_work, 0},
    };
    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        yk_things_add(&placing->things, things[i]);
    }
}

void yk_placing_add_passes(struct yk_placing *placing)
{
    const struct yk_facts *facts = placing->view->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        for (int32_t m = 0; m < facts->M; m++) {
            add_pass(placing, l, m);
        }
    }
}
