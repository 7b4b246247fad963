#include "support/files/same_config.h"

#include "support/support.h"

#include <math.h>
#include <string.h>

static void assert_same_factors(const double *a, const double *b, int64_t count)
{
    assert_int_equal(a != NULL, b != NULL);
    for (int64_t i = 0; a && b && i < count; i++) {
        assert_true(a[i] == b[i]);
    }
}

/* Numbers that are written as a quotient or a root come back with an error of rounding. */
static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-15 * fabs(a));
}

static void assert_same_rope(const struct yk_rope *a, const struct yk_rope *b, int64_t pairs)
{
    struct yk_rope left;
    struct yk_rope right;
    assert_same_factors(a->short_factors, b->short_factors, pairs);
    assert_same_factors(a->long_factors, b->long_factors, pairs);
    memcpy(&left, a, sizeof left); /* with what lies between the members: both began as zeros */
    memcpy(&right, b, sizeof right);
    left.short_factors = right.short_factors = left.long_factors = right.long_factors = NULL;
    assert_memory_equal(&left, &right, sizeof left);
}

void assert_same_config(const struct yk_model_config *a, const struct yk_model_config *b)
{
    struct yk_model_config left;
    struct yk_model_config right;
    assert_same_rope(&a->rope, &b->rope, a->rotary_size / 2);
    assert_same_rope(&a->local_rope, &b->local_rope, a->rotary_size / 2);
    assert_int_equal(a->layers, b->layers);
    for (int64_t i = 0; i < a->layers; i++) {
        assert_int_equal(yk_model_config_block_flags(a, i), yk_model_config_block_flags(b, i));
    }
    assert_int_equal(a->labels != NULL, b->labels != NULL);
    for (int64_t i = 0; a->labels && b->labels && i < a->vocabulary; i++) {
        assert_string_equal(a->labels[i], b->labels[i]);
    }
    assert_near(a->attention_scale, b->attention_scale);
    assert_near(a->logit_scale, b->logit_scale);
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    left.name = right.name = NULL;
    left.block_flags = right.block_flags = NULL;
    left.labels = right.labels = NULL;
    left.attention_scale = right.attention_scale;
    left.logit_scale = right.logit_scale;
    memset(&left.rope, 0, sizeof left.rope);
    memset(&right.rope, 0, sizeof right.rope);
    memset(&left.local_rope, 0, sizeof left.local_rope);
    memset(&right.local_rope, 0, sizeof right.local_rope);
    assert_memory_equal(&left, &right, sizeof left);
}
