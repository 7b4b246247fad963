/*
 * Drawn problem: a model on devices that do not match, all drawn by a seed: times of layers, sizes
 * of memories and speeds of links such that every decision of a plan matters now and then.
 */
#ifndef YK_TESTS_DRAWN_PROBLEM_H
#define YK_TESTS_DRAWN_PROBLEM_H

#include "planner/search/search_context.h"

struct drawn_problem {
    struct yk_model_config config;
    struct yk_cluster *cluster;
    struct yk_device_measurements
        facts[YK_CLUSTER_MAX_DEVICES]; /* nothing, unless a test says so */
    struct yk_cost_sources sources;
    struct yk_plan_request request; /* everything is open; there is time enough */
};

/* How large a problem may be. */
struct drawn_size {
    int blocks;  /* 1 to this many */
    int devices; /* 2 to this many */
    int batch;   /* 2 to this many samples */
};

/* In place, since the request points into it. */
void drawn_problem_make(uint64_t seed, const struct drawn_size *most, struct drawn_problem *out);
void drawn_problem_free(struct drawn_problem *problem);

#endif
