#include "sim/op_times.h"

#include "cost/communication.h"
#include "sim/collective_rings.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Equal layers have equal messages. A cache of their times, indexed by a hash of the message. */
enum {
    KNOWN = 256
};

struct known {
    struct yk_sim_message message;
    double bytes; /* 0: the entry is empty */
    int32_t from; /* send: the device; collective: the ring */
    int32_t to;   /* send: the device; collective: −1 */
    enum yk_collective collective;
};

struct finding {
    const struct yk_program *program;
    struct yk_layer_costs *costs;
    const struct yk_rank_classes *classes;
    struct yk_arena *arena;
    struct yk_collective_ring *rings; /* one per group, then one of all ranks */
    struct known *known;              /* (KNOWN) */
    struct yk_sim_op_times times;
};

/* ---- ops without communication ---- */

static yk_status update_time(const struct yk_program *program, struct yk_layer_costs *costs,
                             const struct yk_rank_classes *classes, int32_t rank,
                             const struct yk_op *op, struct yk_cost_time_estimate *out)
{
    const struct yk_plan *plan = program->plan;
    const int32_t leader = program->layers[op->layer].weights_owner;
    const int32_t group = plan->layers[leader].group;
    const double part = classes->parts[(int64_t)rank * plan->group_count + group];
    YK_TRY(yk_layer_costs_time_estimate(costs, plan->ranks[rank].device, leader, 0,
                                        YK_COST_PASS_UPDATE, out));
    out->seconds *=
        yk_plan_effective_strategy(plan, leader) == YK_SHARDING_REPLICATED ? 1 : fmax(part, 0);
    return YK_OK;
}

yk_status yk_sim_op_times_compute_one_op(const struct yk_program *program,
                                         struct yk_layer_costs *costs,
                                         const struct yk_rank_classes *classes, int32_t rank,
                                         const struct yk_op *op, struct yk_cost_time_estimate *out)
{
    const int32_t device = program->plan->ranks[rank].device;
    switch (op->kind) {
    case YK_OP_LOAD:
        return yk_layer_costs_input_copy_time(costs, device, op->samples, out);
    case YK_OP_FORWARD:
    case YK_OP_RECOMPUTE:
    case YK_OP_BACKWARD:
        return yk_layer_costs_time_estimate(
            costs, device, op->layer, op->samples,
            op->kind == YK_OP_BACKWARD ? YK_COST_PASS_BACKWARD : YK_COST_PASS_FORWARD, out);
    case YK_OP_UPDATE:
        return update_time(program, costs, classes, rank, op, out);
    default:
        *out = (struct yk_cost_time_estimate){0, YK_COST_ORIGIN_DATASHEET, 0};
        return YK_OK;
    }
}

static yk_status find_alone(struct finding *finding, int32_t rank_class)
{
    const int32_t rank = finding->classes->ranks[rank_class];
    const struct yk_op_list *list = &finding->program->ranks[rank];
    double *isolated_s = NULL;
    YK_TRY_NEW(finding->arena, isolated_s, list->op_count);
    for (int32_t i = 0; i < list->op_count; i++) {
        struct yk_cost_time_estimate time;
        YK_TRY(yk_sim_op_times_compute_one_op(finding->program, finding->costs, finding->classes,
                                              rank, &list->ops[i], &time));
        isolated_s[i] = time.seconds;
    }
    finding->times.isolated_s[rank_class] = isolated_s;
    return YK_OK;
}

/* ---- messages ---- */

static yk_status send_cost(const struct finding *finding, const struct known *wanted,
                           struct yk_sim_message *out)
{
    const struct yk_cluster *cluster = finding->program->cluster;
    const int32_t from_node = cluster->devices[wanted->from].node;
    const int32_t to_node = cluster->devices[wanted->to].node;
    struct yk_sim_message message = {0};
    YK_TRY(yk_communication_send_time(yk_layer_costs_sources(finding->costs), wanted->from,
                                      wanted->to, wanted->bytes, &message.time));
    YK_TRY(yk_communication_overlap_slowdown(
        yk_layer_costs_sources(finding->costs),
        &(struct yk_ring_devices){(const int32_t[]){wanted->from, wanted->to}, 2},
        &message.slowdown));
    if (from_node != to_node && message.time.seconds > 0 && wanted->bytes > 0) {
        int32_t *ports = NULL;
        YK_TRY_NEW(finding->arena, ports, 2);
        ports[0] = yk_node_ports_outgoing_index(from_node);
        ports[1] = yk_node_ports_incoming_index(to_node);
        message.demand =
            (struct yk_node_port_demand){wanted->bytes / message.time.seconds, ports, 2};
    }
    *out = message;
    return YK_OK;
}

/* The number of messages of an op: each block is sent separately. */
static double messages_of(const struct yk_op *op)
{
    const bool cut = op->kind == YK_OP_ALL_GATHER || op->kind == YK_OP_REDUCE_SCATTER;
    return cut && op->block_count > 1 ? op->block_count : 1;
}

/* The cache key of the op's messages. Entries with 0 bytes are never used. */
static struct known wanted_by(const struct yk_program *program, int32_t rank,
                              const struct yk_op *op)
{
    const struct yk_plan_rank *ranks = program->plan->ranks;
    struct known wanted = {.bytes = op->bytes / messages_of(op)};
    if (op->kind == YK_OP_SEND || op->kind == YK_OP_RECV) {
        const bool sends = op->kind == YK_OP_SEND;
        wanted.from = ranks[sends ? rank : op->peer].device;
        wanted.to = ranks[sends ? op->peer : rank].device;
        return wanted;
    }
    wanted.from = op->kind == YK_OP_AGREE ? program->plan->group_count : op->group;
    wanted.to = -1;
    wanted.collective = op->kind == YK_OP_ALL_GATHER       ? YK_COLLECTIVE_ALL_GATHER
                        : op->kind == YK_OP_REDUCE_SCATTER ? YK_COLLECTIVE_REDUCE_SCATTER
                                                           : YK_COLLECTIVE_ALL_REDUCE;
    return wanted;
}

static struct known *place_of(const struct finding *finding, const struct known *wanted)
{
    uint64_t hash = 0;
    memcpy(&hash, &wanted->bytes, sizeof hash);
    hash ^= ((uint64_t)(uint32_t)wanted->from << 34) ^ ((uint64_t)(uint32_t)wanted->to << 12) ^
            (uint64_t)wanted->collective;
    hash *= 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio: spreads whatever differs */
    return &finding->known[hash >> 56];
}

static yk_status message_cost(const struct finding *finding, int32_t rank, const struct yk_op *op,
                              struct yk_sim_message *out)
{
    struct known wanted = wanted_by(finding->program, rank, op);
    struct known *known = place_of(finding, &wanted);
    if (!(known->bytes > 0) || known->bytes != wanted.bytes || known->from != wanted.from ||
        known->to != wanted.to || known->collective != wanted.collective) {
        if (wanted.to >= 0) {
            YK_TRY(send_cost(finding, &wanted, &wanted.message));
        } else {
            YK_TRY(yk_collective_rings_compute_time(
                yk_layer_costs_sources(finding->costs), &finding->rings[wanted.from],
                wanted.collective, wanted.bytes, &wanted.message.time, &wanted.message.demand));
            wanted.message.slowdown = finding->rings[wanted.from].slowdown;
        }
        *known = wanted;
    }
    *out = known->message;
    out->time.seconds *= messages_of(op);
    return YK_OK;
}

/* Lists the ops of each message. With `ends` of NULL, only counts them. */
static void note_ends(const struct finding *finding, struct yk_sim_message_op *ends)
{
    for (int32_t c = 0; c < finding->classes->count; c++) {
        const int32_t rank = finding->classes->ranks[c];
        const struct yk_op_list *list = &finding->program->ranks[rank];
        for (int32_t i = 0; i < list->op_count; i++) {
            if (list->ops[i].match == YK_OP_NO_MATCH) {
                continue;
            }
            struct yk_sim_message *message = &finding->times.messages[list->ops[i].match];
            if (ends) {
                ends[message->first_end + message->end_count] = (struct yk_sim_message_op){c, i};
            }
            message->end_count++;
        }
    }
}

static yk_status find_ends(struct finding *finding)
{
    int32_t end_count = 0;
    note_ends(finding, NULL);
    for (int32_t m = 0; m < finding->program->match_count; m++) {
        struct yk_sim_message *message = &finding->times.messages[m];
        message->first_end = end_count;
        end_count += message->end_count;
        message->end_count = 0;
    }
    YK_TRY_NEW(finding->arena, finding->times.ends, end_count);
    note_ends(finding, finding->times.ends);
    return YK_OK;
}

static yk_status find_messages(struct finding *finding)
{
    const struct yk_program *program = finding->program;
    YK_TRY_NEW(finding->arena, finding->times.messages, program->match_count);
    YK_TRY_NEW(finding->arena, finding->known, KNOWN);
    YK_TRY(yk_collective_rings_create(program->plan, yk_layer_costs_sources(finding->costs),
                                      finding->arena, &finding->rings));
    YK_TRY(find_ends(finding));
    for (int32_t m = 0; m < program->match_count; m++) {
        struct yk_sim_message *message = &finding->times.messages[m];
        if (message->end_count == 0) {
            continue;
        }
        const struct yk_sim_message_op *end = &finding->times.ends[message->first_end];
        const int32_t rank = finding->classes->ranks[end->rank_class];
        struct yk_sim_message cost;
        YK_TRY(message_cost(finding, rank, &program->ranks[rank].ops[end->op], &cost));
        cost.first_end = message->first_end;
        cost.end_count = message->end_count;
        *message = cost;
    }
    return YK_OK;
}

yk_status yk_sim_op_times_compute(const struct yk_program *program, struct yk_layer_costs *costs,
                                  const struct yk_rank_classes *classes, struct yk_arena *arena,
                                  struct yk_sim_op_times *out)
{
    struct finding finding = {
        .program = program, .costs = costs, .classes = classes, .arena = arena};
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    YK_TRY_NEW(arena, finding.times.isolated_s, classes->count);
    YK_TRY_NEW(arena, finding.times.scales, classes->count);
    for (int32_t c = 0; c < classes->count; c++) {
        YK_TRY(find_alone(&finding, c));
        finding.times.scales[c] = 1;
    }
    YK_TRY(find_messages(&finding));
    *out = finding.times;
    return YK_OK;
}
