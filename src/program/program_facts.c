#include "program/program_facts.h"

#include "base/number.h"

static void find_users(struct yk_program_facts *facts)
{
    yk_number_fill_int32_array(facts->next_user, facts->L, -1);
    /* Each layer is inserted right after its leader; from last to first, this keeps their order. */
    for (int32_t l = facts->L - 1; l >= 0; l--) {
        const int32_t leader = facts->program->layers[l].weights_owner;
        if (leader != l) {
            facts->next_user[l] = facts->next_user[leader];
            facts->next_user[leader] = l;
        }
    }
}

static yk_status find_buckets(struct yk_program_facts *facts)
{
    const struct yk_program *program = facts->program;
    yk_number_fill_int32_array(facts->bucket, facts->L, -1);
    for (int32_t b = 0; b < program->bucket_count; b++) {
        const struct yk_gradient_bucket *bucket = &program->buckets[b];
        for (int32_t i = 0; i < bucket->layer_count; i++) {
            const int32_t l = bucket->layers[i];
            if (facts->bucket[l] >= 0 || facts->plan->layers[l].group != bucket->group) {
                return yk_fail(YK_ERROR_INPUT,
                               "reduced: %s is in two buckets, or in one of another group",
                               facts->model->layers[l].name);
            }
            facts->bucket[l] = b;
        }
    }
    return YK_OK;
}

static void find_edges(struct yk_program_facts *facts)
{
    const struct yk_model *model = facts->model;
    int32_t *next = facts->first_edge_from + 1; /* moves on while edges are filled in */
    for (int32_t e = 0; e < model->edge_count; e++) {
        facts->first_edge_to[model->edges[e].to + 1]++;
        next[model->edges[e].from + 1]++;
    }
    for (int32_t l = 0; l < facts->L; l++) {
        facts->first_edge_to[l + 1] += facts->first_edge_to[l];
        next[l + 1] += next[l];
    }
    for (int32_t e = 0; e < model->edge_count; e++) {
        facts->edges_from[next[model->edges[e].from]++] = e;
    }
}

int32_t yk_program_facts_find_crossing(const struct yk_program_facts *facts, int32_t producer,
                                       int32_t group)
{
    for (int32_t c = 0; c < facts->crossing_count; c++) {
        if (facts->crossings[c].producer == producer && facts->crossings[c].group == group) {
            return c;
        }
    }
    return -1;
}

bool yk_program_facts_next_consumer(const struct yk_program_facts *facts,
                                    struct yk_consumer_cursor *at)
{
    const int32_t *edges = facts->edges_from + facts->first_edge_from[at->producer];
    const int32_t count =
        facts->first_edge_from[at->producer + 1] - facts->first_edge_from[at->producer];
    while (at->next < count) {
        at->layer = facts->model->edges[edges[at->next++]].to;
        if (facts->plan->layers[at->layer].group == at->group) {
            return true;
        }
    }
    return false;
}

double yk_program_facts_layer_output_bytes(const struct yk_program_facts *facts,
                                           const struct yk_model *model, int32_t layer)
{
    int64_t bytes = 0;
    for (int32_t i = facts->first_edge_from[layer]; i < facts->first_edge_from[layer + 1]; i++) {
        bytes = yk_number_max(bytes, model->edges[facts->edges_from[i]].bytes);
    }
    return (double)bytes;
}

/* Edges are sorted by consumer, so the first edge found has the first consumer. */
static void find_crossings(struct yk_program_facts *facts)
{
    for (int32_t e = 0; e < facts->model->edge_count; e++) {
        const struct yk_layer_edge *edge = &facts->model->edges[e];
        const int32_t group = facts->plan->layers[edge->to].group;
        if (facts->plan->layers[edge->from].group != group &&
            yk_program_facts_find_crossing(facts, edge->from, group) < 0) {
            facts->crossings[facts->crossing_count++] = (struct yk_rank_group_crossing){
                .producer = edge->from, .consumer = edge->to, .group = group};
        }
    }
}

yk_status yk_program_facts_make(const struct yk_program *program, struct yk_arena *arena,
                                struct yk_program_facts **out)
{
    struct yk_program_facts *facts = NULL;
    YK_TRY_NEW(arena, facts, 1);
    facts->program = program;
    facts->plan = program->plan;
    facts->model = yk_model_cache_get_whole_batch(program->cache);
    facts->L = program->plan->layer_count;
    facts->M = program->plan->micro_batches;
    YK_TRY_NEW(arena, facts->goes_backward, facts->L);
    YK_TRY_NEW(arena, facts->bucket, facts->L);
    YK_TRY_NEW(arena, facts->next_user, facts->L);
    YK_TRY_NEW(arena, facts->first_edge_to, facts->L + 1);
    YK_TRY_NEW(arena, facts->first_edge_from, facts->L + 2);
    YK_TRY_NEW(arena, facts->edges_from, facts->model->edge_count + 1);
    YK_TRY_NEW(arena, facts->crossings, facts->model->edge_count + 1);
    for (int32_t l = 0; l < facts->L; l++) {
        facts->goes_backward[l] = facts->model->layers[l].backward.count > 0;
    }
    find_users(facts);
    YK_TRY(find_buckets(facts));
    find_edges(facts);
    find_crossings(facts);
    *out = facts;
    return YK_OK;
}

bool yk_program_facts_layer_reads_batch(const struct yk_program_facts *facts, int32_t layer)
{
    return facts->first_edge_to[layer] == facts->first_edge_to[layer + 1] || layer == facts->L - 1;
}

int32_t yk_program_facts_group_member_index(const struct yk_plan *plan, int32_t group, int32_t rank)
{
    for (int32_t i = 0; i < plan->groups[group].member_count; i++) {
        if (plan->groups[group].members[i].rank == rank) {
            return i;
        }
    }
    return -1;
}
