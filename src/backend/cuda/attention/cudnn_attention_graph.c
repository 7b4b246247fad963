/*
 * Shapes are (B, heads, rows, columns). Keys are given transposed, (B, kv_heads, D, S), and so are
 * values in the backward pass, by their strides. Products repeat heads of keys for those of
 * queries. The engines recognise these graphs by their ops and the order of them; any other is
 * refused. Scores, powers and masks are virtual, never stored.
 */
#ifndef YK_NO_CUDNN
#include "backend/cuda/attention/cudnn_attention_graph.h"

enum {
    ROWS = 2, /* axes */
    COLUMNS = 3,
};

static cudnnDataType_t stored_type(const struct yk_cudnn_attention_shape *shape)
{
    return shape->type == YK_PRECISION_FP16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
}

/* Heads side by side in rows: (B, heads, count, D), or turned, (B, heads, D, count). */
static int rows(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                int64_t count, int64_t heads, int64_t stride, bool transposed)
{
    struct yk_cudnn_tensor tensor = {
        .sizes = {shape->batch, heads, count, shape->head_size},
        .strides = {count * stride, shape->head_size, stride, 1},
        .type = stored_type(shape),
        .place = YK_CUDNN_IN_DEVICE_MEMORY,
    };
    if (transposed) {
        tensor.sizes[ROWS] = shape->head_size;
        tensor.sizes[COLUMNS] = count;
        tensor.strides[ROWS] = 1;
        tensor.strides[COLUMNS] = stride;
    }
    return yk_cudnn_builder_tensor(builder, &tensor);
}

static int query_rows(struct yk_cudnn_builder *builder,
                      const struct yk_cudnn_attention_shape *shape, int64_t stride)
{
    return rows(builder, shape, shape->queries, shape->heads, stride, false);
}

static int key_rows(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                    int64_t stride, bool transposed)
{
    return rows(builder, shape, shape->keys, shape->kv_heads, stride, transposed);
}

/* (B, heads, T, 1) of fp32. */
static int per_query(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                     enum yk_cudnn_tensor_storage place)
{
    const struct yk_cudnn_tensor tensor = {
        .sizes = {shape->batch, shape->heads, shape->queries, 1},
        .strides = {shape->heads * shape->queries, shape->queries, 1, 1},
        .type = CUDNN_DATA_FLOAT,
        .place = place,
    };
    return yk_cudnn_builder_tensor(builder, &tensor);
}

static int per_sample(struct yk_cudnn_builder *builder,
                      const struct yk_cudnn_attention_shape *shape)
{
    const struct yk_cudnn_tensor tensor = {
        .sizes = {shape->batch, 1, 1, 1},
        .strides = {1, 1, 1, 1},
        .type = CUDNN_DATA_INT32,
        .place = YK_CUDNN_IN_DEVICE_MEMORY,
    };
    return yk_cudnn_builder_tensor(builder, &tensor);
}

static int value(struct yk_cudnn_builder *builder)
{
    const struct yk_cudnn_tensor tensor = {
        .sizes = {1, 1, 1, 1},
        .strides = {1, 1, 1, 1},
        .type = CUDNN_DATA_FLOAT,
        .place = YK_CUDNN_BY_VALUE,
    };
    return yk_cudnn_builder_tensor(builder, &tensor);
}

/* A new (B, heads, T, S). */
static int scores(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                  cudnnDataType_t type)
{
    const int64_t sizes[YK_CUDNN_TENSOR_RANK] = {shape->batch, shape->heads, shape->queries,
                                                 shape->keys};
    return yk_cudnn_builder_virtual_tensor(builder, sizes, type);
}

/* What both passes take: q, k, v, the scale and what the masks need. */
static void add_inputs(struct yk_cudnn_builder *builder,
                       const struct yk_cudnn_attention_shape *shape,
                       struct yk_cudnn_attention_tensor_ids *slots)
{
    int *ids = slots->ids;
    *slots = (struct yk_cudnn_attention_tensor_ids){{YK_CUDNN_NO_TENSOR}};
    ids[YK_CUDNN_Q] = query_rows(builder, shape, shape->q_stride);
    ids[YK_CUDNN_K] = key_rows(builder, shape, shape->k_stride, true);
    ids[YK_CUDNN_V] = key_rows(builder, shape, shape->v_stride, shape->backward != 0);
    ids[YK_CUDNN_OUT] = query_rows(builder, shape, shape->out_stride);
    ids[YK_CUDNN_SUMS] =
        per_query(builder, shape, shape->sums ? YK_CUDNN_IN_DEVICE_MEMORY : YK_CUDNN_VIRTUAL);
    ids[YK_CUDNN_SCALE] = value(builder);
    if (shape->lengths) {
        ids[YK_CUDNN_QUERY_COUNTS] = per_sample(builder, shape);
        ids[YK_CUDNN_KEY_COUNTS] = per_sample(builder, shape);
        ids[YK_CUDNN_MASK_LENGTHS] = value(builder);
    }
    if (shape->causal) {
        ids[YK_CUDNN_MASK_CAUSAL] = value(builder);
    }
}

/* scale · q kᵀ, with −∞ beyond the lengths. */
static int score(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                 const struct yk_cudnn_attention_tensor_ids *slots)
{
    const int *ids = slots->ids;
    const struct yk_cudnn_matmul_lengths padding = {
        .rows = ids[YK_CUDNN_QUERY_COUNTS],
        .columns = ids[YK_CUDNN_KEY_COUNTS],
    };
    const int product = scores(builder, shape, CUDNN_DATA_FLOAT);
    yk_cudnn_builder_matmul(builder, ids[YK_CUDNN_Q], ids[YK_CUDNN_K], padding, product);
    const int scaled =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_MUL, product, ids[YK_CUDNN_SCALE]);
    if (!shape->lengths) {
        return scaled;
    }
    const int row = yk_cudnn_builder_index(builder, scaled, ROWS);
    const int column = yk_cudnn_builder_index(builder, scaled, COLUMNS);
    const int in_rows =
        yk_cudnn_builder_compare(builder, CUDNN_POINTWISE_CMP_LT, row, ids[YK_CUDNN_QUERY_COUNTS]);
    const int in_columns =
        yk_cudnn_builder_compare(builder, CUDNN_POINTWISE_CMP_LT, column, ids[YK_CUDNN_KEY_COUNTS]);
    const int in =
        yk_cudnn_builder_compare(builder, CUDNN_POINTWISE_LOGICAL_AND, in_rows, in_columns);
    return yk_cudnn_builder_select(builder, scaled, ids[YK_CUDNN_MASK_LENGTHS], in);
}

/* Of the keys up to its own, where T = S. */
static int mask_future(struct yk_cudnn_builder *builder,
                       const struct yk_cudnn_attention_shape *shape,
                       const struct yk_cudnn_attention_tensor_ids *slots, int x)
{
    if (!shape->causal) {
        return x;
    }
    const int row = yk_cudnn_builder_index(builder, x, ROWS);
    const int column = yk_cudnn_builder_index(builder, x, COLUMNS);
    const int visible = yk_cudnn_builder_compare(builder, CUDNN_POINTWISE_CMP_GE, row, column);
    return yk_cudnn_builder_select(builder, x, slots->ids[YK_CUDNN_MASK_CAUSAL], visible);
}

void yk_cudnn_attention_graph_forward(struct yk_cudnn_builder *builder,
                                      const struct yk_cudnn_attention_shape *shape,
                                      struct yk_cudnn_attention_tensor_ids *out)
{
    add_inputs(builder, shape, out);
    const int masked = mask_future(builder, shape, out, score(builder, shape, out));
    const int highest = per_query(builder, shape, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_reduce(builder, CUDNN_REDUCE_TENSOR_MAX, masked, highest);
    const int lowered =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_SUB, masked, highest);
    const int power =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_EXP, lowered, YK_CUDNN_NO_TENSOR);
    const int sum = per_query(builder, shape, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_reduce(builder, CUDNN_REDUCE_TENSOR_ADD, power, sum);
    const int log =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_LOG, sum, YK_CUDNN_NO_TENSOR);
    yk_cudnn_builder_pointwise(builder, CUDNN_POINTWISE_ADD, highest, log, out->ids[YK_CUDNN_SUMS]);
    const int chance = scores(builder, shape, stored_type(shape));
    yk_cudnn_builder_pointwise(builder, CUDNN_POINTWISE_DIV, power, sum, chance);
    const struct yk_cudnn_matmul_lengths padding = {
        .rows = out->ids[YK_CUDNN_QUERY_COUNTS],
        .inner = out->ids[YK_CUDNN_KEY_COUNTS],
    };
    yk_cudnn_builder_matmul(builder, chance, out->ids[YK_CUDNN_V], padding, out->ids[YK_CUDNN_OUT]);
}

/* ---- backward ---- */

/* The same numbers with rows and columns changed places, of the stored type. */
static int transpose(struct yk_cudnn_builder *builder, const struct yk_cudnn_attention_shape *shape,
                     int x)
{
    struct yk_cudnn_tensor tensor = builder->tensors[x];
    tensor.sizes[ROWS] = builder->tensors[x].sizes[COLUMNS];
    tensor.sizes[COLUMNS] = builder->tensors[x].sizes[ROWS];
    tensor.strides[ROWS] = builder->tensors[x].strides[COLUMNS];
    tensor.strides[COLUMNS] = builder->tensors[x].strides[ROWS];
    tensor.type = stored_type(shape);
    tensor.place = YK_CUDNN_VIRTUAL;
    const int y = yk_cudnn_builder_tensor(builder, &tensor);
    yk_cudnn_builder_reshape(builder, x, y);
    return y;
}

/* gradient (B, kv_heads, S, D) = transposed (B, heads, S, T) · b (B, heads, T, D), summed over the
 * heads of queries that share one of keys. */
static void add_key_gradient(struct yk_cudnn_builder *builder,
                             const struct yk_cudnn_attention_shape *shape,
                             const struct yk_cudnn_attention_tensor_ids *slots, int transposed,
                             int b, int gradient)
{
    const struct yk_cudnn_matmul_lengths padding = {
        .rows = slots->ids[YK_CUDNN_KEY_COUNTS],
        .inner = slots->ids[YK_CUDNN_QUERY_COUNTS],
    };
    if (shape->heads == shape->kv_heads) {
        yk_cudnn_builder_matmul(builder, transposed, b, padding, gradient);
        return;
    }
    const int64_t sizes[YK_CUDNN_TENSOR_RANK] = {shape->batch, shape->heads, shape->keys,
                                                 shape->head_size};
    const int of_every_head = yk_cudnn_builder_virtual_tensor(builder, sizes, stored_type(shape));
    yk_cudnn_builder_matmul(builder, transposed, b, padding, of_every_head);
    yk_cudnn_builder_reduce(builder, CUDNN_REDUCE_TENSOR_ADD, of_every_head, gradient);
}

/* dq (B, heads, T, D) = d_score · k, straight to its place or by way of fp32. */
static void add_query_gradient(struct yk_cudnn_builder *builder,
                               const struct yk_cudnn_attention_shape *shape,
                               struct yk_cudnn_attention_tensor_ids *slots, int d_score)
{
    int *ids = slots->ids;
    const struct yk_cudnn_matmul_lengths padding = {
        .rows = ids[YK_CUDNN_QUERY_COUNTS],
        .inner = ids[YK_CUDNN_KEY_COUNTS],
    };
    const int keys = transpose(builder, shape, ids[YK_CUDNN_K]);
    if (shape->repeatable) {
        yk_cudnn_builder_matmul(builder, d_score, keys, padding, ids[YK_CUDNN_DQ]);
        return;
    }
    const int64_t row = shape->head_size;
    const int64_t head = shape->queries * row;
    const struct yk_cudnn_tensor sums = {
        .sizes = {shape->batch, shape->heads, shape->queries, shape->head_size},
        .strides = {shape->heads * head, head, row, 1},
        .type = CUDNN_DATA_FLOAT,
        .place = YK_CUDNN_IN_DEVICE_MEMORY,
    };
    ids[YK_CUDNN_DQ_SUMS] = yk_cudnn_builder_tensor(builder, &sums);
    yk_cudnn_builder_matmul(builder, d_score, keys, padding, ids[YK_CUDNN_DQ_SUMS]);
    yk_cudnn_builder_pointwise(builder, CUDNN_POINTWISE_IDENTITY, ids[YK_CUDNN_DQ_SUMS],
                               YK_CUDNN_NO_TENSOR, ids[YK_CUDNN_DQ]);
}

/* delta = the sum of out · d_out over a row: what the softmax takes off every gradient. */
static void add_delta(struct yk_cudnn_builder *builder,
                      const struct yk_cudnn_attention_shape *shape, const int *ids)
{
    const int product = yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_MUL,
                                                       ids[YK_CUDNN_D_OUT], ids[YK_CUDNN_OUT]);
    const int sum = per_query(builder, shape, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_reduce(builder, CUDNN_REDUCE_TENSOR_ADD, product, sum);
    yk_cudnn_builder_pointwise(builder, CUDNN_POINTWISE_MUL, sum, ids[YK_CUDNN_ONE],
                               ids[YK_CUDNN_DELTA]);
}

/*
 * With P = exp(score − sums) and dS = scale · P ∘ (d_out vᵀ − delta): dv = Pᵀ d_out, dk = dSᵀ q,
 * dq = dS k.
 *
 * A block of keys knows only its part of dq. Where bits must be the same every time, dS is stored,
 * 2 bytes for each of its (B, heads, T, S) in the workspace, and multiplied by k afterwards: more
 * memory, and time to write and read it. Otherwise blocks add to sums of fp32 as they come.
 */
void yk_cudnn_attention_graph_backward(struct yk_cudnn_builder *builder,
                                       const struct yk_cudnn_attention_shape *shape,
                                       struct yk_cudnn_attention_tensor_ids *out)
{
    int *ids = out->ids;
    add_inputs(builder, shape, out);
    ids[YK_CUDNN_D_OUT] = query_rows(builder, shape, shape->out_stride);
    ids[YK_CUDNN_DQ] = query_rows(builder, shape, shape->dq_stride);
    ids[YK_CUDNN_DK] = key_rows(builder, shape, shape->dk_stride, false);
    ids[YK_CUDNN_DV] = key_rows(builder, shape, shape->dv_stride, false);
    ids[YK_CUDNN_DELTA] = per_query(builder, shape, YK_CUDNN_IN_DEVICE_MEMORY);
    ids[YK_CUDNN_ONE] = value(builder);
    add_delta(builder, shape, ids);

    const int lowered = yk_cudnn_builder_pointwise_new(
        builder, CUDNN_POINTWISE_SUB, score(builder, shape, out), ids[YK_CUDNN_SUMS]);
    const int chance = yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_EXP,
                                                      mask_future(builder, shape, out, lowered),
                                                      YK_CUDNN_NO_TENSOR);
    add_key_gradient(builder, shape, out, transpose(builder, shape, chance), ids[YK_CUDNN_D_OUT],
                     ids[YK_CUDNN_DV]);

    const struct yk_cudnn_matmul_lengths padding = {
        .rows = ids[YK_CUDNN_QUERY_COUNTS],
        .columns = ids[YK_CUDNN_KEY_COUNTS],
    };
    const int product = scores(builder, shape, CUDNN_DATA_FLOAT);
    yk_cudnn_builder_matmul(builder, ids[YK_CUDNN_D_OUT], ids[YK_CUDNN_V], padding, product);
    const int less =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_SUB, product, ids[YK_CUDNN_DELTA]);
    const int weighed = yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_MUL, less, chance);
    const int d_score =
        yk_cudnn_builder_pointwise_new(builder, CUDNN_POINTWISE_MUL, weighed, ids[YK_CUDNN_SCALE]);
    add_key_gradient(builder, shape, out, transpose(builder, shape, d_score), ids[YK_CUDNN_Q],
                     ids[YK_CUDNN_DK]);

    add_query_gradient(builder, shape, out, d_score);
}

#endif
