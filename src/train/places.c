#include "train/places.h"

#include "train/places_rules.h"

#include <inttypes.h>

static yk_status set_up(struct yk_placing *placing, struct yk_arena *arena)
{
    const struct yk_facts *facts = placing->view->facts;
    struct yk_places *places = placing->places;
    const int32_t ops = placing->view->list->op_count;
    YK_TRY_NEW(arena, places->of, (int64_t)facts->L * facts->M);
    YK_TRY_NEW(arena, places->crossings, (int64_t)facts->crossing_count * facts->M + 1);
    YK_TRY_NEW(arena, places->ops, ops + 1);
    for (int32_t i = 0; i < ops; i++) {
        places->ops[i] = (struct yk_op_place){.weights = YK_PLACE_NONE,
                                              .leader_weights = YK_PLACE_NONE,
                                              .gradient = YK_PLACE_NONE,
                                              .leader_gradient = YK_PLACE_NONE};
    }
    return YK_OK;
}

/* What was not saved again in recomputation is where forward saved it; what lands where nobody else
 * adds is the gradient. */
static void settle(struct yk_placing *placing)
{
    const struct yk_facts *facts = placing->view->facts;
    for (int32_t l = 0; l < facts->L; l++) {
        for (int32_t m = 0; m < facts->M; m++) {
            struct yk_place *place = &placing->places->of[yk_placing_cell(placing, l, m)];
            const bool again = yk_placing_recompute(placing, l, m) != YK_OP_NONE;
            place->saved = again ? place->saved : place->forward_saved;
        }
    }
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        for (int32_t m = 0; m < facts->M; m++) {
            struct yk_crossing_place *place = yk_placing_crossing(placing, c, m);
            const int64_t made = yk_placing_cell(placing, facts->crossings[c].producer, m);
            place->landing = place->direct ? placing->places->of[made].gradient : place->landing;
        }
    }
}

static yk_status find(struct yk_placing *placing, struct yk_arena *arena)
{
    struct yk_places *places = placing->places;
    YK_TRY(set_up(placing, arena));
    yk_placing_add_crossings(placing);
    yk_placing_add_passes(placing);
    YK_TRY(yk_placing_add_wholes(placing, arena));
    yk_placing_find_clears(placing);
    YK_TRY(yk_things_place(&placing->things, placing->view, &places->bytes));
    YK_TRY(yk_things_find_waits(&placing->things, placing->view, arena, &places->waits,
                                &places->wait_count));
    settle(placing);
    return YK_OK;
}

yk_status yk_places_find(const struct yk_places_wish *wish, struct yk_arena *arena,
                         struct yk_places *out)
{
    struct yk_placing placing = {
        .wish = wish,
        .program = wish->view->facts->program,
        .view = wish->view,
        .net = wish->net,
        .places = out,
    };
    *out = (struct yk_places){0};
    /* The model has checked that a pass with all samples of the batch can be counted, several times
     * over: what layers multiply (nn) needs no check of its own for as many again. */
    if (wish->spare_samples < 0 || wish->spare_samples > wish->net->workload.batch) {
        return yk_fail(YK_ERROR_INPUT,
                       "room for %" PRId64 " samples besides a batch of %" PRId64
                       " is more than can be counted",
                       wish->spare_samples, wish->net->workload.batch);
    }
    const yk_status status = find(&placing, arena);
    yk_things_free(&placing.things);
    return status;
}
