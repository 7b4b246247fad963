#include "base/precision.h"

#include <string.h>

static const struct {
    const char *name;
    int64_t bytes;
} formats[YK_PRECISION_COUNT] = {
    [YK_PRECISION_FP32] = {"fp32", 4},
    [YK_PRECISION_TF32] = {"tf32", 4},
    [YK_PRECISION_FP16] = {"fp16", 2},
    [YK_PRECISION_BF16] = {"bf16", 2},
};

const char *yk_precision_name(enum yk_precision precision)
{
    return formats[precision].name;
}

bool yk_precision_find(const char *name, enum yk_precision *out)
{
    for (int i = 0; i < YK_PRECISION_COUNT; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            *out = (enum yk_precision)i;
            return true;
        }
    }
    return false;
}

int64_t yk_precision_bytes(enum yk_precision precision)
{
    return formats[precision].bytes;
}

void *yk_precision_element_address(enum yk_precision precision, const void *base, int64_t index)
{
    return (char *)(uintptr_t)base + index * yk_precision_bytes(precision);
}
