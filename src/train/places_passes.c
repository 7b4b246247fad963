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
    int64_t bytes = samples > 0 ? yk_precision_bytes(net->workload.precision) : 0;
    const bool overflows =
        __builtin_mul_overflow(bytes, samples + placing->wish->spare_samples, &bytes) ||
        __builtin_mul_overflow(bytes, sequence_of(net, layer), &bytes) ||
        __builtin_mul_overflow(bytes, net->config->width, &bytes);
    return overflows ? SIZE_MAX : (size_t)bytes;
}

/* Layers of `group` here that take an output: what they have of it is held until they are done with
 * it, and its gradient from when the first of them begins to send it back. */
static void hold_taken(const struct yk_placing *placing, int32_t producer, int32_t group,
                       int32_t micro_batch, struct yk_thing *output, struct yk_thing *gradient)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_facts *facts = view->facts;
    for (int32_t e = 0; e < facts->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &facts->model->edges[e];
        if (edge->from != producer || facts->plan->layers[edge->to].group != group) {
            continue;
        }
        const int64_t at = yk_placing_cell(placing, edge->to, micro_batch);
        const int32_t back = view->backward[at];
        yk_thing_end(output, view, view->forward[at]);
        yk_thing_end(output, view, view->recompute[at]);
        if (placing->net->layers[edge->to].keeps_input) {
            yk_thing_end(output, view, back);
        }
        yk_thing_begin(gradient, view, back);
        yk_thing_end(gradient, view, back);
    }
}

/* Whether layers of a group that this rank is in take an output. */
static bool is_taken(const struct yk_placing *placing, int32_t producer, int32_t group)
{
    const struct yk_facts *facts = placing->view->facts;
    for (int32_t e = 0; e < facts->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &facts->model->edges[e];
        if (edge->from == producer && facts->plan->layers[edge->to].group == group) {
            return true;
        }
    }
    return false;
}

/* Messages of a producer's output, or of its gradient: a thing is held from them or until them. */
static void hold_messages(const struct yk_placing *placing, enum yk_op_kind kind, int32_t layer,
                          int32_t micro_batch, bool backward, struct yk_thing *thing)
{
    const struct yk_rank_view *view = placing->view;
    for (int32_t i = view->first[kind][layer]; i != YK_OP_NONE; i = view->next[i]) {
        const struct yk_op *op = &view->list->ops[i];
        if (op->micro_batch != micro_batch || op->backward != backward) {
            continue;
        }
        if (kind == YK_OP_RECV) {
            yk_thing_begin(thing, view, i);
        } else {
            yk_thing_end(thing, view, i);
        }
    }
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
    const struct yk_rank_view *view = placing->view;
    const int32_t producer = crossing->producer;
    const int64_t samples = samples_in(placing, crossing->group, micro_batch);
    const size_t bytes = yk_placing_output_bytes(placing, producer, samples);
    const int64_t made = yk_placing_cell(placing, producer, micro_batch);
    struct yk_thing input = yk_thing_new(bytes, &place->input);
    struct yk_thing gradient = yk_thing_new(bytes, &place->input_gradient);
    place->takes = samples > 0;
    hold_taken(placing, producer, crossing->group, micro_batch, &input, &gradient);
    hold_messages(placing, YK_OP_RECV, producer, micro_batch, false, &input);
    yk_thing_begin(&input, view, view->forward[made]);
    hold_messages(placing, YK_OP_SEND, producer, micro_batch, true, &gradient);
    yk_thing_end(&gradient, view, view->backward[made]);
    yk_things_add(&placing->things, input);
    yk_things_add(&placing->things, gradient);
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
    return groups > 1 || is_taken(placing, producer, group);
}

/* On the side that made it: what comes back of its gradient. */
static void add_made(struct yk_placing *placing, const struct yk_crossing *crossing,
                     int32_t micro_batch, struct yk_crossing_place *place)
{
    const struct yk_rank_view *view = placing->view;
    const int32_t producer = crossing->producer;
    const int64_t samples =
        samples_in(placing, view->facts->plan->layers[producer].group, micro_batch);
    struct yk_thing landing =
        yk_thing_new(yk_placing_output_bytes(placing, producer, samples), &place->landing);
    place->makes = samples > 0;
    place->direct = samples > 0 && !is_shared(placing, producer, micro_batch);
    hold_messages(placing, YK_OP_RECV, producer, micro_batch, true, &landing);
    yk_thing_end(&landing, view, view->backward[yk_placing_cell(placing, producer, micro_batch)]);
    if (!place->direct) {
        yk_things_add(&placing->things, landing);
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

/* What a layer puts out is held until all that take it here have no more use for it and it has been
 * sent; the gradient from when the first part of it comes. */
static void add_stream(struct yk_placing *placing, int32_t layer, int32_t micro_batch, size_t bytes)
{
    const struct yk_rank_view *view = placing->view;
    const struct yk_facts *facts = view->facts;
    const int64_t at = yk_placing_cell(placing, layer, micro_batch);
    struct yk_place *place = &placing->places->of[at];
    struct yk_thing output = yk_thing_new(bytes, &place->output);
    struct yk_thing gradient = yk_thing_new(bytes, &place->gradient);
    hold_taken(placing, layer, facts->plan->layers[layer].group, micro_batch, &output, &gradient);
    hold_messages(placing, YK_OP_SEND, layer, micro_batch, false, &output);
    hold_messages(placing, YK_OP_RECV, layer, micro_batch, true, &gradient);
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        const int32_t other = facts->crossings[c].group;
        if (facts->crossings[c].producer == layer && view->members[other] >= 0) {
            hold_taken(placing, layer, other, micro_batch, &output, &gradient);
        }
    }
    yk_thing_begin(&output, view, view->forward[at]);
    /* A frozen layer that does not go backward itself is sent one all the same. */
    yk_thing_end(&gradient, view, view->backward[at]);
    yk_things_add(&placing->things, output);
    yk_things_add(&placing->things, gradient);
}

/* Held during passes: from the first that is there to the last. */
static void add_between(struct yk_placing *placing, size_t bytes, int32_t from, int32_t until,
                        size_t *to)
{
    struct yk_thing thing = yk_thing_new(bytes, to);
    yk_thing_begin(&thing, placing->view, from);
    yk_thing_end(&thing, placing->view, until);
    yk_things_add(&placing->things, thing);
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
    add_between(placing, sizes.saved_bytes, forward, kept, &place->forward_saved);
    add_between(placing, sizes.saved_bytes, recompute, backward, &place->saved);
    add_between(placing, sizes.forward_bytes, forward, forward, &place->forward_work);
    add_between(placing, sizes.forward_bytes, recompute, recompute, &place->recompute_work);
    add_between(placing, sizes.backward_bytes, backward, backward, &place->backward_work);
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
