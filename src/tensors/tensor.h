/*
 * Tensor: what files of tensors say about one: its name, type, shape and place. The rest of the
 * room:
 *
 *   safetensors         reads a file in Hugging Face's form
 *   safetensors_writer  writes one, from front to back
 *   tensor_set          the weights of a model, in one file or several
 *
 * Any thread.
 */
#ifndef YK_TENSORS_TENSOR_H
#define YK_TENSORS_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_TENSOR_MAX_RANK = 8
};

/* Names in files are those behind YK_TENSOR_: "F32", "BF16". */
enum yk_tensor_dtype {
    YK_TENSOR_F64,
    YK_TENSOR_F32,
    YK_TENSOR_F16,
    YK_TENSOR_BF16,
    YK_TENSOR_I64,
    YK_TENSOR_I32,
    YK_TENSOR_I16,
    YK_TENSOR_I8,
    YK_TENSOR_U8,
    YK_TENSOR_BOOL,
    YK_TENSOR_U16,
    YK_TENSOR_U32,
    YK_TENSOR_U64,
    YK_TENSOR_F8_E4M3,
    YK_TENSOR_F8_E5M2,
    YK_TENSOR_F8_E8M0,
    YK_TENSOR_C64, /* two F32: real and imaginary part */
    YK_TENSOR_DTYPES,
};

const char *yk_tensor_dtype_name(enum yk_tensor_dtype type);
uint64_t yk_tensor_dtype_bytes(enum yk_tensor_dtype type);
/* False when no type has that name. */
bool yk_tensor_dtype_find(const char *name, enum yk_tensor_dtype *out);

/* The bytes of a tensor of this type and shape; false when dimensions are negative or the product
 * is more than 64 bits hold. Rank 0 is one number. */
bool yk_tensor_bytes(enum yk_tensor_dtype type, int32_t rank, const int64_t *shape, uint64_t *out);

struct yk_tensor_entry {
    const char *name;
    enum yk_tensor_dtype type;
    int32_t rank; /* 0: one number */
    int64_t shape[YK_TENSOR_MAX_RANK];
    uint64_t offset; /* in the file */
    uint64_t bytes;
};

#endif
