/* Random graph: graphs of every kind the readers can make, drawn from a seed. */
#ifndef YK_TESTS_RANDOM_GRAPH_H
#define YK_TESTS_RANDOM_GRAPH_H

#include "graph/graph.h"

#include <stdbool.h>
#include <stdint.h>

struct random_graph_options {
    int32_t most_tasks;
    int32_t most_devices;
    bool groups;   /* some tasks form groups with resident bytes */
    bool stores;   /* some groups use stores; asks for groups and bytes */
    bool bars;     /* some devices cannot run some tasks */
    bool links;    /* some edges have bytes and no cost */
    bool bytes;    /* tasks and edges hold memory */
    bool limits;   /* devices have memory limits, tight for some */
    bool tight;    /* the limits are so tight that the order of the tasks decides */
    bool equal;    /* every device takes the same for a task */
    bool decimals; /* costs such as 0.3 rather than 3; some are 0 */
};

/* Fails the test when the graph cannot be built. */
struct yk_graph *random_graph(uint64_t seed, const struct random_graph_options *options);

#endif
