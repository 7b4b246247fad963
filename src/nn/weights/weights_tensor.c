#include "nn/weights/weights_tensor.h"

#include "backend/cpu/math/convert.h"
#include "base/text.h"
#include "model/architecture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 12,      /* numbers converted at a time, on the stack */
    CHUNK_BYTES = 1 << 22 /* copied from the device at a time */
};

static enum yk_tensor_dtype dtype_of(enum yk_precision precision)
{
    switch (precision) {
    case YK_PRECISION_FP16:
        return YK_TENSOR_F16;
    case YK_PRECISION_BF16:
        return YK_TENSOR_BF16;
    default:
        return YK_TENSOR_F32;
    }
}

enum yk_precision yk_weights_saved_tensor_precision(const struct yk_net *net,
                                                    const struct yk_parameter *parameter)
{
    return parameter->format == YK_PARAMETER_FP32 ? YK_PRECISION_FP32 : net->workload.precision;
}

const char *yk_weights_saved_tensor_name(const struct yk_net *net,
                                         const struct yk_parameter *parameter,
                                         char buffer[YK_WEIGHTS_NAME_SIZE])
{
    const struct yk_architecture *row = net->config->architecture;
    const struct yk_architecture *saved = yk_architecture_get_saved_family(row);
    const size_t length = strlen(row->base);
    if (row->file_names && !parameter->adapter) {
        return yk_architecture_file_name(row, parameter->name, buffer, YK_WEIGHTS_NAME_SIZE);
    }
    if (saved == row || strncmp(parameter->name, row->base, length) != 0 ||
        parameter->name[length] != '.') {
        return parameter->name;
    }
    snprintf(buffer, YK_WEIGHTS_NAME_SIZE, "%s%s", saved->base, parameter->name + length);
    return buffer;
}

static void add_shape(struct yk_text *text, int32_t rank, const int64_t *shape)
{
    yk_text_add(text, "(");
    for (int32_t i = 0; i < rank; i++) {
        yk_text_addf(text, i > 0 ? ", %" PRId64 : "%" PRId64, shape[i]);
    }
    yk_text_add(text, ")");
}

static yk_status fail_shape(const struct yk_tensor_location *place,
                            const struct yk_parameter *parameter)
{
    struct yk_text has = {0};
    struct yk_text needs = {0};
    add_shape(&has, place->entry->rank, place->entry->shape);
    add_shape(&needs, parameter->rank, parameter->shape);
    const yk_status status =
        yk_fail(YK_ERROR_INPUT, "%s: the shape of \"%s\" is %s, but the model's is %s",
                place->file->path, place->entry->name, yk_text_chars(&has), yk_text_chars(&needs));
    yk_text_free(&has);
    yk_text_free(&needs);
    return status;
}

bool yk_weights_tensor_has_shape(const struct yk_tensor_location *place,
                                 const struct yk_parameter *parameter)
{
    const struct yk_tensor_file_entry *entry = place->entry;
    bool same = entry->rank == parameter->rank;
    for (int32_t i = 0; same && i < parameter->rank; i++) {
        same = entry->shape[i] == parameter->shape[i];
    }
    return same;
}

yk_status yk_weights_check_tensor_shape(const struct yk_tensor_location *place,
                                        const struct yk_parameter *parameter)
{
    const struct yk_tensor_file_entry *entry = place->entry;
    if (!yk_weights_tensor_has_shape(place, parameter)) {
        return fail_shape(place, parameter);
    }
    if (entry->type > YK_TENSOR_BF16) {
        return yk_fail(YK_ERROR_INPUT,
                       "%s: \"%s\" is of type %s; weights are read as F64, F32, F16 or BF16",
                       place->file->path, entry->name, yk_tensor_dtype_name(entry->type));
    }
    return YK_OK;
}

static void convert(enum yk_tensor_dtype type, const void *from, int64_t count, float *out)
{
    const double *doubles = from;
    switch (type) {
    case YK_TENSOR_F64:
        for (int64_t i = 0; i < count; i++) {
            out[i] = (float)doubles[i];
        }
        break;
    case YK_TENSOR_F16:
        yk_cpu_convert_array_to_fp32(YK_PRECISION_FP16, from, 0, count, out);
        break;
    default:
        yk_cpu_convert_array_to_fp32(YK_PRECISION_BF16, from, 0, count, out);
        break;
    }
}

yk_status yk_weights_read_tensor_range(const struct yk_tensor_location *place, int64_t first,
                                       int64_t count, float *out)
{
    const struct yk_tensor_file_entry *entry = place->entry;
    const uint64_t size = yk_tensor_dtype_element_bytes(entry->type);
    if (entry->type == YK_TENSOR_F32) {
        return yk_safetensors_read_tensor_range(place->file, entry, (uint64_t)first * size,
                                                (uint64_t)count * size, out);
    }
    double chunk[CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t length = count - done < CHUNK ? count - done : CHUNK;
        YK_TRY(yk_safetensors_read_tensor_range(place->file, entry, (uint64_t)(first + done) * size,
                                                (uint64_t)length * size, chunk));
        convert(entry->type, chunk, length, out + done);
    }
    return YK_OK;
}

yk_status yk_weights_write_tensor_file(const char *path,
                                       yk_status (*walk)(const void *user,
                                                         struct yk_safetensors_writer *writer,
                                                         bool declares),
                                       const void *user, struct yk_safetensors_size_and_hash *out)
{
    struct yk_safetensors_writer *writer = NULL;
    YK_TRY(yk_safetensors_writer_create(path, &writer));
    yk_status status = walk(user, writer, true);
    YK_IF_OK(yk_safetensors_writer_write_header(writer));
    YK_IF_OK(walk(user, writer, false));
    YK_IF_OK(yk_safetensors_writer_finish(writer, out));
    yk_safetensors_writer_destroy(writer);
    return status;
}

yk_status yk_weights_declare_named_tensor(struct yk_safetensors_writer *writer,
                                          const struct yk_net *net,
                                          const struct yk_parameter *parameter, const char *name)
{
    return yk_safetensors_writer_declare_tensor(
        writer, name, dtype_of(yk_weights_saved_tensor_precision(net, parameter)), parameter->rank,
        parameter->shape);
}

yk_status yk_weights_declare_tensor(struct yk_safetensors_writer *writer, const struct yk_net *net,
                                    const struct yk_parameter *parameter)
{
    char name[YK_WEIGHTS_NAME_SIZE];
    return yk_weights_declare_named_tensor(writer, net, parameter,
                                           yk_weights_saved_tensor_name(net, parameter, name));
}

yk_status yk_weights_append_tensor_numbers(struct yk_safetensors_writer *writer,
                                           const float *numbers, int64_t count,
                                           enum yk_precision precision)
{
    if (dtype_of(precision) == YK_TENSOR_F32) {
        return yk_safetensors_writer_append_bytes(writer, numbers, (size_t)count * sizeof *numbers);
    }
    uint16_t chunk[CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK) {
        const int64_t length = count - done < CHUNK ? count - done : CHUNK;
        yk_cpu_convert_array_from_fp32(precision, numbers + done, length, chunk, 0);
        YK_TRY(yk_safetensors_writer_append_bytes(writer, chunk, (size_t)length * sizeof *chunk));
    }
    return YK_OK;
}

yk_status yk_weights_append_device_tensor(struct yk_safetensors_writer *writer,
                                          const struct yk_device_context *context,
                                          const void *memory, uint64_t bytes)
{
    yk_status status = YK_OK;
    char *chunk = malloc(bytes < CHUNK_BYTES ? (size_t)bytes + 1 : CHUNK_BYTES);
    YK_TRY_ALLOCATED(chunk);
    for (uint64_t done = 0; status == YK_OK && done < bytes; done += CHUNK_BYTES) {
        const size_t length = (size_t)(bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES);
        status =
            yk_device_context_copy_and_wait(context, chunk, (const char *)memory + done, length);
        YK_IF_OK(yk_safetensors_writer_append_bytes(writer, chunk, length));
    }
    free(chunk);
    return status;
}

yk_status yk_weights_allocate_largest_tensor(const struct yk_net *net, float **out)
{
    int64_t max = 1;
    for (struct yk_net_parameter_cursor at = {0}; yk_net_next_parameter(net, &at);) {
        max = at.parameter->count > max ? at.parameter->count : max;
    }
    *out = malloc((size_t)max * sizeof **out);
    return *out ? YK_OK : yk_fail_out_of_memory();
}
