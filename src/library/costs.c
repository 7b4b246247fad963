#include "cost/communication.h"
#include "library/library.h"

#include <math.h>
#include <stdlib.h>

_Static_assert((int)YOKE_PASS_FORWARD == (int)YK_COST_PASS_FORWARD &&
                   (int)YOKE_PASS_BACKWARD == (int)YK_COST_PASS_BACKWARD &&
                   (int)YOKE_PASS_UPDATE == (int)YK_COST_PASS_UPDATE,
               "yoke_pass is yk_cost_pass");
_Static_assert((int)YOKE_COLLECTIVE_ALL_GATHER == (int)YK_COLLECTIVE_ALL_GATHER &&
                   (int)YOKE_COLLECTIVE_REDUCE_SCATTER == (int)YK_COLLECTIVE_REDUCE_SCATTER &&
                   (int)YOKE_COLLECTIVE_ALL_REDUCE == (int)YK_COLLECTIVE_ALL_REDUCE,
               "yoke_collective is yk_collective");

struct yoke_costs {
    struct yoke_cluster *cluster; /* retained */
    struct yk_library_result_inputs context;
};

yoke_status yoke_costs_create(yoke_cluster *cluster, const char *profile, yoke_costs **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(cluster, out);
    yoke_costs *costs = calloc(1, sizeof *costs);
    YK_LIBRARY_TRY(costs ? YK_OK : yk_fail_out_of_memory());
    costs->cluster = YK_LIBRARY_RETAIN(cluster);
    /* Times do not depend on the model, whose memory context is the only other fact. */
    YK_LIBRARY_TRY_OR_CLEANUP(
        yk_library_result_inputs_open_costs(cluster->cluster, profile, NULL, &costs->context),
        yoke_costs_destroy(costs));
    *out = costs;
    return YOKE_OK;
}

void yoke_costs_destroy(yoke_costs *costs)
{
    if (costs) {
        yk_library_result_inputs_close(&costs->context);
        yoke_cluster_destroy(costs->cluster);
        free(costs);
    }
}

static yoke_status answer(yk_status status, const struct yk_cost_time_estimate *time,
                          struct yoke_cost *out)
{
    if (status == YK_OK) {
        *out = (struct yoke_cost){time->seconds, yk_cost_origin_name(time->origin), time->error};
    }
    return yk_library_to_public_status(status);
}

static yk_status check_device(const struct yoke_costs *costs, int32_t device)
{
    const int32_t count = costs->context.sources.cluster->device_count;
    if (device < 0 || device >= count) {
        return yk_fail(YK_ERROR_USAGE, "there is no device %d; the cluster has %d, from 0 on",
                       device, count);
    }
    return YK_OK;
}

static yk_status check_amount(double bytes)
{
    if (!isfinite(bytes) || bytes < 0) {
        return yk_fail(YK_ERROR_USAGE, "a message has 0 bytes or more, not %g", bytes);
    }
    return YK_OK;
}

static yk_status find_layer(const struct yoke_costs *costs, const struct yoke_model *model,
                            int32_t layer, int32_t device, enum yoke_pass pass,
                            struct yk_cost_time_estimate *out)
{
    YK_TRY(check_device(costs, device));
    if (layer < 0 || layer >= model->info.layer_count) {
        return yk_fail(YK_ERROR_USAGE, "there is no layer %d; %s has %d, from 0 on", layer,
                       model->info.name, model->info.layer_count);
    }
    if ((int)pass < YOKE_PASS_FORWARD || (int)pass > YOKE_PASS_UPDATE) {
        return yk_fail(YK_ERROR_USAGE, "there is no pass %d", (int)pass);
    }
    return yk_cost_layer_time(&costs->context.sources, device, model->model,
                              &model->model->layers[layer], (enum yk_cost_pass)pass, out);
}

yoke_status yoke_costs_layer(yoke_costs *costs, const yoke_model *model, int32_t layer,
                             int32_t device, enum yoke_pass pass, struct yoke_cost *out)
{
    struct yk_cost_time_estimate time = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(costs, model, out);
    return answer(find_layer(costs, model, layer, device, pass, &time), &time, out);
}

static yk_status find_send(const struct yoke_costs *costs, int32_t from, int32_t to, double bytes,
                           struct yk_cost_time_estimate *out)
{
    YK_TRY(check_device(costs, from));
    YK_TRY(check_device(costs, to));
    YK_TRY(check_amount(bytes));
    return yk_communication_send_time(&costs->context.sources, from, to, bytes, out);
}

yoke_status yoke_costs_send(yoke_costs *costs, int32_t from, int32_t to, double bytes,
                            struct yoke_cost *out)
{
    struct yk_cost_time_estimate time = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(costs, out);
    return answer(find_send(costs, from, to, bytes, &time), &time, out);
}

static yk_status find_collective(const struct yoke_costs *costs, enum yoke_collective collective,
                                 const struct yk_ring_devices *ranks, double bytes,
                                 double largest_part_bytes, struct yk_cost_time_estimate *out)
{
    if ((int)collective < YOKE_COLLECTIVE_ALL_GATHER ||
        (int)collective > YOKE_COLLECTIVE_ALL_REDUCE) {
        return yk_fail(YK_ERROR_USAGE, "there is no collective %d", (int)collective);
    }
    if (ranks->count < 1) {
        return yk_fail(YK_ERROR_USAGE, "a collective has 1 device or more, not %d", ranks->count);
    }
    for (int32_t i = 0; i < ranks->count; i++) {
        YK_TRY(check_device(costs, ranks->devices[i]));
    }
    YK_TRY(check_amount(bytes));
    YK_TRY(check_amount(largest_part_bytes));
    return yk_communication_collective_time(&costs->context.sources, (enum yk_collective)collective,
                                            ranks, bytes, largest_part_bytes, out);
}

yoke_status yoke_costs_collective(yoke_costs *costs, enum yoke_collective collective,
                                  const int32_t *devices, int32_t count, double bytes,
                                  double largest_part_bytes, struct yoke_cost *out)
{
    const struct yk_ring_devices ranks = {.devices = devices, .count = count};
    struct yk_cost_time_estimate time = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(costs, devices, out);
    return answer(find_collective(costs, collective, &ranks, bytes, largest_part_bytes, &time),
                  &time, out);
}
