#include "graph/ticks.h"

#include "base/arena.h"
#include "base/log.h"

/* No schedule may be longer than this many ticks: sums of two still fit a double exactly, and a sum
 * over YK_GRAPH_MAX_DEVICES devices fits an int64_t. */
static const double LONGEST_SCHEDULE_TICKS = 4503599627370496.0; /* 2^52 */
/* Larger powers of ten are not exact in a double. */
enum {
    MOST_DECIMALS = 22
};

double yk_ticks_largest_cost(const struct yk_graph_builder *builder, int32_t task)
{
    const int64_t P = yk_names_count(builder->device_names);
    double largest = NAN;
    for (int64_t p = 0; p < P; p++) {
        largest = fmax(largest, builder->costs[task * P + p]);
    }
    return largest;
}

static bool has_links(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    return builder->links && graph->device_count > 1;
}

/* In units: the most any schedule without needless waiting can take, all tasks and transfers one
 * after the other. */
static double longest_schedule(const struct yk_graph_builder *builder, const struct yk_graph *graph)
{
    double latency = 0;
    double slowest = INFINITY;
    const int32_t P = graph->device_count;
    for (int32_t i = 0; has_links(builder, graph) && i < P * P; i++) {
        if (i / P != i % P && builder->links[i].bytes_per_unit > 0) {
            latency = fmax(latency, builder->links[i].latency);
            slowest = fmin(slowest, builder->links[i].bytes_per_unit);
        }
    }
    double sum = 0;
    for (int32_t i = 0; i < graph->task_count; i++) {
        sum += yk_ticks_largest_cost(builder, i);
    }
    for (int32_t e = 0; e < builder->edge_count; e++) {
        const struct edge_record *edge = &builder->edges[e];
        sum += isnan(edge->cost) ? latency + ceil(edge->bytes) / slowest : edge->cost;
    }
    return sum;
}

static yk_status choose_ticks(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    const double sum = longest_schedule(builder, graph);
    /* A tick for each task and edge on top: rounding may add half of one each. */
    const double slack = (double)graph->task_count + (double)graph->edge_count;
    double scale = 1;
    if (!(sum + slack < LONGEST_SCHEDULE_TICKS)) {
        return yk_fail(YK_ERROR_INPUT,
                       "all costs together are %.3g, which is too large; use a larger unit of time",
                       sum);
    }
    for (int k = 0; k < MOST_DECIMALS && sum * scale * 10 + slack < LONGEST_SCHEDULE_TICKS; k++) {
        scale *= 10;
    }
    graph->ticks_per_unit = scale;
    return YK_OK;
}

static yk_status convert_costs(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    const size_t count = (size_t)graph->task_count * (size_t)graph->device_count;
    YK_TRY_NEW(graph->arena, graph->costs, count);
    bool vanished = false;
    for (size_t i = 0; i < count; i++) {
        graph->costs[i] = isnan(builder->costs[i])
                              ? YK_GRAPH_NEVER
                              : llround(builder->costs[i] * graph->ticks_per_unit);
        vanished = vanished || (graph->costs[i] == 0 && builder->costs[i] > 0);
    }
    if (vanished) {
        yk_log(YK_LOG_WARNING, "some costs are so small beside the others that they count as 0");
    }
    return YK_OK;
}

/* Every pair's link; one for all when they are equal. */
static yk_status convert_links(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    if (!has_links(builder, graph)) {
        return YK_OK;
    }
    const int32_t P = graph->device_count;
    const double scale = graph->ticks_per_unit;
    YK_TRY_NEW(graph->arena, graph->links, P * P);
    struct yk_graph_link sum = {0, 0};
    struct yk_graph_link least = {INFINITY, INFINITY};
    bool equal = true;
    for (int32_t i = 0; i < P * P; i++) {
        const struct link_record *record = &builder->links[i];
        if (i / P == i % P || record->bytes_per_unit == 0) {
            continue;
        }
        /* Place 1 is the link from the first device to the second: never on the diagonal. */
        equal = equal && record->latency == builder->links[1].latency &&
                record->bytes_per_unit == builder->links[1].bytes_per_unit;
        graph->links[i].latency_ticks = record->latency * scale;
        graph->links[i].ticks_per_byte = scale / record->bytes_per_unit;
        sum.latency_ticks += graph->links[i].latency_ticks;
        sum.ticks_per_byte += graph->links[i].ticks_per_byte;
        least.latency_ticks = fmin(least.latency_ticks, graph->links[i].latency_ticks);
        least.ticks_per_byte = fmin(least.ticks_per_byte, graph->links[i].ticks_per_byte);
    }
    const double pairs = (double)P * (P - 1);
    graph->mean_link.latency_ticks = sum.latency_ticks / pairs;
    graph->mean_link.ticks_per_byte = sum.ticks_per_byte / pairs;
    graph->fastest_link = least;
    if (equal) {
        graph->mean_link = graph->links[1];
        graph->links = NULL;
    }
    return YK_OK;
}

yk_status yk_ticks_convert(const struct yk_graph_builder *builder, struct yk_graph *graph)
{
    YK_TRY(choose_ticks(builder, graph));
    YK_TRY(convert_costs(builder, graph));
    return convert_links(builder, graph);
}

int64_t yk_ticks_of_edge(const struct yk_graph *graph, const struct edge_record *record)
{
    if (!isnan(record->cost)) {
        return llround(record->cost * graph->ticks_per_unit);
    }
    if (graph->links) {
        return YK_GRAPH_BY_LINK;
    }
    /* Of a single device the mean link is nothing, and so is the time. */
    return llround(graph->mean_link.latency_ticks +
                   ceil(record->bytes) * graph->mean_link.ticks_per_byte);
}
