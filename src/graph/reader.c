#include "graph/reader.h"

#include <math.h>
#include <stdio.h>

static yk_status check_speeds(const struct yk_graph_read_options *options)
{
    for (int32_t i = 0; i < options->speed_count; i++) {
        if (!isfinite(options->speeds[i]) || options->speeds[i] <= 0) {
            return yk_fail(YK_ERROR_USAGE, "--speeds: speed %d is %g; a speed is a number above 0",
                           i + 1, options->speeds[i]);
        }
    }
    if (options->speed_count > 0 && options->device_count > 0 &&
        options->speed_count != options->device_count) {
        return yk_fail(YK_ERROR_USAGE,
                       "--speeds has %d entries for %d devices; give one for each device",
                       options->speed_count, options->device_count);
    }
    return YK_OK;
}

yk_status yk_graph_reader_check_options(const struct yk_graph_read_options *given,
                                        struct yk_graph_read_options *out)
{
    *out = given ? *given : (struct yk_graph_read_options){0};
    if (!out->speeds) {
        out->speed_count = 0;
    }
    if (out->device_count < 0 || out->device_count > YK_GRAPH_MAX_DEVICES ||
        out->speed_count > YK_GRAPH_MAX_DEVICES) {
        return yk_fail(YK_ERROR_USAGE, "--devices must be from 1 to %d", YK_GRAPH_MAX_DEVICES);
    }
    YK_TRY(check_speeds(out));
    if (out->device_count == 0) {
        out->device_count = out->speed_count;
    }
    if (!isfinite(out->latency_s) || out->latency_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "--latency must be 0 or more");
    }
    if (!isfinite(out->bandwidth_bytes_per_s) || out->bandwidth_bytes_per_s < 0) {
        return yk_fail(YK_ERROR_USAGE, "--bandwidth must be more than 0");
    }
    return YK_OK;
}

yk_status yk_graph_reader_add_devices(const struct yk_graph_read_options *options,
                                      struct yk_graph_builder *builder)
{
    if (options->device_count == 0) {
        return yk_fail(YK_ERROR_USAGE,
                       "this form has no devices of its own; say how many with --devices N or how "
                       "fast they are with --speeds");
    }
    for (int32_t i = 0; i < options->device_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "P%d", i + 1);
        YK_TRY(yk_graph_builder_add_device(builder, name, INFINITY));
    }
    return YK_OK;
}

void yk_graph_reader_task_costs(const struct yk_graph_read_options *options, double work,
                                double *out)
{
    for (int32_t i = 0; i < options->device_count; i++) {
        out[i] = options->speed_count > 0 ? work / options->speeds[i] : work;
    }
}
