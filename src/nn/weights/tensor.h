/* Weights tensor: parameters as tensors of files: which type each is saved as, and numbers of
 * any floating type read as fp32. */
#ifndef YK_NN_WEIGHTS_TENSOR_H
#define YK_NN_WEIGHTS_TENSOR_H

#include "base/status.h"
#include "nn/store/store.h"
#include "tensors/safetensors_writer.h"
#include "tensors/tensor_set.h"

#include <stdint.h>

/* What a parameter is written as: as it is stored, but NF4 as what its codes stand for, in the
 * precision of the training. */
enum yk_precision yk_weights_tensor_precision(const struct yk_net *net,
                                              const struct yk_parameter *parameter);

/* Fails unless the tensor holds floating-point numbers in the parameter's shape. */
yk_status yk_weights_check_tensor(const struct yk_tensor_location *place,
                                  const struct yk_parameter *parameter) YK_MUST_USE;

/* Numbers `first` to `first` + `count` − 1 of a tensor that was checked. */
yk_status yk_weights_read_tensor(const struct yk_tensor_location *place, int64_t first,
                                 int64_t count, float *out) YK_MUST_USE;

yk_status yk_weights_declare_tensor(struct yk_safetensors_writer *writer, const struct yk_net *net,
                                    const struct yk_parameter *parameter) YK_MUST_USE;

/* Adds numbers to a file, rounded to `precision`. */
yk_status yk_weights_add_tensor(struct yk_safetensors_writer *writer, const float *numbers,
                                int64_t count, enum yk_precision precision) YK_MUST_USE;

/* Adds bytes of the device's memory to a file. */
yk_status yk_weights_add_device_tensor(struct yk_safetensors_writer *writer,
                                       const struct yk_engine *engine, const void *memory,
                                       uint64_t bytes) YK_MUST_USE;

/* For the numbers of the largest parameter; freed by free(). */
yk_status yk_weights_allocate_tensor(const struct yk_net *net, float **out) YK_MUST_USE;

#endif
