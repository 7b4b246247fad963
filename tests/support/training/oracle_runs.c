#include "support/training/oracle_runs.h"

#include "model/architecture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const way_names[ORACLE_WAYS] = {"trains as PyTorch does",
                                                   "the same with recomputation", "in bf16",
                                                   "in fp16", "in bf16 with recomputation"};

static enum yk_precision precision_of(const struct training_case *c, enum oracle_way way)
{
    switch (way) {
    case ORACLE_IN_BF16:
    case ORACLE_RECOMPUTED_IN_BF16:
        return YK_PRECISION_BF16;
    case ORACLE_IN_FP16:
        return YK_PRECISION_FP16;
    default:
        return c->options.precision;
    }
}

/* What is recorded in 16 bits is not trained in others. In 16 bits adapters take another way
 * through some ops, which recomputation has to take, too. */
static bool is_of_use(const char *name, enum oracle_way way)
{
    struct training_case *c = training_case_open(name);
    const bool of_use = way == ORACLE_AS_RECORDED || way == ORACLE_RECOMPUTED ||
                        (c->options.precision == YK_PRECISION_FP32 &&
                         (way != ORACLE_RECOMPUTED_IN_BF16 || c->options.lora_rank > 0));
    training_case_close(c);
    return of_use;
}

struct CMUnitTest *oracle_runs_as_tests(CMUnitTestFunction test, size_t *count)
{
    enum {
        MAX_COUNT = 512
    };
    static struct oracle_run runs[MAX_COUNT];
    static struct CMUnitTest tests[MAX_COUNT];
    *count = 0;
    for (size_t i = 0; training_case_names[i]; i++) {
        for (enum oracle_way way = ORACLE_AS_RECORDED; way < ORACLE_WAYS; way++) {
            if (!is_of_use(training_case_names[i], way)) {
                continue;
            }
            assert_true(*count < MAX_COUNT);
            struct oracle_run *run = &runs[*count];
            *run = (struct oracle_run){.name = training_case_names[i], .way = way};
            (void)snprintf(run->title, sizeof run->title, "%s: %s", run->name, way_names[way]);
            tests[(*count)++] =
                (struct CMUnitTest){.name = run->title, .test_func = test, .initial_state = run};
        }
    }
    return tests;
}

/* Several times PyTorch's distance, and a little more: where it happens to be near, another way of
 * rounding need not be. */
static struct model_oracle_distance limit_beyond(const struct model_oracle_distance *pytorch,
                                                 double times, double more)
{
    return (struct model_oracle_distance){
        .logits = times * pytorch->logits + more,
        .gradients = times * pytorch->gradients + more,
        .gradients_together = times * pytorch->gradients_together + more,
        .losses = times * pytorch->losses + more / 4, /* which differ by less */
        .norms = times * pytorch->norms + more,
        .final = INFINITY,
    };
}

/* The bounds that held for all cases when these were the families there were. */
static struct model_oracle_distance limit_of_first_families(enum yk_precision precision)
{
    if (precision == YK_PRECISION_FP16) {
        return (struct model_oracle_distance){
            .logits = 1e-2, .gradients = 1e-2, .losses = 2e-3, .norms = 1e-2};
    }
    return (struct model_oracle_distance){
        .logits = 3e-2, .gradients = 1e-1, .losses = 2e-2, .norms = 6e-2};
}

static bool is_of_first_families(const struct training_case *c)
{
    static const char *const types[] = {"gpt2", "llama", "bert", "marian"};
    bool found = false;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        found = found || strcmp(c->config->architecture->model_type, types[i]) == 0;
    }
    return found;
}

/* How far a case that was recorded in fp32 may be off in 16 bits. */
static struct model_oracle_distance limit_in_16_bits(const struct training_case *c,
                                                     enum yk_precision precision)
{
    const bool fp16 = precision == YK_PRECISION_FP16;
    const struct training_case_spread *spread = fp16 ? &c->spread_fp16 : &c->spread_bf16;
    const struct model_oracle_distance pytorch = {
        .logits = spread->logits,
        .gradients = spread->gradients,
        .gradients_together = spread->gradients_together,
        .losses = spread->losses,
        .norms = spread->norms,
    };
    struct model_oracle_distance limit = limit_beyond(&pytorch, 2, fp16 ? 5e-4 : 2e-3);
    if (is_of_first_families(c)) {
        const struct model_oracle_distance first = limit_of_first_families(precision);
        limit.logits = fmin(limit.logits, first.logits);
        limit.gradients = fmin(limit.gradients, first.gradients);
        limit.losses = fmin(limit.losses, first.losses);
        limit.norms = fmin(limit.norms, first.norms);
    }
    return limit;
}

static struct model_oracle_distance limit_of(const struct training_case *c,
                                             enum yk_precision precision)
{
    if (c->options.precision == YK_PRECISION_FP32) {
        return limit_in_16_bits(c, precision);
    }
    const struct model_oracle_distance pytorch =
        model_oracle_recorded(c, model_oracle_apart_in_norm);
    return limit_beyond(&pytorch, 1.5, 2e-3);
}

void oracle_run_check(const struct oracle_run *run, const struct model_oracle_request *request,
                      const struct model_oracle_distance *max)
{
    struct training_case *c = training_case_open(run->name);
    struct model_oracle_request wanted = *request;
    wanted.recompute = run->way == ORACLE_RECOMPUTED || run->way == ORACLE_RECOMPUTED_IN_BF16;
    wanted.precision = precision_of(c, run->way);
    struct model_oracle_distance limit = *max;
    if (wanted.precision != YK_PRECISION_FP32) {
        wanted.apart = model_oracle_apart_in_norm;
        limit = limit_of(c, wanted.precision);
    }
    const struct model_oracle_distance found = model_oracle_run(c, &wanted);
    print_message("of what may be: logits %.2f, gradients %.2f, together %.2f, losses %.2f, "
                  "norms %.2f, at the end %.2f\n",
                  found.logits / limit.logits, found.gradients / limit.gradients,
                  found.gradients_together / limit.gradients_together, found.losses / limit.losses,
                  found.norms / limit.norms, found.final / limit.final);
    model_oracle_expect(c, &found, &limit);
    training_case_close(c);
}
