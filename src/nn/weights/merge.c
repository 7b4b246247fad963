#include "nn/weights/merge.h"

#include <stdlib.h>

/* The part of which site has this weight; false where none has it and an adapter. */
static bool find_projection(const struct yk_net_layer *layer, int32_t parameter,
                      const struct yk_projection **out, int32_t *part)
{
    for (int32_t s = 0; s < layer->projection_count; s++) {
        const struct yk_projection *projection = &layer->projections[s];
        if (projection->a >= 0 && projection->weight >= 0 && parameter >= projection->weight &&
            parameter < projection->weight + projection->parts) {
            *out = projection;
            *part = parameter - projection->weight;
            return true;
        }
    }
    return false;
}

/* weights (rows, columns) += scale · left (rows, rank) · right (rank, columns); `left` is read with
 * its own strides, since one of the halves lies the other way round. */
static void add_product(float *weights, int64_t rows, int64_t columns, int64_t rank, float scale,
                        const float *left, int64_t left_row, int64_t left_column,
                        const float *right)
{
    for (int64_t i = 0; i < rows; i++) {
        float *row = weights + i * columns;
        for (int64_t k = 0; k < rank; k++) {
            const float factor = scale * left[i * left_row + k * left_column];
            const float *other = right + k * columns;
            for (int64_t j = 0; j < columns; j++) {
                row[j] += factor * other[j];
            }
        }
    }
}

static void transpose(const float *from, int64_t rows, int64_t columns, float *to)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            to[j * rows + i] = from[i * columns + j];
        }
    }
}

static yk_status read_halves(const struct yk_store *store, int32_t layer,
                             const struct yk_parameter *a, const struct yk_parameter *b,
                             float *a_numbers, float *b_numbers)
{
    YK_TRY(yk_store_read_values(store, layer, a, a_numbers));
    return yk_store_read_values(store, layer, b, b_numbers);
}

yk_status yk_weights_merge(const struct yk_store *store, int32_t layer, int32_t parameter,
                           float *numbers)
{
    const struct yk_net *net = store->net;
    const struct yk_net_layer *described = &net->layers[layer];
    const struct yk_projection *projection = NULL;
    int32_t part = 0;
    if (!find_projection(described, parameter, &projection, &part)) {
        return YK_OK;
    }
    const struct yk_parameter *a = &described->parameters[projection->a + part]; /* (rank, in) */
    const struct yk_parameter *b = &described->parameters[projection->b + part]; /* (out, rank) */
    const int64_t rank = a->shape[0];
    const int64_t in = a->shape[1];
    const int64_t out = b->shape[0];
    const double alpha = net->options.lora_alpha;
    const float scale = alpha > 0 ? (float)(alpha / (double)rank) : 1.0F;
    float *halves = malloc((size_t)(a->count + 2 * b->count) * sizeof *halves);
    if (!halves) {
        return yk_fail_out_of_memory();
    }
    float *b_numbers = halves + a->count;
    const yk_status status = read_halves(store, layer, a, b, halves, b_numbers);
    if (status == YK_OK && projection->transposed) {
        float *turned = b_numbers + b->count; /* (rank, out) */
        transpose(b_numbers, out, rank, turned);
        add_product(numbers, in, out, rank, scale, halves, 1, in, turned); /* (in, out) */
    } else if (status == YK_OK) {
        add_product(numbers, out, in, rank, scale, b_numbers, rank, 1, halves); /* (out, in) */
    }
    free(halves);
    return status;
}
