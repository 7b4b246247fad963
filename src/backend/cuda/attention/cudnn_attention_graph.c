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

/* A graph under construction. */
struct graph {
    struct yk_cudnn_builder *builder;
    const struct yk_cudnn_attention_shape *shape;
    int *ids;     /* by enum yk_cudnn_attention_tensor */
    int uncapped; /* with softcap: scores / softcap, set by score() */
};

static cudnnDataType_t stored_type(const struct graph *graph)
{
    return graph->shape->type == YK_PRECISION_FP16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
}

static void swap_rows_and_columns(struct yk_cudnn_tensor *tensor)
{
    const struct yk_cudnn_tensor before = *tensor;
    tensor->sizes[ROWS] = before.sizes[COLUMNS];
    tensor->sizes[COLUMNS] = before.sizes[ROWS];
    tensor->strides[ROWS] = before.strides[COLUMNS];
    tensor->strides[COLUMNS] = before.strides[ROWS];
}

/* Rows with all heads: (B, heads, count, D), or turned, (B, heads, D, count). */
static int rows(const struct graph *graph, int64_t count, int64_t heads, int64_t stride,
                int64_t head_stride, bool transposed)
{
    struct yk_cudnn_tensor tensor = {
        .sizes = {graph->shape->batch, heads, count, graph->shape->head_size},
        .strides = {count * stride, head_stride, stride, 1},
        .type = stored_type(graph),
        .place = YK_CUDNN_IN_DEVICE_MEMORY,
    };
    if (transposed) {
        swap_rows_and_columns(&tensor);
    }
    return yk_cudnn_builder_add_tensor(graph->builder, &tensor);
}

static int query_rows(const struct graph *graph, int64_t stride)
{
    return rows(graph, graph->shape->queries, graph->shape->heads, stride,
                graph->shape->head_stride, false);
}

/* out or d_out */
static int out_rows(const struct graph *graph)
{
    return rows(graph, graph->shape->queries, graph->shape->heads, graph->shape->out_stride,
                graph->shape->head_size, false);
}

static int key_rows(const struct graph *graph, int64_t stride, bool transposed)
{
    return rows(graph, graph->shape->keys, graph->shape->kv_heads, stride,
                graph->shape->head_stride, transposed);
}

/* (B, heads, T, 1) of fp32. */
static int per_query(const struct graph *graph, enum yk_cudnn_tensor_storage place)
{
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    const struct yk_cudnn_tensor tensor = {
        .sizes = {shape->batch, shape->heads, shape->queries, 1},
        .strides = {shape->heads * shape->queries, shape->queries, 1, 1},
        .type = CUDNN_DATA_FLOAT,
        .place = place,
    };
    return yk_cudnn_builder_add_tensor(graph->builder, &tensor);
}

/* (count, 1, 1, 1) */
static int list(const struct graph *graph, int64_t count, cudnnDataType_t type,
                enum yk_cudnn_tensor_storage place)
{
    const struct yk_cudnn_tensor tensor = {
        .sizes = {count, 1, 1, 1}, .strides = {1, 1, 1, 1}, .type = type, .place = place};
    return yk_cudnn_builder_add_tensor(graph->builder, &tensor);
}

static int per_sample(const struct graph *graph)
{
    return list(graph, graph->shape->batch, CUDNN_DATA_INT32, YK_CUDNN_IN_DEVICE_MEMORY);
}

static int value(const struct graph *graph)
{
    return list(graph, 1, CUDNN_DATA_FLOAT, YK_CUDNN_BY_VALUE);
}

/* A new (B, heads, T, S). */
static int scores(const struct graph *graph, cudnnDataType_t type)
{
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    const int64_t sizes[YK_CUDNN_TENSOR_RANK] = {shape->batch, shape->heads, shape->queries,
                                                 shape->keys};
    return yk_cudnn_builder_add_virtual_tensor(graph->builder, sizes, type);
}

/* A new tensor, mode(x, b); `b` may be YK_CUDNN_NO_TENSOR. */
static int apply(const struct graph *graph, cudnnPointwiseMode_t mode, int x, int b)
{
    return yk_cudnn_builder_add_pointwise_new_output(graph->builder, mode, x, b);
}

/* What both passes take: q, k, v, the scale and what the masks need. */
static void add_inputs(const struct graph *graph)
{
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    int *ids = graph->ids;
    ids[YK_CUDNN_Q] = query_rows(graph, shape->q_stride);
    ids[YK_CUDNN_K] = key_rows(graph, shape->k_stride, true);
    ids[YK_CUDNN_V] = key_rows(graph, shape->v_stride, shape->backward != 0);
    ids[YK_CUDNN_OUT] = out_rows(graph);
    ids[YK_CUDNN_LOG_SUM_EXP] =
        per_query(graph, shape->sums ? YK_CUDNN_IN_DEVICE_MEMORY : YK_CUDNN_VIRTUAL);
    ids[YK_CUDNN_SCALE] = value(graph);
    if (shape->capped) {
        ids[YK_CUDNN_SOFTCAP] = value(graph);
    }
    if (shape->lengths) {
        ids[YK_CUDNN_QUERY_COUNTS] = per_sample(graph);
        ids[YK_CUDNN_KEY_COUNTS] = per_sample(graph);
        ids[YK_CUDNN_MASK_LENGTHS] = value(graph);
    }
    if (shape->causal) {
        ids[YK_CUDNN_MASK_CAUSAL] = value(graph);
    }
}

/* The valid lengths of a product (T, D) · (D, S), and of one (T, S) · (S, D). */
static struct yk_cudnn_matmul_length_tensors lengths_of_scores(const struct graph *graph)
{
    return (struct yk_cudnn_matmul_length_tensors){.rows = graph->ids[YK_CUDNN_QUERY_COUNTS],
                                                   .columns = graph->ids[YK_CUDNN_KEY_COUNTS]};
}

static struct yk_cudnn_matmul_length_tensors lengths_of_queries(const struct graph *graph)
{
    return (struct yk_cudnn_matmul_length_tensors){.rows = graph->ids[YK_CUDNN_QUERY_COUNTS],
                                                   .inner = graph->ids[YK_CUDNN_KEY_COUNTS]};
}

/* softcap · tanh(x / softcap) */
static int cap(struct graph *graph, int x)
{
    if (!graph->shape->capped) {
        return x;
    }
    const int softcap = graph->ids[YK_CUDNN_SOFTCAP];
    graph->uncapped = apply(graph, CUDNN_POINTWISE_DIV, x, softcap);
    const int tanh = apply(graph, CUDNN_POINTWISE_TANH_FWD, graph->uncapped, YK_CUDNN_NO_TENSOR);
    return apply(graph, CUDNN_POINTWISE_MUL, tanh, softcap);
}

/* The gradient of x from that of cap(x). Engines expect the factors softcap and 1 / softcap. */
static int cap_backward(const struct graph *graph, int gradient)
{
    if (!graph->shape->capped) {
        return gradient;
    }
    const int softcap = graph->ids[YK_CUDNN_SOFTCAP];
    const int d_tanh = apply(graph, CUDNN_POINTWISE_MUL, gradient, softcap);
    const int d_uncapped = yk_cudnn_builder_add_pointwise_backward(
        graph->builder, CUDNN_POINTWISE_TANH_BWD, d_tanh, graph->uncapped);
    return apply(graph, CUDNN_POINTWISE_DIV, d_uncapped, softcap);
}

/* scale · q kᵀ, capped, with −∞ beyond the lengths. */
static int score(struct graph *graph)
{
    struct yk_cudnn_builder *builder = graph->builder;
    const int *ids = graph->ids;
    const int product = scores(graph, CUDNN_DATA_FLOAT);
    yk_cudnn_builder_add_matmul(builder, ids[YK_CUDNN_Q], ids[YK_CUDNN_K], lengths_of_scores(graph),
                                product);
    const int scaled = cap(graph, apply(graph, CUDNN_POINTWISE_MUL, product, ids[YK_CUDNN_SCALE]));
    if (!graph->shape->lengths) {
        return scaled;
    }
    const int row = yk_cudnn_builder_add_axis_index(builder, scaled, ROWS);
    const int column = yk_cudnn_builder_add_axis_index(builder, scaled, COLUMNS);
    const int in_rows = yk_cudnn_builder_add_compare(builder, CUDNN_POINTWISE_CMP_LT, row,
                                                     ids[YK_CUDNN_QUERY_COUNTS]);
    const int in_columns = yk_cudnn_builder_add_compare(builder, CUDNN_POINTWISE_CMP_LT, column,
                                                        ids[YK_CUDNN_KEY_COUNTS]);
    const int in =
        yk_cudnn_builder_add_compare(builder, CUDNN_POINTWISE_LOGICAL_AND, in_rows, in_columns);
    return yk_cudnn_builder_add_select(builder, scaled, ids[YK_CUDNN_MASK_LENGTHS], in);
}

/* Of the keys up to its own, where T = S. */
static int mask_future(const struct graph *graph, int x)
{
    struct yk_cudnn_builder *builder = graph->builder;
    if (!graph->shape->causal) {
        return x;
    }
    const int row = yk_cudnn_builder_add_axis_index(builder, x, ROWS);
    const int column = yk_cudnn_builder_add_axis_index(builder, x, COLUMNS);
    const int visible = yk_cudnn_builder_add_compare(builder, CUDNN_POINTWISE_CMP_GE, row, column);
    return yk_cudnn_builder_add_select(builder, x, graph->ids[YK_CUDNN_MASK_CAUSAL], visible);
}

static void build_forward(struct graph *graph)
{
    struct yk_cudnn_builder *builder = graph->builder;
    const int *ids = graph->ids;
    const int masked = mask_future(graph, score(graph));
    const int highest = per_query(graph, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_add_reduce(builder, CUDNN_REDUCE_TENSOR_MAX, masked, highest);
    const int lowered = apply(graph, CUDNN_POINTWISE_SUB, masked, highest);
    const int power = apply(graph, CUDNN_POINTWISE_EXP, lowered, YK_CUDNN_NO_TENSOR);
    const int sum = per_query(graph, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_add_reduce(builder, CUDNN_REDUCE_TENSOR_ADD, power, sum);
    const int log = apply(graph, CUDNN_POINTWISE_LOG, sum, YK_CUDNN_NO_TENSOR);
    yk_cudnn_builder_add_pointwise(builder, CUDNN_POINTWISE_ADD, highest, log,
                                   ids[YK_CUDNN_LOG_SUM_EXP]);
    const int chance = scores(graph, stored_type(graph));
    yk_cudnn_builder_add_pointwise(builder, CUDNN_POINTWISE_DIV, power, sum, chance);
    yk_cudnn_builder_add_matmul(builder, chance, ids[YK_CUDNN_V], lengths_of_queries(graph),
                                ids[YK_CUDNN_OUT]);
}

/* ---- backward ---- */

/* The same numbers with rows and columns changed places, of the stored type. */
static int transpose(const struct graph *graph, int x)
{
    struct yk_cudnn_tensor tensor = graph->builder->tensors[x];
    swap_rows_and_columns(&tensor);
    tensor.type = stored_type(graph);
    tensor.place = YK_CUDNN_VIRTUAL;
    const int y = yk_cudnn_builder_add_tensor(graph->builder, &tensor);
    yk_cudnn_builder_add_reshape(graph->builder, x, y);
    return y;
}

/* gradient (B, kv_heads, S, D) = xᵀ (B, heads, S, T) · b (B, heads, T, D), summed over the heads of
 * queries that share one of keys. */
static void add_key_gradient(const struct graph *graph, int x, int b, int gradient)
{
    struct yk_cudnn_builder *builder = graph->builder;
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    const struct yk_cudnn_matmul_length_tensors lengths = {
        .rows = graph->ids[YK_CUDNN_KEY_COUNTS],
        .inner = graph->ids[YK_CUDNN_QUERY_COUNTS],
    };
    const int transposed = transpose(graph, x);
    if (shape->heads == shape->kv_heads) {
        yk_cudnn_builder_add_matmul(builder, transposed, b, lengths, gradient);
        return;
    }
    const int64_t sizes[YK_CUDNN_TENSOR_RANK] = {shape->batch, shape->heads, shape->keys,
                                                 shape->head_size};
    const int of_every_head =
        yk_cudnn_builder_add_virtual_tensor(builder, sizes, stored_type(graph));
    yk_cudnn_builder_add_matmul(builder, transposed, b, lengths, of_every_head);
    yk_cudnn_builder_add_reduce(builder, CUDNN_REDUCE_TENSOR_ADD, of_every_head, gradient);
}

/* dq (B, heads, T, D) = d_score · k, straight to its place or by way of fp32. */
static void add_query_gradient(const struct graph *graph, int d_score)
{
    struct yk_cudnn_builder *builder = graph->builder;
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    int *ids = graph->ids;
    const struct yk_cudnn_matmul_length_tensors lengths = lengths_of_queries(graph);
    const int keys = transpose(graph, ids[YK_CUDNN_K]);
    if (shape->repeatable) {
        yk_cudnn_builder_add_matmul(builder, d_score, keys, lengths, ids[YK_CUDNN_DQ]);
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
    ids[YK_CUDNN_DQ_SUMS] = yk_cudnn_builder_add_tensor(builder, &sums);
    yk_cudnn_builder_add_matmul(builder, d_score, keys, lengths, ids[YK_CUDNN_DQ_SUMS]);
    yk_cudnn_builder_add_pointwise(builder, CUDNN_POINTWISE_IDENTITY, ids[YK_CUDNN_DQ_SUMS],
                                   YK_CUDNN_NO_TENSOR, ids[YK_CUDNN_DQ]);
}

/* delta = the sum of out · d_out over a row: what the softmax takes off every gradient. */
static void add_delta(const struct graph *graph)
{
    const int *ids = graph->ids;
    const int product = apply(graph, CUDNN_POINTWISE_MUL, ids[YK_CUDNN_D_OUT], ids[YK_CUDNN_OUT]);
    const int sum = per_query(graph, YK_CUDNN_VIRTUAL);
    yk_cudnn_builder_add_reduce(graph->builder, CUDNN_REDUCE_TENSOR_ADD, product, sum);
    yk_cudnn_builder_add_pointwise(graph->builder, CUDNN_POINTWISE_MUL, sum, ids[YK_CUDNN_ONE],
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
static void build_backward(struct graph *graph)
{
    const struct yk_cudnn_attention_shape *shape = graph->shape;
    int *ids = graph->ids;
    ids[YK_CUDNN_D_OUT] = out_rows(graph);
    ids[YK_CUDNN_DQ] = query_rows(graph, shape->dq_stride);
    ids[YK_CUDNN_DK] = key_rows(graph, shape->dk_stride, false);
    ids[YK_CUDNN_DV] = key_rows(graph, shape->dv_stride, false);
    ids[YK_CUDNN_DELTA] = per_query(graph, YK_CUDNN_IN_DEVICE_MEMORY);
    ids[YK_CUDNN_ONE] = value(graph);
    add_delta(graph);

    const int lowered = apply(graph, CUDNN_POINTWISE_SUB, score(graph), ids[YK_CUDNN_LOG_SUM_EXP]);
    const int chance =
        apply(graph, CUDNN_POINTWISE_EXP, mask_future(graph, lowered), YK_CUDNN_NO_TENSOR);
    add_key_gradient(graph, chance, ids[YK_CUDNN_D_OUT], ids[YK_CUDNN_DV]);

    const int product = scores(graph, CUDNN_DATA_FLOAT);
    yk_cudnn_builder_add_matmul(graph->builder, ids[YK_CUDNN_D_OUT], ids[YK_CUDNN_V],
                                lengths_of_scores(graph), product);
    const int less = apply(graph, CUDNN_POINTWISE_SUB, product, ids[YK_CUDNN_DELTA]);
    const int weighed = apply(graph, CUDNN_POINTWISE_MUL, less, chance);
    const int d_score =
        apply(graph, CUDNN_POINTWISE_MUL, cap_backward(graph, weighed), ids[YK_CUDNN_SCALE]);
    add_key_gradient(graph, d_score, ids[YK_CUDNN_Q], ids[YK_CUDNN_DK]);
    add_query_gradient(graph, d_score);
}

void yk_cudnn_attention_graph_build(struct yk_cudnn_builder *builder,
                                    const struct yk_cudnn_attention_shape *shape,
                                    int out[YK_CUDNN_ATTENTION_TENSOR_COUNT])
{
    struct graph graph = {builder, shape, out, YK_CUDNN_NO_TENSOR};
    for (int i = 0; i < YK_CUDNN_ATTENTION_TENSOR_COUNT; i++) {
        out[i] = YK_CUDNN_NO_TENSOR;
    }
    add_inputs(&graph);
    if (shape->backward) {
        build_backward(&graph);
    } else {
        build_forward(&graph);
    }
}

#endif
