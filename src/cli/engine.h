/*
 * Engine: this machine's CPU with a lane to fill its memory by, ready for a store.
 *
 * Whoever opens one closes it after everything on it is gone. One thread at a time.
 */
#ifndef YK_CLI_ENGINE_H
#define YK_CLI_ENGINE_H

#include "nn/store.h"

#include <stdint.h>

/* `threads` is 0 for one on each core. `out` starts as {0}. */
yk_status yk_engine_open_cpu(const struct yk_backend_options *options,
                             struct yk_engine *out) YK_MUST_USE;
void yk_engine_close(struct yk_engine *engine);

#endif
