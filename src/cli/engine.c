#include "cli/engine.h"

yk_status yk_engine_open_cpu(const struct yk_backend_options *options, struct yk_engine *out)
{
    out->backend = &yk_backend_cpu;
    YK_TRY(out->backend->open(options, &out->device));
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
