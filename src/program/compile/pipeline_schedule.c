#include "program/compile/pipeline_schedule.h"

#include "base/number.h"
#include <math.h>
#include <stdlib.h>

/* Large enough that the layers of a segment start at different ticks. */
static const int64_t unit_ticks = (int64_t)1 << 24;

struct scheduling {
    const struct yk_program *program;
    struct yk_pipeline_schedule *table;
    int32_t *forwards;     /* (K) micro-batches that have gone forward so far */
    int32_t *backwards;    /* (K) and backward */
    int64_t *forward_end;  /* (K, M) */
    int64_t *backward_end; /* (K, M) */
    int64_t *rank_free;    /* (ranks) */
    int64_t *group_end;    /* (groups) of the last pass */
};

static yk_status find_segments(const struct yk_program *program, struct yk_arena *arena,
                               struct yk_pipeline_schedule *out)
{
    const struct yk_plan *plan = program->plan;
    YK_TRY_NEW(arena, out->segments, plan->layer_count);
    for (int32_t l = 0; l < plan->layer_count; l++) {
        const int32_t group = plan->layers[l].group;
        if (l == 0 || group != plan->layers[l - 1].group) {
            out->segments[out->segment_count++] =
                (struct yk_pipeline_segment){.group = group, .first_layer = l};
        }
        out->segments[out->segment_count - 1].layer_count++;
    }
    return YK_OK;
}

static double operations_of(const struct yk_model *model, const struct yk_pipeline_segment *segment)
{
    double operations = 0;
    for (int32_t i = 0; i < segment->layer_count; i++) {
        const struct yk_kernel_work_list *works = &model->layers[segment->first_layer + i].forward;
        for (int32_t class = 0; class < YK_KERNEL_CLASS_COUNT; class ++) {
            operations += yk_kernel_work_sum_class_operations(works, (enum yk_kernel_class) class);
        }
    }
    return operations;
}

/* The ticks of a segment are proportional to its fraction of the group's operations. */
static void set_ticks(const struct yk_program *program, struct yk_pipeline_schedule *table)
{
    const struct yk_model *model = yk_model_cache_get_whole_batch(program->cache);
    for (int32_t k = 0; k < table->segment_count; k++) {
        struct yk_pipeline_segment *segment = &table->segments[k];
        double all = 0;
        for (int32_t other = 0; other < table->segment_count; other++) {
            all += table->segments[other].group == segment->group
                       ? operations_of(model, &table->segments[other])
                       : 0;
        }
        const double part = all > 0 ? operations_of(model, segment) / all : 1;
        const int64_t ticks = llround(part * (double)unit_ticks);
        segment->forward_ticks = ticks > segment->layer_count ? ticks : segment->layer_count;
        segment->backward_ticks = 2 * segment->forward_ticks;
    }
}

static yk_status allocate_arrays(struct scheduling *scheduling, struct yk_arena *arena)
{
    const struct yk_plan *plan = scheduling->program->plan;
    const int64_t K = scheduling->table->segment_count;
    const int64_t M = plan->micro_batches;
    YK_TRY_NEW(arena, scheduling->forwards, K);
    YK_TRY_NEW(arena, scheduling->backwards, K);
    YK_TRY_NEW(arena, scheduling->forward_end, K * M);
    YK_TRY_NEW(arena, scheduling->backward_end, K * M);
    YK_TRY_NEW(arena, scheduling->rank_free, plan->rank_count);
    YK_TRY_NEW(arena, scheduling->group_end, plan->group_count);
    YK_TRY_NEW(arena, scheduling->table->passes, 2 * K * M);
    return YK_OK;
}

/* True if a member has samples in a pass of its group. */
static bool has_samples(const struct scheduling *scheduling, int32_t group, int32_t member,
                        int32_t micro_batch)
{
    int64_t first = 0;
    return yk_plan_member_sample_range(scheduling->program->plan, group, member, micro_batch,
                                       &first) > 0;
}

/* The time when all ranks with samples in a pass are free and the previous pass of the group has
 * ended. Gathered weights are used by one pass at a time. */
static int64_t group_free(const struct scheduling *scheduling, int32_t segment, int32_t micro_batch)
{
    const int32_t number = scheduling->table->segments[segment].group;
    const struct yk_plan_group *group = &scheduling->program->plan->groups[number];
    int64_t free_at = scheduling->group_end[number];
    for (int32_t i = 0; i < group->member_count; i++) {
        if (has_samples(scheduling, number, i, micro_batch)) {
            free_at = yk_number_max(free_at, scheduling->rank_free[group->members[i].rank]);
        }
    }
    return free_at;
}

/* The segment's next forward pass, if the pipeline allows one now. */
static bool next_forward(const struct scheduling *scheduling, int32_t k,
                         struct yk_pipeline_pass *out)
{
    const struct yk_plan *plan = scheduling->program->plan;
    const int64_t M = plan->micro_batches;
    const int32_t done = scheduling->forwards[k];
    const int32_t under_way = done - scheduling->backwards[k];
    const int32_t K = scheduling->table->segment_count;
    if (done == M || (k > 0 && scheduling->forwards[k - 1] <= done) ||
        (plan->pipeline == YK_PIPELINE_1F1B && under_way >= K - k)) {
        return false;
    }
    const int32_t m = plan->pipeline == YK_PIPELINE_NESTED ? (int32_t)M - 1 - done : done;
    const int64_t ready = k > 0 ? scheduling->forward_end[(k - 1) * M + m] : 0;
    *out = (struct yk_pipeline_pass){.segment = k,
                                     .micro_batch = m,
                                     .start = yk_number_max(ready, group_free(scheduling, k, m))};
    out->end = out->start + scheduling->table->segments[k].forward_ticks;
    return true;
}

static bool went_forward(const struct scheduling *scheduling, int32_t k, int32_t m)
{
    const struct yk_plan *plan = scheduling->program->plan;
    const int32_t number = plan->pipeline == YK_PIPELINE_NESTED ? plan->micro_batches - 1 - m : m;
    return scheduling->forwards[k] > number;
}

static bool next_backward(const struct scheduling *scheduling, int32_t k,
                          struct yk_pipeline_pass *out)
{
    const struct yk_plan *plan = scheduling->program->plan;
    const int64_t M = plan->micro_batches;
    const int32_t m = scheduling->backwards[k];
    const int32_t last = scheduling->table->segment_count - 1;
    if (m == M || !went_forward(scheduling, k, m) ||
        (k < last && scheduling->backwards[k + 1] <= m) ||
        (plan->pipeline == YK_PIPELINE_GPIPE && scheduling->forwards[k] < M)) {
        return false;
    }
    const int64_t ready =
        k < last ? scheduling->backward_end[(k + 1) * M + m] : scheduling->forward_end[k * M + m];
    *out = (struct yk_pipeline_pass){
        .segment = k,
        .micro_batch = m,
        .backward = true,
        .start = yk_number_max(ready, group_free(scheduling, k, m)),
    };
    out->end = out->start + scheduling->table->segments[k].backward_ticks;
    return true;
}

/* Of two passes that could be next, the one that starts first; backward goes first on ties. */
static bool comes_before(const struct yk_pipeline_pass *a, const struct yk_pipeline_pass *b)
{
    if (a->start != b->start) {
        return a->start < b->start;
    }
    if (a->backward != b->backward) {
        return a->backward;
    }
    return a->micro_batch < b->micro_batch;
}

static void append_pass(struct scheduling *scheduling, const struct yk_pipeline_pass *pass)
{
    const struct yk_plan *plan = scheduling->program->plan;
    const int32_t number = scheduling->table->segments[pass->segment].group;
    const struct yk_plan_group *group = &plan->groups[number];
    const int64_t cell = (int64_t)pass->segment * plan->micro_batches + pass->micro_batch;
    (pass->backward ? scheduling->backward_end : scheduling->forward_end)[cell] = pass->end;
    (pass->backward ? scheduling->backwards : scheduling->forwards)[pass->segment]++;
    scheduling->group_end[number] = pass->end;
    for (int32_t i = 0; i < group->member_count; i++) {
        if (has_samples(scheduling, number, i, pass->micro_batch)) {
            scheduling->rank_free[group->members[i].rank] = pass->end;
        }
    }
    scheduling->table->passes[scheduling->table->pass_count++] = *pass;
    scheduling->table->end = yk_number_max(scheduling->table->end, pass->end);
}

static int by_start(const void *left, const void *right)
{
    const struct yk_pipeline_pass *a = left;
    const struct yk_pipeline_pass *b = right;
    const int order = yk_number_compare(a->start, b->start);
    return order != 0 ? order : yk_number_compare(a->segment, b->segment);
}

yk_status yk_pipeline_schedule_make(const struct yk_program *program, struct yk_arena *arena,
                                    struct yk_pipeline_schedule *out)
{
    struct scheduling scheduling = {.program = program, .table = out};
    *out = (struct yk_pipeline_schedule){0};
    YK_TRY(find_segments(program, arena, out));
    set_ticks(program, out);
    YK_TRY(allocate_arrays(&scheduling, arena));
    for (;;) {
        struct yk_pipeline_pass best = {.start = INT64_MAX};
        struct yk_pipeline_pass next;
        for (int32_t k = 0; k < out->segment_count; k++) {
            if (next_backward(&scheduling, k, &next) && comes_before(&next, &best)) {
                best = next;
            }
            if (next_forward(&scheduling, k, &next) && comes_before(&next, &best)) {
                best = next;
            }
        }
        if (best.start == INT64_MAX) {
            break;
        }
        append_pass(&scheduling, &best);
    }
    qsort(out->passes, (size_t)out->pass_count, sizeof *out->passes, by_start);
    return YK_OK;
}

int64_t yk_pipeline_schedule_layer_start(const struct yk_pipeline_pass *pass, int32_t index,
                                         int32_t count)
{
    return pass->start + (pass->end - pass->start) * index / count;
}
