#include "cluster/discover.h"
#include "library/library.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Only one thread at a time may use the driver library. */
static pthread_mutex_t discovering = PTHREAD_MUTEX_INITIALIZER;

static struct yoke_device device_record(const struct yk_device *device)
{
    return (struct yoke_device){
        .name = device->name,
        .type = device->type,
        .node = device->node,
        .is_cpu = device->is_cpu,
        .part = device->fraction,
        .memory_bytes = device->memory_bytes,
        .memory_bytes_per_s = device->memory_bytes_per_s,
        .fp32_flops = device->matrix_flops[YK_PRECISION_FP32],
        .tf32_flops = device->matrix_flops[YK_PRECISION_TF32],
        .fp16_flops = device->matrix_flops[YK_PRECISION_FP16],
        .bf16_flops = device->matrix_flops[YK_PRECISION_BF16],
        .vector_flops = device->vector_flops,
    };
}

static yk_status fill(struct yoke_cluster *handle)
{
    const struct yk_cluster *cluster = handle->cluster;
    const int32_t P = cluster->device_count;
    YK_TRY_NEW(cluster->arena, handle->devices, P);
    YK_TRY_NEW(cluster->arena, handle->links, (int64_t)P * P);
    for (int32_t i = 0; i < P; i++) {
        handle->devices[i] = device_record(&cluster->devices[i]);
    }
    for (int32_t i = 0; i < P * P; i++) {
        handle->links[i] =
            (struct yoke_link){cluster->links[i].latency_s, cluster->links[i].bytes_per_s};
    }
    handle->info = (struct yoke_cluster_info){
        .source = cluster->source,
        .device_count = P,
        .node_count = cluster->node_count,
        .host_memory_bytes = cluster->host_memory_bytes,
        .assumption = cluster->assumption,
    };
    return YK_OK;
}

/* Creates a handle that owns `cluster`. Destroys the cluster if it fails. */
static yk_status wrap(struct yk_cluster *cluster, struct yoke_cluster **out)
{
    struct yoke_cluster *handle = calloc(1, sizeof *handle);
    if (!handle) {
        yk_cluster_destroy(cluster);
        return yk_fail_out_of_memory();
    }
    atomic_init(&handle->references, 1);
    handle->cluster = cluster;
    YK_TRY_OR_CLEAN_UP(fill(handle), yoke_cluster_destroy(handle));
    *out = handle;
    return YK_OK;
}

yk_status yk_library_open_cluster(const char *word, struct yoke_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    YK_TRY(yk_cluster_read_or_parse(word, &cluster));
    return wrap(cluster, out);
}

yoke_status yoke_cluster_open(const char *word, yoke_cluster **out)
{
    YK_LIBRARY_REQUIRE_NOT_NULL(word, out);
    return yk_library_to_public_status(yk_library_open_cluster(word, out));
}

yoke_status yoke_cluster_read(const char *text, const char *source, yoke_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(text, source, out);
    YK_LIBRARY_TRY(yk_cluster_read_json(text, strlen(text), source, &cluster));
    return yk_library_to_public_status(wrap(cluster, out));
}

static yk_status discover(struct yk_cluster **out)
{
    struct yk_machine *machine = calloc(1, sizeof *machine);
    YK_TRY_ALLOCATED(machine);
    pthread_mutex_lock(&discovering);
    yk_status status = yk_discover_machine(NULL, machine);
    pthread_mutex_unlock(&discovering);
    YK_IF_OK(yk_discover_make_cluster(machine, out));
    free(machine);
    return status;
}

yoke_status yoke_cluster_discover(yoke_cluster **out)
{
    struct yk_cluster *cluster = NULL;
    YK_LIBRARY_REQUIRE_NOT_NULL(out);
    YK_LIBRARY_TRY(discover(&cluster));
    return yk_library_to_public_status(wrap(cluster, out));
}

void yoke_cluster_destroy(yoke_cluster *cluster)
{
    if (cluster && yk_library_release_reference(&cluster->references)) {
        yk_cluster_destroy(cluster->cluster);
        free(cluster);
    }
}

const struct yoke_cluster_info *yoke_cluster_info(const yoke_cluster *cluster)
{
    return &cluster->info;
}

const struct yoke_device *yoke_cluster_device(const yoke_cluster *cluster, int32_t device)
{
    return YK_LIBRARY_ELEMENT_OR_NULL(cluster->devices, cluster->info.device_count, device);
}

const struct yoke_link *yoke_cluster_link(const yoke_cluster *cluster, int32_t a, int32_t b)
{
    const int32_t P = cluster->info.device_count;
    if (a < 0 || a >= P || b < 0 || b >= P || a == b) {
        return NULL;
    }
    return &cluster->links[a * P + b];
}

yoke_status yoke_cluster_write(const yoke_cluster *cluster, char **out)
{
    struct yk_text text = {0};
    YK_LIBRARY_REQUIRE_NOT_NULL(cluster, out);
    return yk_library_return_text_or_free(yk_cluster_write_json(cluster->cluster, &text), &text,
                                          out);
}

const char *yoke_device_type(int32_t number, const char **title)
{
    if (number < 0 || (size_t)number >= yk_datasheet_count) {
        return NULL;
    }
    if (title) {
        *title = yk_datasheets[number].title;
    }
    return yk_datasheets[number].name;
}
