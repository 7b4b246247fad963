#include "program/program.h"

#include "support/programs/broken_program.h"
#include "support/support.h"

#include <string.h>

#define OP(kind_, lane_, layer_, ...)                                                              \
    {                                                                                              \
        .kind = (kind_), .lane = (lane_), .layer = (layer_), .bucket = -1, __VA_ARGS__             \
    }

/* The lists are those of no plan: what matters is how they are written. */
static void lists_are_written_lane_by_lane(void **state)
{
    (void)state;
    static struct yk_op first[] = {
        OP(YK_OP_LOAD, YK_LANE_COPY, YK_LAYER_NONE, .wait_count = 0),
        OP(YK_OP_ALL_GATHER, YK_LANE_COMM, SMALL_EMBED, .block_count = 1, .bytes = 2048,
           .first_wait = 0, .wait_count = 1),
        OP(YK_OP_FORWARD, YK_LANE_COMPUTE, SMALL_EMBED, .first_wait = 1, .wait_count = 2),
        OP(YK_OP_ALL_GATHER, YK_LANE_COMM, SMALL_LAYER_0, .block_count = 2, .backward = true,
           .bytes = 12582912),
        OP(YK_OP_REDUCE_SCATTER, YK_LANE_COMM, SMALL_LAYER_0, .block_count = 1, .step = -1,
           .bytes = 64),
        OP(YK_OP_UPDATE, YK_LANE_COMPUTE, SMALL_EMBED, .step = 1),
    };
    static struct yk_op last[] = {
        OP(YK_OP_RECV, YK_LANE_COMM, SMALL_LAYER_1, .peer = 1, .backward = true, .bytes = 512),
        OP(YK_OP_SEND, YK_LANE_COMM, SMALL_LAYER_1, .peer = 1, .bytes = 1536),
    };
    static struct yk_op_wait waits[] = {{5, 1}, {1, 0}, {0, 0}};
    static struct yk_op_list ranks[] = {
        {first, waits, 6, 3}, {last, NULL, 2, 0}, {first, waits, 6, 3}};
    static const struct small_spec spec = {.ranks = 3, .strategy = YK_SHARDING_KEPT_AFTER_FORWARD};
    struct small_program small = small_program_make(&spec);
    struct yk_text text = {0};
    small.program->ranks = ranks;
    small.program->layers[SMALL_LAYER_0].block_count = 2;
    assert_ok(yk_program_text_write(small.program, &text));
    assert_string_equal(
        yk_text_chars(&text),
        "Each op follows the one above it in its column, and those under \"after\": a number "
        "with ' is\n"
        "that of the round before.\n"
        "\n"
        "ranks 0, 2 (gpu0, gpu2): 6 ops\n"
        "  op  compute                  comm                                                   "
        "copy  "
        "after\n"
        "  --  -----------------------  -----------------------------------------------------  "
        "----  "
        "-----\n"
        "   0                                                                                  "
        "load\n"
        "   1                           all_gather embed, 2KiB                                     "
        "  5'\n"
        "   2  forward embed                                                                       "
        "  1, "
        "0\n"
        "   3                           all_gather layer 0 for backward, 12MiB\n"
        "   4                           reduce_scatter layer 0 block 0 of 2, 64B, step before\n"
        "   5  update embed, next step\n"
        "\n"
        "rank 1 (gpu1): 2 ops\n"
        "  op  compute  comm                                copy  after\n"
        "  --  -------  ----------------------------------  ----  -----\n"
        "   0           recv layer 1 gradient from 1, 512B\n"
        "   1           send layer 1 to 1, 1.50KiB\n");
    yk_text_free(&text);
    small_program_free(&small);
}

/* The words for one op of a kind about a layer. */
static void assert_described(const struct yk_program *program, enum yk_op_kind kind, int32_t layer,
                             const char *expected)
{
    struct yk_text text = {0};
    yk_op_describe(program, broken_get(program, kind, layer), &text);
    assert_string_equal(yk_text_chars(&text), expected);
    yk_text_free(&text);
}

static void ops_are_described_by_what_distinguishes_them(void **state)
{
    (void)state;
    static const struct small_spec several = {
        .ranks = 2, .micro_batches = 2, .strategy = YK_SHARDING_FULLY_SHARDED, .clip = true};
    static const struct small_spec fused = {.ranks = 2, .bucketed = true};
    struct small_program small = small_program_make(&several);
    assert_described(small.program, YK_OP_LOAD, YK_LAYER_NONE, "load #0");
    assert_described(small.program, YK_OP_FORWARD, SMALL_LAYER_1, "forward layer 1 #0");
    assert_described(small.program, YK_OP_ALL_GATHER, SMALL_LAYER_1, "all_gather layer 1 #0");
    assert_described(small.program, YK_OP_UPDATE, SMALL_LAYER_1, "update layer 1");
    assert_described(small.program, YK_OP_AGREE, YK_LAYER_NONE, "agree");
    struct yk_op *gather = broken_get(small.program, YK_OP_ALL_GATHER, SMALL_LAYER_1);
    small.program->layers[SMALL_LAYER_1].block_count = 2;
    gather->first_block = 1;
    assert_described(small.program, YK_OP_ALL_GATHER, SMALL_LAYER_1,
                     "all_gather layer 1 #0 block 1 of 2");
    small.program->layers[SMALL_LAYER_1].block_count = 9;
    gather->block_count = 3;
    assert_described(small.program, YK_OP_ALL_GATHER, SMALL_LAYER_1,
                     "all_gather layer 1 #0 blocks 1-3 of 9");
    small_program_free(&small);
    small = small_program_make(&fused);
    assert_described(small.program, YK_OP_ALL_REDUCE, SMALL_EMBED, "all_reduce head to embed");
    small_program_free(&small);
}

static void every_kind_of_op_has_a_name(void **state)
{
    (void)state;
    for (int32_t kind = 0; kind < YK_OP_KIND_COUNT; kind++) {
        const char *name = yk_op_kind_name((enum yk_op_kind)kind);
        assert_non_null(name);
        for (int32_t other = 0; other < kind; other++) {
            assert_string_not_equal(name, yk_op_kind_name((enum yk_op_kind)other));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_written_lane_by_lane),
        cmocka_unit_test(ops_are_described_by_what_distinguishes_them),
        cmocka_unit_test(every_kind_of_op_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
