#include "cli/engine.h"

yk_status yk_engine_open_cpu(int64_t threads, struct yk_engine *out)
{
    const struct yk_backend_options options = {.threads = (int32_t)threads};
    out->backend = &yk_backend_cpu;
    YK_TRY(out->backend->open(&options, &out->device));
    return out->backend->lane_create(out->device, "load", &out->lane);
}

void yk_engine_close(struct yk_engine *engine)
{
    if (engine->backend) {
        engine->backend->lane_destroy(engine->lane);
        engine->backend->close(engine->device);
    }
    *engine = (struct yk_engine){0};
}
