/*
 * Tensor: the data types of tensors in files, and the entry that describes one tensor. The entry
 * contains the tensor's name, type, shape and position in the file. All functions are safe to call
 * from any thread.
 */
#ifndef YK_TENSORS_TENSOR_H
#define YK_TENSORS_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_TENSOR_MAX_RANK = 8
};

/* In files, the name of a type is the constant without YK_TENSOR_, for example "F32". */
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
    YK_TENSOR_C64, /* two F32 numbers: real and imaginary part */
    YK_TENSOR_DTYPE_COUNT,
};

/* Returns the name of a type in files, for example "F32". */
const char *yk_tensor_dtype_name(enum yk_tensor_dtype type);
/* Returns the size of one number in bytes. */
uint64_t yk_tensor_dtype_element_bytes(enum yk_tensor_dtype type);
/* Finds a data type by the name that it has in files. Returns false if no type has this name. */
bool yk_tensor_dtype_find_by_name(const char *name, enum yk_tensor_dtype *out);

/* Computes the size in bytes of a tensor. A tensor of rank 0 is one number. Returns false if a
 * dimension is negative or if the size overflows 64 bits. */
bool yk_tensor_compute_bytes(enum yk_tensor_dtype type, int32_t rank, const int64_t *shape,
                             uint64_t *out);

struct yk_tensor_file_entry {
    const char *name;
    enum yk_tensor_dtype type;
    int32_t rank; /* number of dimensions; 0 means: one number */
    int64_t shape[YK_TENSOR_MAX_RANK];
    uint64_t offset; /* position of the first byte, counted from the beginning of the file */
    uint64_t bytes;
};

#endif
