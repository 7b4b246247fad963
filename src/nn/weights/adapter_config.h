/* Adapter config: adapter_config.json of a LoRA adapter in PEFT format. */
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
    const char *base; /* name or path of the base model; may be NULL */
};

/* Reads folder/adapter_config.json. Fails unless the adapter is plain LoRA, alpha / rank · B·A on
 * linears; the error names the key. Unknown keys are ignored. Strings are in the arena. */
yk_status yk_adapter_config_read(const char *folder, struct yk_arena *arena,
                                 struct yk_adapter_config *out) YK_MUST_USE;

/* Parses the text of the file. Messages do not name the file. */
yk_status yk_adapter_config_parse(const char *text, size_t length, struct yk_arena *arena,
                                  struct yk_adapter_config *out) YK_MUST_USE;

/* Appends the file for the adapters of a net. `base` may be NULL. */
yk_status yk_adapter_config_write(const struct yk_net *net, const char *base,
                                  struct yk_text *out) YK_MUST_USE;

/* Alpha of the net's adapters. If none was set, it is the rank, which scales them by 1. */
double yk_adapter_config_alpha(const struct yk_net *net);

#endif
