/* Adapter config: reads and writes adapter_config.json, the file that describes a LoRA adapter in
 * PEFT format. */
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
    /* The module outside blocks that is trained and saved as a whole: the head of a classifier;
     * NULL means: there is none. */
    const char *saved_module;
};

/* Reads folder/adapter_config.json. Only plain LoRA is supported, which adds (alpha / rank) · B · A
 * to the weights of linears. For any other adapter, fails with an error message that contains the
 * key which is not supported. Unknown keys are ignored. Strings are in the arena. */
yk_status yk_adapter_config_read(const char *folder, struct yk_arena *arena,
                                 struct yk_adapter_config *out) YK_MUST_USE;

/* Parses the text of the file. Error messages do not contain the path of the file. */
yk_status yk_adapter_config_parse(const char *text, size_t length, struct yk_arena *arena,
                                  struct yk_adapter_config *out) YK_MUST_USE;

/* Appends to `out` the contents of adapter_config.json for the adapters of a net. `base` is the
 * name or path of the base model; it may be NULL. */
yk_status yk_adapter_config_to_json(const struct yk_net *net, const char *base,
                                    struct yk_text *out) YK_MUST_USE;

#endif
