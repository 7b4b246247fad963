/* Weights tensors: converts parameters to and from tensors of safetensors files. */
#ifndef YK_NN_WEIGHTS_WEIGHTS_TENSOR_H
#define YK_NN_WEIGHTS_WEIGHTS_TENSOR_H

#include "base/status.h"
#include "nn/store/parameter_store.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <stdint.h>

/* Returns the precision in which a parameter is saved: the precision that it has in the store. NF4
 * parameters are dequantised and saved in the precision of the training run. */
enum yk_precision yk_weights_saved_tensor_precision(const struct yk_net *net,
                                                    const struct yk_parameter *parameter);

enum {
    YK_WEIGHTS_NAME_SIZE = 256,
};

/* Returns the name of a parameter in the family as which the model is saved. It is written to
 * `buffer`, unless it is the parameter's own name. */
const char *yk_weights_saved_tensor_name(const struct yk_net *net,
                                         const struct yk_parameter *parameter,
                                         char buffer[YK_WEIGHTS_NAME_SIZE]);

/* Returns whether the tensor has the shape of the parameter. */
bool yk_weights_tensor_has_shape(const struct yk_tensor_location *place,
                                 const struct yk_parameter *parameter);

/* Fails unless the tensor has the shape of the parameter and a floating-point type. */
yk_status yk_weights_check_tensor_shape(const struct yk_tensor_location *place,
                                        const struct yk_parameter *parameter) YK_MUST_USE;

/* Reads the numbers [first, first + count) of a tensor as fp32. yk_weights_check_tensor_shape()
 * must have succeeded for the tensor. */
yk_status yk_weights_read_tensor_range(const struct yk_tensor_location *place, int64_t first,
                                       int64_t count, float *out) YK_MUST_USE;

/*
 * Writes a safetensors file and syncs it. Calls `walk` twice. In the first call, `declares` is
 * true, and `walk` declares all tensors. In the second call, `declares` is false, and `walk`
 * appends the bytes of the tensors in the same order. Sets `*out` to the size and checksum of the
 * file; `out` may be NULL.
 */
yk_status yk_weights_write_tensor_file(
    const char *path,
    yk_status (*walk)(const void *user, struct yk_safetensors_writer *writer, bool declares),
    const void *user, struct yk_safetensors_size_and_hash *out) YK_MUST_USE;

yk_status yk_weights_declare_tensor(struct yk_safetensors_writer *writer, const struct yk_net *net,
                                    const struct yk_parameter *parameter) YK_MUST_USE;

/* Declares a tensor with another name than that of the parameter. */
yk_status yk_weights_declare_named_tensor(struct yk_safetensors_writer *writer,
                                          const struct yk_net *net,
                                          const struct yk_parameter *parameter,
                                          const char *name) YK_MUST_USE;

/* Appends numbers of a tensor to the file, rounded to `precision`. */
yk_status yk_weights_append_tensor_numbers(struct yk_safetensors_writer *writer,
                                           const float *numbers, int64_t count,
                                           enum yk_precision precision) YK_MUST_USE;

/* Appends to the file `bytes` bytes of a tensor that is in device memory. */
yk_status yk_weights_append_device_tensor(struct yk_safetensors_writer *writer,
                                          const struct yk_device_context *context,
                                          const void *memory, uint64_t bytes) YK_MUST_USE;

/* Allocates an array with space for the numbers of the largest parameter. The caller frees it with
 * free(). */
yk_status yk_weights_allocate_largest_tensor(const struct yk_net *net, float **out) YK_MUST_USE;

#endif
