/* Adapter config: adapter_config.json, as PEFT writes it for a LoRA adapter. */
#ifndef YK_NN_WEIGHTS_ADAPTER_CONFIG_H
#define YK_NN_WEIGHTS_ADAPTER_CONFIG_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "nn/net.h"

#include <stdint.h>

struct yk_adapter_config {
    int64_t rank;
    double alpha;
    const char *base; /* the model it adapts, by name or path; or NULL */
};

/* Refuses adapters other than alpha / rank · B·A on linears, naming the key. Unknown keys are
 * ignored. Strings live in the arena. */
yk_status yk_adapter_config_read(const char *folder, struct yk_arena *arena,
                                 struct yk_adapter_config *out) YK_MUST_USE;

/* The same for the bytes of the file; messages do not name it. */
yk_status yk_adapter_config_parse(const char *text, size_t length, struct yk_arena *arena,
                                  struct yk_adapter_config *out) YK_MUST_USE;

/* Adds the file for the adapters of a net; `base` may be NULL. */
yk_status yk_adapter_config_write(const struct yk_net *net, const char *base,
                                  struct yk_text *out) YK_MUST_USE;

/* Alpha of the net's adapters: the rank where none was given, which scales them by 1. */
double yk_adapter_config_alpha(const struct yk_net *net);

#endif
