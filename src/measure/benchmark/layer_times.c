#include "measure/benchmark/layer_times.h"

#include <math.h>
#include <string.h>

enum {
    FORWARD,
    BACKWARD,
    PASSES,
};

static int32_t times_of_shape(const struct yk_layer_times *times)
{
    return PASSES * times->batch_count + 1;
}

static struct yk_layer_times_entry *time_of(const struct yk_layer_times *times, int32_t layer,
                                            int pass, int32_t batch)
{
    return &times->times[times->first_time[layer] + pass * times->batch_count + batch];
}

static struct yk_layer_times_entry *update_of(const struct yk_layer_times *times, int32_t layer)
{
    return &times->times[times->first_time[layer] + PASSES * times->batch_count];
}

static bool are_alike(const struct yk_layer *a, const struct yk_layer *b)
{
    return strcmp(a->shape, b->shape) == 0 && strcmp(a->kind, b->kind) == 0;
}

static void begin_shape(struct yk_layer_times *times, int32_t layer, const int64_t *batches)
{
    const struct yk_layer *shape = &times->model->layers[layer];
    const struct yk_layer_times_entry blank = {.shape = shape->shape, .kind = shape->kind};
    times->first_time[layer] = times->count;
    times->count += times_of_shape(times);
    for (int32_t i = 0; i < times->batch_count; i++) {
        for (int pass = 0; pass < PASSES; pass++) {
            struct yk_layer_times_entry *time = time_of(times, layer, pass, i);
            *time = blank;
            time->pass = pass == FORWARD ? "forward" : "backward";
            time->batch = batches[i];
        }
    }
    *update_of(times, layer) = blank;
    update_of(times, layer)->pass = "update";
    update_of(times, layer)->batch = 1;
}

static yk_status begin(struct yk_layer_times *times, const int64_t *batches)
{
    const int32_t L = times->model->layer_count;
    const struct yk_layer *layers = times->model->layers;
    YK_TRY_NEW(times->arena, times->first_time, L);
    YK_TRY_NEW(times->arena, times->times, (int64_t)L * times_of_shape(times));
    for (int32_t l = 0; l < L; l++) {
        int32_t like = 0;
        while (like < l && !are_alike(&layers[like], &layers[l])) {
            like++;
        }
        if (like == l) {
            begin_shape(times, l, batches);
        }
        times->first_time[l] = times->first_time[like];
    }
    return YK_OK;
}

yk_status yk_layer_times_create(const struct yk_model *model, const int64_t *batches,
                                int32_t batch_count, struct yk_layer_times **out)
{
    struct yk_layer_times *times = NULL;
    YK_TRY_NEW_WITH_OWN_ARENA(times);
    times->model = model;
    times->batch_count = batch_count;
    YK_TRY_OR_CLEAN_UP(begin(times, batches), yk_layer_times_destroy(times));
    *out = times;
    return YK_OK;
}

void yk_layer_times_destroy(struct yk_layer_times *times)
{
    if (times) {
        for (int32_t i = 0; i < times->count; i++) {
            yk_timings_free(&times->times[i].timings);
        }
        yk_arena_destroy(times->arena);
    }
}

/* How much longer the backward of the first micro-batch takes than that of the second, which has as
 * many samples; negative where something else slowed the second. */
static void find_extras(const struct yk_op_list *list, const double *op_s, double *extra_s)
{
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        if (op->kind == YK_OP_BACKWARD) {
            extra_s[op->layer] += op->micro_batch == 0 ? op_s[i] : -op_s[i];
        }
    }
}

static yk_status add_op(const struct yk_layer_times *times, const struct yk_op *op, int32_t batch,
                        double seconds, double extra_s)
{
    if (op->kind == YK_OP_UPDATE) {
        return yk_timings_add(&update_of(times, op->layer)->timings, seconds + fmax(extra_s, 0));
    }
    if ((op->kind != YK_OP_FORWARD && op->kind != YK_OP_BACKWARD) || op->micro_batch == 0) {
        return YK_OK;
    }
    const int pass = op->kind == YK_OP_FORWARD ? FORWARD : BACKWARD;
    return yk_timings_add(&time_of(times, op->layer, pass, batch)->timings, seconds);
}

yk_status yk_layer_times_add_step(struct yk_layer_times *times, const struct yk_program *program,
                                  int32_t batch, const double *op_s)
{
    const struct yk_op_list *list = &program->ranks[0];
    double *extra_s = NULL;
    YK_TRY_NEW(times->arena, extra_s, times->model->layer_count);
    find_extras(list, op_s, extra_s);
    for (int32_t i = 0; i < list->op_count; i++) {
        const struct yk_op *op = &list->ops[i];
        YK_TRY(add_op(times, op, batch, op_s[i], op->layer >= 0 ? extra_s[op->layer] : 0));
    }
    return YK_OK;
}
