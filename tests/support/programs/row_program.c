#include "support/programs/row_program.h"

#include "support/support.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 4,
    MOST_WAITS = 8
};

static void *allocate_zeroed(struct yk_arena *arena, int64_t count, size_t size)
{
    void *chunk = yk_arena_allocate(arena, (size_t)count, size);
    assert_non_null(chunk);
    return chunk;
}

static const struct yk_measured_layer_time *measure(struct yk_arena *arena,
                                                    const struct hand_device *device)
{
    static const char *const kinds[KINDS] = {"embed", "gpt-block", "norm", "head"};
    struct yk_measured_layer_time *layers = allocate_zeroed(arena, KINDS, sizeof *layers);
    for (int i = 0; i < KINDS; i++) {
        layers[i] = (struct yk_measured_layer_time){
            .layer = kinds[i],
            .batch = 1,
            .forward_s = device->layer_s,
            .backward_s = 2 * device->layer_s,
            .update_s = device->update_s,
        };
    }
    return layers;
}

static void make_cluster(struct hand_program *hand, const struct hand_spec *spec)
{
    const int32_t P = spec->rank_count;
    struct yk_device *devices = allocate_zeroed(hand->arena, P, sizeof *devices);
    struct yk_link *links = allocate_zeroed(hand->arena, (int64_t)P * P, sizeof *links);
    int32_t node_count = 1;
    for (int32_t i = 0; i < P; i++) {
        const int32_t node = spec->devices[i].node;
        devices[i] = (struct yk_device){
            .name = "device",
            .fraction = 1,
            .memory_bytes = 1e12,
            .memory_bytes_per_s = 1e12,
            .vector_flops = 1e12,
            .is_cpu = true,
            .node = node,
            .measured = measure(hand->arena, &spec->devices[i]),
            .measured_count = KINDS,
        };
        node_count = node >= node_count ? node + 1 : node_count;
        for (int32_t j = 0; j < P; j++) {
            links[i * P + j] = node == spec->devices[j].node ? spec->within : spec->between;
        }
    }
    hand->cluster = (struct yk_cluster){
        .device_count = P, .node_count = node_count, .devices = devices, .links = links};
    hand->sources = (struct yk_cost_sources){.cluster = &hand->cluster};
}

static void make_group(const struct hand_spec *spec, int32_t number, struct yk_plan_group *group)
{
    const struct hand_group *given = &spec->groups[number];
    const bool all = spec->group_count == 0;
    double sum = 0;
    group->member_count = all ? spec->rank_count : given->count;
    for (int32_t i = 0; i < group->member_count; i++) {
        sum += given->parts[i];
    }
    for (int32_t i = 0; i < group->member_count; i++) {
        group->members[i] = (struct yk_plan_group_member){
            .rank = all ? i : given->ranks[i],
            .share = 1,
            .shard_fraction = sum > 0 ? given->parts[i] : 1.0 / group->member_count,
        };
    }
}

static void make_plan(struct hand_program *hand, const struct hand_spec *spec)
{
    const int32_t group_count = spec->group_count > 0 ? spec->group_count : 1;
    assert_ok(yk_plan_create(hand->arena, spec->rank_count, group_count, HAND_LAYERS, &hand->plan));
    struct yk_plan *plan = hand->plan;
    plan->workload = yk_model_cache_get_whole_batch(hand->cache)->workload;
    plan->micro_batches = 1;
    plan->prefetch = 1;
    plan->block_bytes = 1e9;
    plan->bucket_bytes = 1e9;
    for (int32_t i = 0; i < spec->rank_count; i++) {
        plan->ranks[i] = (struct yk_plan_rank){.device = i, .limit_bytes = 1e12};
    }
    for (int32_t g = 0; g < group_count; g++) {
        make_group(spec, g, &plan->groups[g]);
    }
    for (int32_t i = 0; i < HAND_LAYERS; i++) {
        plan->layers[i].strategy = spec->strategy;
    }
}

static enum yk_lane lane_of(enum yk_op_kind kind)
{
    if (kind == YK_OP_LOAD) {
        return YK_LANE_COPY;
    }
    return kind >= YK_OP_ALL_GATHER && kind <= YK_OP_AGREE ? YK_LANE_COMM : YK_LANE_COMPUTE;
}

static void read_waits(const char *text, struct yk_op_list *list, struct yk_op *op)
{
    op->first_wait = list->wait_count;
    while (text && *text) {
        char *end = NULL;
        const long number = strtol(text, &end, 10);
        assert_true(end > text && op->wait_count < MOST_WAITS);
        const bool before = *end == '\'';
        list->waits[list->wait_count++] = (struct yk_op_wait){(int32_t)number, before ? 1 : 0};
        op->wait_count++;
        text = end + (before ? 1 : 0);
        text += strspn(text, " ");
    }
}

static struct yk_op_list make_list(struct hand_program *hand, const struct hand_op *rows)
{
    struct yk_op_list list = {0};
    while (rows[list.op_count].kind != YK_OP_KIND_COUNT) {
        list.op_count++;
    }
    list.ops = allocate_zeroed(hand->arena, list.op_count, sizeof *list.ops);
    list.waits =
        allocate_zeroed(hand->arena, (int64_t)list.op_count * MOST_WAITS, sizeof *list.waits);
    for (int32_t i = 0; i < list.op_count; i++) {
        const struct hand_op *row = &rows[i];
        struct yk_op *op = &list.ops[i];
        const enum yk_lane lane = lane_of(row->kind);
        *op = (struct yk_op){
            .kind = row->kind,
            .lane = lane,
            .layer = row->layer,
            .block_count = 1,
            .bucket = -1,
            .group = row->group,
            .peer = row->peer,
            .match = lane == YK_LANE_COMM ? row->match : YK_OP_NO_MATCH,
            .samples = row->samples,
            .bytes = row->bytes,
        };
        read_waits(row->waits, &list, op);
        if (op->match >= hand->program.match_count) {
            hand->program.match_count = op->match + 1;
        }
    }
    return list;
}

static void make_program(struct hand_program *hand, const struct hand_spec *spec)
{
    struct yk_program *program = &hand->program;
    *program = (struct yk_program){
        .plan = hand->plan,
        .cluster = &hand->cluster,
        .cache = hand->cache,
        .rank_count = spec->rank_count,
        .ranks = allocate_zeroed(hand->arena, spec->rank_count, sizeof *program->ranks),
        .layers = allocate_zeroed(hand->arena, HAND_LAYERS, sizeof *program->layers),
    };
    for (int32_t i = 0; i < HAND_LAYERS; i++) {
        program->layers[i] = (struct yk_program_layer_messages){
            .weights_owner = i, .last_user = i, .block_count = 1};
    }
    for (int32_t i = 0; i < spec->rank_count; i++) {
        int32_t same = 0;
        while (same < i && (spec->apart || spec->lists[same] != spec->lists[i])) {
            same++;
        }
        program->ranks[i] = same < i ? program->ranks[same] : make_list(hand, spec->lists[i]);
    }
}

struct hand_program *hand_program_make(const struct hand_spec *spec)
{
    const struct yk_workload workload = {
        .batch = HAND_BATCH, .sequence = 64, .precision = YK_PRECISION_FP32};
    const struct yk_model_config *config = NULL;
    struct hand_program *hand = calloc(1, sizeof *hand);
    assert_non_null(hand);
    assert_ok(yk_arena_create(&hand->arena));
    assert_ok(yk_model_config_find_builtin("gpt-nano", &config));
    assert_ok(yk_model_cache_create(config, &workload, &hand->cache));
    make_cluster(hand, spec);
    make_plan(hand, spec);
    make_program(hand, spec);
    assert_ok(yk_layer_costs_create(&hand->sources, hand->cache, &hand->costs));
    return hand;
}

void hand_program_free(struct hand_program *hand)
{
    yk_layer_costs_destroy(hand->costs);
    yk_model_cache_destroy(hand->cache);
    yk_arena_destroy(hand->arena);
    free(hand);
}

void row_program_separate(struct yk_program *program, struct yk_arena *arena)
{
    for (int32_t i = 1; i < program->rank_count; i++) {
        struct yk_op_list *list = &program->ranks[i];
        bool shared = false;
        for (int32_t j = 0; j < i; j++) {
            shared = shared || program->ranks[j].ops == list->ops;
        }
        if (shared) {
            struct yk_op *ops = allocate_zeroed(arena, list->op_count, sizeof *ops);
            memcpy(ops, list->ops, (size_t)list->op_count * sizeof *ops);
            list->ops = ops;
        }
    }
}
