/* From which op to which op buffers live, on tiny steps whose programs are known by hand. */
#include "program/memory/buffer_lifetimes.h"

#include "support/programs/tiny_step.h"
#include "support/support.h"

static struct tiny_step tiny;
static struct yk_op_index *op_index;
static struct yk_buffer_lifetimes lifetimes;

static int tear_down(void **state)
{
    (void)state;
    tiny_step_free(&tiny);
    tiny = (struct tiny_step){0};
    return 0;
}

static void find(int32_t rank)
{
    struct yk_program_facts *facts = NULL;
    tiny_step_compile(&tiny);
    assert_ok(yk_program_facts_make(tiny.program, tiny.arena, &facts));
    assert_ok(yk_op_index_make_lookup_only(facts, rank, tiny.arena, &op_index));
    assert_ok(yk_buffer_lifetimes_find(op_index, tiny.arena, &lifetimes));
}

/* The `number`th of a kind and layer, or NULL. */
static const struct yk_buffer_lifetime *lifetime_of(enum yk_buffer_kind kind, int32_t layer,
                                                    int32_t number)
{
    for (int32_t i = 0; i < lifetimes.count; i++) {
        const struct yk_buffer_lifetime *lifetime = &lifetimes.items[i];
        if (lifetime->kind == kind && lifetime->layer == layer && number-- == 0) {
            return lifetime;
        }
    }
    return NULL;
}

/* The first op of that kind of a layer. */
static int32_t op_of(enum yk_op_kind kind, int32_t layer)
{
    for (int32_t i = 0; i < op_index->list->op_count; i++) {
        if (op_index->list->ops[i].kind == kind && op_index->list->ops[i].layer == layer) {
            return i;
        }
    }
    fail_msg("layer %d has no op of kind %d", (int)layer, (int)kind);
    return YK_OP_NONE;
}

static void assert_computes(const struct yk_buffer_lifetime *lifetime, int32_t begin, int32_t end)
{
    assert_non_null(lifetime);
    assert_int_equal(lifetime->begin[YK_LANE_COMPUTE], begin);
    assert_int_equal(lifetime->begin[YK_LANE_COMM], YK_OP_NONE);
    assert_int_equal(lifetime->end[YK_LANE_COMPUTE], end);
    assert_int_equal(lifetime->end[YK_LANE_COMM], YK_OP_NONE);
    assert_int_equal(lifetime->lag_iterations, 0);
}

static void an_output_lives_until_who_keeps_it_has_gone_backward(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1});
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT, 0, 0), op_of(YK_OP_FORWARD, 0),
                    op_of(YK_OP_BACKWARD, 1));
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT_GRADIENT, 0, 0), op_of(YK_OP_BACKWARD, 1),
                    op_of(YK_OP_BACKWARD, 0));
    assert_null(lifetime_of(YK_BUFFER_OUTPUT, 3, 0)); /* the head's goes to nobody */
}

/* A frozen head needs no input to go backward. */
static void an_output_that_nobody_keeps_ends_with_forward(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1, .lora_rank = 2});
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT, 2, 0), op_of(YK_OP_FORWARD, 2),
                    op_of(YK_OP_FORWARD, 3));
}

/* Both decoders read the encoder's output; the first goes backward last. */
static void an_output_that_several_need_is_one_buffer(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .config = TINY_TRANSLATOR});
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT, 1, 0), op_of(YK_OP_FORWARD, 1),
                    op_of(YK_OP_BACKWARD, 3));
    assert_null(lifetime_of(YK_BUFFER_OUTPUT, 1, 1));
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT_GRADIENT, 1, 0), op_of(YK_OP_BACKWARD, 4),
                    op_of(YK_OP_BACKWARD, 1));
}

static void what_is_computed_again_is_saved_again(void **state)
{
    (void)state;
    tiny = tiny_step_make((struct tiny_options){.cluster = "cpu:1", .blocks = 1});
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_SAVED_ACTIVATIONS, 1, 0), op_of(YK_OP_FORWARD, 1),
                    op_of(YK_OP_BACKWARD, 1));
    assert_null(lifetime_of(YK_BUFFER_RECOMPUTED_ACTIVATIONS, 1, 0));
    tiny.plan->layers[1].recompute = true;
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_SAVED_ACTIVATIONS, 1, 0), op_of(YK_OP_FORWARD, 1),
                    op_of(YK_OP_FORWARD, 1));
    assert_computes(lifetime_of(YK_BUFFER_RECOMPUTED_ACTIVATIONS, 1, 0), op_of(YK_OP_RECOMPUTE, 1),
                    op_of(YK_OP_BACKWARD, 1));
}

/* Embed and block on rank 0, norm and head on rank 1. */
static void a_message_is_the_output_on_one_side_and_the_input_on_the_other(void **state)
{
    (void)state;
    static const int32_t groups[] = {0, 0, 1, 1};
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .groups = 2, .blocks = 1, .batch = 1});
    tiny_step_set_stages(&tiny, groups);
    find(0);
    const struct yk_buffer_lifetime *output = lifetime_of(YK_BUFFER_OUTPUT, 1, 0);
    assert_int_equal(output->begin[YK_LANE_COMPUTE], op_of(YK_OP_FORWARD, 1));
    assert_int_equal(output->end[YK_LANE_COMPUTE], YK_OP_NONE);
    assert_int_equal(output->end[YK_LANE_COMM], op_of(YK_OP_SEND, 1));
    const struct yk_buffer_lifetime *gradient = lifetime_of(YK_BUFFER_OUTPUT_GRADIENT, 1, 0);
    assert_int_equal(gradient->begin[YK_LANE_COMM], op_of(YK_OP_RECV, 1));
    assert_int_equal(gradient->end[YK_LANE_COMPUTE], op_of(YK_OP_BACKWARD, 1));
    find(1);
    const struct yk_buffer_lifetime *input = lifetime_of(YK_BUFFER_INPUT, 1, 0);
    assert_int_equal(input->begin[YK_LANE_COMM], op_of(YK_OP_RECV, 1));
    assert_int_equal(input->end[YK_LANE_COMPUTE], op_of(YK_OP_BACKWARD, 2));
    const struct yk_buffer_lifetime *returned = lifetime_of(YK_BUFFER_INPUT_GRADIENT, 1, 0);
    assert_int_equal(returned->begin[YK_LANE_COMPUTE], op_of(YK_OP_BACKWARD, 2));
    assert_int_equal(returned->end[YK_LANE_COMM], op_of(YK_OP_SEND, 1));
}

/* Rank 0 has both groups: what one makes is copied when the other first takes it. */
static void what_a_rank_makes_for_itself_lives_twice(void **state)
{
    (void)state;
    tiny = tiny_step_make(
        (struct tiny_options){.cluster = "2xcpu:1", .groups = 2, .blocks = 1, .batch = 2});
    tiny_step_add_member(&tiny, 0, 0, 2, 1);
    tiny_step_add_member(&tiny, 1, 0, 2, 1);
    tiny.plan->layers[2].group = 1;
    tiny.plan->layers[3].group = 1;
    find(0);
    assert_computes(lifetime_of(YK_BUFFER_OUTPUT, 1, 0), op_of(YK_OP_FORWARD, 1),
                    op_of(YK_OP_FORWARD, 2));
    assert_computes(lifetime_of(YK_BUFFER_INPUT, 1, 0), op_of(YK_OP_FORWARD, 2),
                    op_of(YK_OP_BACKWARD, 2));
    assert_computes(lifetime_of(YK_BUFFER_INPUT_GRADIENT, 1, 0), op_of(YK_OP_BACKWARD, 2),
                    op_of(YK_OP_BACKWARD, 1));
}

#define TRANSFER(kind_, layer_, block_, slot_)                                                     \
    {                                                                                              \
        .kind = YK_TRANSFER_##kind_, .layer = (layer_), .first_block = (block_), .block_count = 1, \
        .slot = (slot_)                                                                            \
    }

/* Of eleven slots, the block goes forward in slot 1 and backward in slot 7. Half of it is gathered
 * in slot 0, the other in slot 10 of the round before; both are scattered after backward. */
static void blocks_in_several_messages_are_parts_of_one_buffer(void **state)
{
    (void)state;
    static struct yk_plan_transfer transfers[] = {
        TRANSFER(ALL_GATHER, 1, 0, 0),  TRANSFER(ALL_REDUCE, 3, 0, 6),
        TRANSFER(ALL_REDUCE, 2, 0, 7),  TRANSFER(REDUCE_SCATTER, 1, 1, 8),
        TRANSFER(ALL_REDUCE, 0, 0, 9),  TRANSFER(REDUCE_SCATTER, 1, 0, 9),
        TRANSFER(ALL_GATHER, 1, 1, 10),
    };
    tiny = tiny_step_make((struct tiny_options){.cluster = "2xcpu:1", .blocks = 1, .batch = 8});
    tiny.plan->layers[1].strategy = YK_SHARDING_KEPT_AFTER_FORWARD;
    tiny.plan->block_bytes = 4 * TINY_BLOCK / 2.0;
    tiny.plan->bucket_bytes = 0;
    tiny.plan->transfers = transfers;
    tiny.plan->transfer_count = (int32_t)(sizeof transfers / sizeof transfers[0]);
    find(0);
    const struct yk_buffer_lifetime *now = lifetime_of(YK_BUFFER_GATHERED_WEIGHTS, 1, 0);
    const struct yk_buffer_lifetime *ahead = lifetime_of(YK_BUFFER_GATHERED_WEIGHTS, 1, 1);
    assert_int_equal(now->buffer, ahead->buffer);
    assert_int_equal(now->end[YK_LANE_COMPUTE], op_of(YK_OP_RELEASE, 1));
    assert_int_equal(ahead->end[YK_LANE_COMPUTE], op_of(YK_OP_RELEASE, 1));
    assert_int_equal(now->lag_iterations, 0);
    assert_int_equal(ahead->lag_iterations, 1); /* it is gathered in the round before */
    const struct yk_buffer_lifetime *first = lifetime_of(YK_BUFFER_WEIGHT_GRADIENT, 1, 0);
    const struct yk_buffer_lifetime *second = lifetime_of(YK_BUFFER_WEIGHT_GRADIENT, 1, 1);
    assert_int_equal(first->buffer, second->buffer);
    assert_int_equal(first->begin[YK_LANE_COMPUTE], op_of(YK_OP_BACKWARD, 1));
    assert_int_equal(second->begin[YK_LANE_COMPUTE], op_of(YK_OP_BACKWARD, 1));
    assert_int_equal(first->end[YK_LANE_COMM], op_of(YK_OP_REDUCE_SCATTER, 1));
    assert_true(second->end[YK_LANE_COMM] > first->end[YK_LANE_COMM]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_output_lives_until_who_keeps_it_has_gone_backward, tear_down),
        cmocka_unit_test_teardown(an_output_that_nobody_keeps_ends_with_forward, tear_down),
        cmocka_unit_test_teardown(an_output_that_several_need_is_one_buffer, tear_down),
        cmocka_unit_test_teardown(what_is_computed_again_is_saved_again, tear_down),
        cmocka_unit_test_teardown(a_message_is_the_output_on_one_side_and_the_input_on_the_other,
                                  tear_down),
        cmocka_unit_test_teardown(what_a_rank_makes_for_itself_lives_twice, tear_down),
        cmocka_unit_test_teardown(blocks_in_several_messages_are_parts_of_one_buffer, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
