#include "tensors/tensor.h"

#include <string.h>

static const struct {
    const char *name;
    uint64_t bytes;
} types[YK_TENSOR_DTYPE_COUNT] = {
    [YK_TENSOR_F64] = {"F64", 8},         [YK_TENSOR_F32] = {"F32", 4},
    [YK_TENSOR_F16] = {"F16", 2},         [YK_TENSOR_BF16] = {"BF16", 2},
    [YK_TENSOR_I64] = {"I64", 8},         [YK_TENSOR_I32] = {"I32", 4},
    [YK_TENSOR_I16] = {"I16", 2},         [YK_TENSOR_I8] = {"I8", 1},
    [YK_TENSOR_U8] = {"U8", 1},           [YK_TENSOR_BOOL] = {"BOOL", 1},
    [YK_TENSOR_U16] = {"U16", 2},         [YK_TENSOR_U32] = {"U32", 4},
    [YK_TENSOR_U64] = {"U64", 8},         [YK_TENSOR_F8_E4M3] = {"F8_E4M3", 1},
    [YK_TENSOR_F8_E5M2] = {"F8_E5M2", 1}, [YK_TENSOR_F8_E8M0] = {"F8_E8M0", 1},
    [YK_TENSOR_C64] = {"C64", 8},
};

const char *yk_tensor_dtype_name(enum yk_tensor_dtype type)
{
    return types[type].name;
}

uint64_t yk_tensor_dtype_element_bytes(enum yk_tensor_dtype type)
{
    return types[type].bytes;
}

bool yk_tensor_dtype_find_by_name(const char *name, enum yk_tensor_dtype *out)
{
    for (int i = 0; i < YK_TENSOR_DTYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (enum yk_tensor_dtype)i;
            return true;
        }
    }
    return false;
}

bool yk_tensor_compute_bytes(enum yk_tensor_dtype type, int32_t rank, const int64_t *shape,
                             uint64_t *out)
{
    uint64_t bytes = types[type].bytes;
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(bytes, (uint64_t)shape[i], &bytes)) {
            return false;
        }
    }
    *out = bytes;
    return true;
}
