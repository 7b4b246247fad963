/* Whole models against PyTorch: logits, every gradient, 20 steps of training. */
#include "support/support.h"
#include "support/training/model_oracle.h"

#include <math.h>
#include <stdio.h>

/* Relative to the largest number expected. In bf16 PyTorch's own norms are 1.5e-2 from those in
 * fp64, and another way of rounding is as far to the other side. */
static struct model_oracle_distance tolerance_of(const struct training_case *c)
{
    return c->options.precision == YK_PRECISION_FP32
               ? (struct model_oracle_distance){.logits = 1e-5,
                                                .gradients = 1e-5,
                                                .losses = 1e-5,
                                                .norms = 1e-5,
                                                .final = 1e-4}
               : (struct model_oracle_distance){.logits = 5e-2,
                                                .gradients = 5e-2,
                                                .losses = 2e-2,
                                                .norms = 4e-2,
                                                .final = INFINITY};
}

static void train(const char *name, bool recompute)
{
    struct training_case *c = training_case_open(name);
    const struct model_oracle_distance max = tolerance_of(c);
    const struct model_oracle_distance found =
        model_oracle_run(c, &(struct model_oracle_request){.recompute = recompute,
                                                           .precision = c->options.precision,
                                                           .apart = training_case_apart});
    model_oracle_expect(c, &found, &max);
    training_case_close(c);
}

static void trains_as_pytorch_does(void **state)
{
    train(*state, false);
}

static void trains_the_same_with_recomputation(void **state)
{
    train(*state, true);
}

int main(void)
{
    enum {
        MAX_COUNT = 256
    };
    struct CMUnitTest tests[MAX_COUNT];
    char names[MAX_COUNT][96];
    size_t count = 0;
    for (size_t i = 0; training_case_names[i] && count + 2 <= MAX_COUNT; i++) {
        const struct {
            CMUnitTestFunction run;
            const char *how;
        } ways[] = {{trains_as_pytorch_does, "trains as PyTorch does"},
                    {trains_the_same_with_recomputation, "the same with recomputation"}};
        for (int w = 0; w < 2; w++) {
            (void)snprintf(names[count], sizeof names[count], "%s: %s", training_case_names[i],
                           ways[w].how);
            tests[count] =
                (struct CMUnitTest){.name = names[count],
                                    .test_func = ways[w].run,
                                    .initial_state = (void *)(uintptr_t)training_case_names[i]};
            count++;
        }
    }
    return _cmocka_run_group_tests("training against PyTorch", tests, count, NULL, NULL);
}
