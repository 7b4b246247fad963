#include "support/ops/reference.h"
#include "support/ops/table.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const int64_t counts[] = {1, 3, 7, 17, 65, 130, 1030, 0};
static const int64_t many = 20000; /* enough for threads to share */

/* ---- the norm of gradients ---- */

/* `odd` is put in the middle. */
static void try_sum_squares(struct op_bench *bench, int64_t count, enum yk_precision type,
                            double size, double odd)
{
    op_bench_begin(bench, "sum_squares %s %lld up to %g with %g", yk_precision_name(type),
                   (long long)count, size, odd);
    struct op_array *from = op_drawn(bench, type, 1, count, count, size);
    struct op_array *to = op_poisoned_doubles(bench, 1);
    if (count > 0 && odd != 0) {
        from->values[count / 2] = odd;
        op_store(from);
    }
    const struct yk_sum_squares_op op = {count, from->device, to->device, type};
    op_bench_upload(bench);
    bench->backend->sum_squares(bench->lane, &op);
    op_bench_run(bench);
    const double expected = reference_sum_squares(&op, from->values);
    op_expect(bench, to, "to", &expected, 0);
    op_bench_end(bench);
}

void op_table_sum_squares(struct op_bench *bench)
{
    for (int j = 0; j < OP_TYPES; j++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            try_sum_squares(bench, counts[i], op_types[j], 1, 0);
        }
        try_sum_squares(bench, 300000, op_types[j], 1, 0);
        try_sum_squares(bench, 1000, op_types[j], 1, INFINITY);
        try_sum_squares(bench, 1000, op_types[j], 1, NAN);
    }
    /* Squares that are no fp32 are finite here. */
    try_sum_squares(bench, 1000, FP32, 1e30, 0);
    try_sum_squares(bench, 1000, BF16, 1e30, 0);
    try_sum_squares(bench, 1000, FP32, 1e-30, 0);
}

static void try_clip_norm(struct op_bench *bench, int64_t count, double size, float unscale,
                          float clip)
{
    op_bench_begin(bench, "clip_norm %lld sums of %g unscale %g clip %g", (long long)count, size,
                   (double)unscale, (double)clip);
    double *values = op_room(bench, count);
    for (int64_t i = 0; i < count; i++) {
        values[i] = i == 1               ? size
                    : fabs(size) < 1e300 ? size * yk_random_uniform(&bench->random)
                                         : 1;
    }
    struct op_array *sums = op_doubles(bench, count, values);
    struct op_array *verdict = op_bytes(bench, sizeof(struct yk_gradient_norm_and_factor), NULL);
    const struct yk_clip_norm_op op = {sums->device, count, unscale, clip, verdict->device};
    op_bench_upload(bench);
    bench->backend->clip_norm(bench->lane, &op);
    op_bench_run(bench);
    op_expect_anything(verdict);
    struct yk_gradient_norm_and_factor got;
    struct yk_gradient_norm_and_factor expected;
    memcpy(&got, verdict->back, sizeof got);
    reference_clip_norm(&op, values, &expected);
    if (got.skip != expected.skip) {
        op_complain(bench, "skip is %d instead of %d", (int)got.skip, (int)expected.skip);
    }
    if (expected.skip) {
        if (isfinite(got.norm)) {
            op_complain(bench, "the norm is %g instead of %g", got.norm, expected.norm);
        }
    } else if (!(fabs(got.norm - expected.norm) <= 1e-12 * expected.norm) ||
               !(fabs((double)got.factor - (double)expected.factor) <=
                 1e-6 * (double)expected.factor)) {
        op_complain(bench, "norm %.17g, factor %.9g instead of %.17g, %.9g", got.norm,
                    (double)got.factor, expected.norm, (double)expected.factor);
    }
    op_bench_end(bench);
}

void op_table_clip_norm(struct op_bench *bench)
{
    static const float unscales[] = {1, 1.0F / 65536};
    for (int i = 0; i < 2; i++) {
        try_clip_norm(bench, 1, 9, unscales[i], 0);
        try_clip_norm(bench, 17, 9, unscales[i], 1);       /* clipped when not scaled */
        try_clip_norm(bench, 17, 9, unscales[i], 1000);    /* not clipped */
        try_clip_norm(bench, 17, 1e14, unscales[i], 0.5F); /* clipped */
        try_clip_norm(bench, 1000, 1e200, unscales[i], 1);
        try_clip_norm(bench, 3, INFINITY, unscales[i], 1);
        try_clip_norm(bench, 3, NAN, unscales[i], 0);
        try_clip_norm(bench, 1, 4e-12, unscales[i], 1e-9F); /* as small as what is added to it */
        try_clip_norm(bench, 3, 0, unscales[i], 1);
        try_clip_norm(bench, 0, 0, unscales[i], 1);
    }
}

/* ---- optimizers ---- */

enum judged {
    UNJUDGED, /* there is no verdict */
    SCALED,
    SKIPPED,
    JUDGED,
};

static const char *const judged_names[] = {"", " factor", " skip"};

struct weights {
    struct op_array *stored;
    struct op_array *master; /* what the update is made on: the weights themselves without one */
    struct op_array *gradients;
    struct op_array *verdict;
    struct yk_gradient_norm_and_factor judged;
};

static struct weights place_weights(struct op_bench *bench, int64_t count, enum yk_precision type,
                                    bool master, enum judged judged)
{
    struct weights weights = {
        .stored = op_drawn(bench, type, 1, count, count, 1),
        .gradients = op_drawn(bench, type, 1, count, count, 1),
        .judged = {.norm = 1, .factor = judged == SCALED ? 0.37F : 1, .skip = judged == SKIPPED},
    };
    /* The master has digits that the weights have not. */
    weights.master = weights.stored;
    if (master) {
        double *finer = op_copy(bench, weights.stored);
        for (int64_t i = 0; i < count; i++) {
            finer[i] *= 1 + 1e-4 * yk_random_uniform(&bench->random);
        }
        weights.master = op_given(bench, FP32, 1, count, count, finer);
    }
    if (judged == SKIPPED && count > 0) {
        weights.judged.norm = NAN;
        weights.judged.factor = NAN;
        weights.gradients->values[count / 2] = NAN;
        op_store(weights.gradients);
    }
    if (judged != UNJUDGED) {
        weights.verdict = op_bytes(bench, sizeof weights.judged, &weights.judged);
    }
    return weights;
}

/* Weights are the rounded copy of the master that came out, whatever that is. When all is skipped
 * nothing may be written, which the end of the case checks. */
static void expect_weights(struct op_bench *bench, const struct weights *weights,
                           const double *expected)
{
    op_expect_within(bench, weights->master, "master weights", expected, 0.5, 1e-6);
    if (weights->master == weights->stored) {
        return;
    }
    double *rounded = op_room(bench, weights->stored->columns);
    for (int64_t i = 0; i < weights->stored->columns; i++) {
        rounded[i] = reference_round(weights->stored->type, weights->master->results[i]);
    }
    op_expect_exactly(bench, weights->stored, "weights", rounded);
}

static void try_adamw(struct op_bench *bench, int64_t count, enum yk_precision type, bool master,
                      enum judged judged, int step)
{
    op_bench_begin(bench, "adamw %s %lld step %d%s%s", yk_precision_name(type), (long long)count,
                   step, master ? " master" : "", judged_names[judged]);
    struct weights weights = place_weights(bench, count, type, master, judged);
    struct op_array *moment1 = op_drawn(bench, FP32, 1, count, count, step > 1 ? 0.5 : 0);
    struct op_array *moment2 = op_drawn(bench, FP32, 1, count, count, step > 1 ? 0.5 : 0);
    for (int64_t i = 0; i < count; i++) {
        moment2->values[i] = fabs(moment2->values[i]);
    }
    op_store(moment2);
    const struct yk_adamw_op op = {
        .update.count = count,
        .update.weights = weights.stored->device,
        .update.master = master ? weights.master->device : NULL,
        .update.gradients = weights.gradients->device,
        .moment1 = moment1->device,
        .moment2 = moment2->device,
        .update.type = type,
        .update.lr = 0.05F,
        .beta1 = 0.9F,
        .beta2 = 0.98F,
        .epsilon = 1e-6F,
        .update.weight_decay = 0.1F,
        .correction1 = (float)(1 - pow(0.9, step)),
        .correction2 = (float)(1 - pow(0.98, step)),
        .update.gradient_norm = weights.verdict ? weights.verdict->device : NULL,
    };
    op_bench_upload(bench);
    bench->backend->adamw(bench->lane, &op);
    op_bench_run(bench);
    if (judged != SKIPPED) {
        double *expected = op_copy(bench, weights.master);
        double *expected1 = op_copy(bench, moment1);
        double *expected2 = op_copy(bench, moment2);
        reference_adamw(&op, &weights.judged, weights.gradients->values, expected, expected1,
                        expected2);
        expect_weights(bench, &weights, expected);
        op_expect_within(bench, moment1, "moment1", expected1, 0.1, 1e-6);
        op_expect_within(bench, moment2, "moment2", expected2, 0, 1e-6);
    }
    op_bench_end(bench);
}

void op_table_adamw(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int judged = UNJUDGED; judged < JUDGED; judged++) {
            for (int step = 1; step < 30; step += 20) {
                try_adamw(bench, counts[i], FP32, false, (enum judged)judged, step);
                try_adamw(bench, counts[i], FP32, true, (enum judged)judged, step);
                try_adamw(bench, counts[i], BF16, true, (enum judged)judged, step);
                try_adamw(bench, counts[i], FP16, true, (enum judged)judged, step);
            }
        }
    }
    try_adamw(bench, many, FP32, false, UNJUDGED, 3);
    try_adamw(bench, many, BF16, true, SCALED, 3);
}

static void try_sgd(struct op_bench *bench, int64_t count, enum yk_precision type, bool master,
                    enum judged judged, bool first, float momentum)
{
    op_bench_begin(bench, "sgd %s %lld momentum %g%s%s%s", yk_precision_name(type),
                   (long long)count, (double)momentum, first ? " first" : "",
                   master ? " master" : "", judged_names[judged]);
    struct weights weights = place_weights(bench, count, type, master, judged);
    struct op_array *velocity = first ? op_poisoned(bench, FP32, 1, count, count)
                                      : op_drawn(bench, FP32, 1, count, count, 1);
    const struct yk_sgd_op op = {
        .update.count = count,
        .update.weights = weights.stored->device,
        .update.master = master ? weights.master->device : NULL,
        .update.gradients = weights.gradients->device,
        .velocity = velocity->device,
        .update.type = type,
        .update.lr = 0.25F,
        .momentum = momentum,
        .update.weight_decay = 0.1F,
        .first = first,
        .update.gradient_norm = weights.verdict ? weights.verdict->device : NULL,
    };
    op_bench_upload(bench);
    bench->backend->sgd(bench->lane, &op);
    op_bench_run(bench);
    if (judged != SKIPPED) {
        double *expected = op_copy(bench, weights.master);
        double *expected_velocity = op_copy(bench, velocity);
        reference_sgd(&op, &weights.judged, weights.gradients->values, expected, expected_velocity);
        expect_weights(bench, &weights, expected);
        if (momentum != 0) {
            op_expect_within(bench, velocity, "velocity", expected_velocity, 0, 1e-6);
        } else { /* nobody looks at it */
            op_expect_anything(velocity);
        }
    }
    op_bench_end(bench);
}

void op_table_sgd(struct op_bench *bench)
{
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (int judged = UNJUDGED; judged < JUDGED; judged++) {
            for (int first = 0; first < 2; first++) {
                try_sgd(bench, counts[i], FP32, false, (enum judged)judged, first, 0.9F);
                try_sgd(bench, counts[i], FP32, true, (enum judged)judged, first, 0.9F);
                try_sgd(bench, counts[i], BF16, true, (enum judged)judged, first, 0.9F);
                try_sgd(bench, counts[i], FP16, true, (enum judged)judged, first, 0.9F);
            }
        }
    }
    try_sgd(bench, many, FP32, false, UNJUDGED, false, 0.9F);
    try_sgd(bench, many, BF16, true, SCALED, true, 0.9F);
    try_sgd(bench, 130, FP32, false, SCALED, false, 0);
    try_sgd(bench, 130, BF16, true, UNJUDGED, true, 0);
}
