#include "job/machine/devices.h"

yk_status yk_devices_run(struct yk_devices_result *out)
{
    YK_TRY(yk_discover(NULL, &out->machine));
    for (int i = 0; i < out->machine.gpu_count; i++) {
        const struct yk_datasheet *sheet = yk_discover_datasheet(out->machine.gpus[i].name);
        out->types[i] = sheet ? sheet->name : NULL;
    }
    return YK_OK;
}

yk_status yk_devices_write_cluster(const struct yk_devices_result *devices, struct yk_text *out)
{
    struct yk_cluster *cluster = NULL;
    YK_TRY(yk_discover_cluster(&devices->machine, &cluster));
    const yk_status status = yk_cluster_write(cluster, out);
    yk_cluster_destroy(cluster);
    return status;
}
