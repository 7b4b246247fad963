#include "model/layer_builder.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Vector operations per element. Rough counts, because memory traffic determines the time of these
 * kernels: an addition, product, root, exponential or division counts as one. */
enum {
    LAYER_NORM_OPERATIONS = 8,
    RMS_NORM_OPERATIONS = 4,
    ROTARY_OPERATIONS = 3,
    LOSS_OPERATIONS = 6,
    BACKWARD_FACTOR = 2, /* norms and activations: recompute the value, and its derivative */
};

enum {
    FP32_BYTES = 4,
    TOKEN_BYTES = 4,
};

/* Flash attention, with 2 operations per element of a head and product: forward has the products of
 * scores and values. Backward recomputes the scores, and computes the gradients of values,
 * probabilities, queries and keys. MFU does not count the recomputed scores. */
enum {
    ATTENTION_FORWARD = 2 * 2,
    ATTENTION_BACKWARD = 2 * 5,
    ATTENTION_COUNTED = 2 * (2 + 4),
};

static int64_t item_bytes(const struct yk_layer_builder *builder)
{
    return yk_precision_bytes(builder->precision);
}

static bool is_adapted(const struct yk_layer_builder *builder)
{
    return builder->role == YK_LAYER_ROLE_BLOCK && builder->workload->lora_rank > 0;
}

static bool is_quantised(const struct yk_layer_builder *builder)
{
    return builder->role == YK_LAYER_ROLE_BLOCK && builder->workload->nf4;
}

static bool trains(const struct yk_layer_builder *builder)
{
    return builder->trains;
}

/* A frozen embedding has no backward pass and saves nothing. */
static bool has_backward(const struct yk_layer_builder *builder)
{
    return builder->role != YK_LAYER_ROLE_EMBEDDING || trains(builder);
}

/* Adds a kernel and counts its operations. Attention is counted in
 * yk_layer_builder_add_attention(). */
static void add(struct yk_layer_builder *builder, struct yk_layer_kernels *works,
                struct yk_kernel_work work)
{
    const double operations = work.class == YK_KERNEL_MATRIX ? work.operations : 0;
    builder->layer.flops.formula += operations;
    builder->layer.flops.exact += operations;
    work.narrow = yk_precision_bytes(builder->workload->precision) == 2;
    assert(works->count < YK_LAYER_MAX_KERNELS);
    works->items[works->count++] = work;
}

static void add_forward(struct yk_layer_builder *builder, struct yk_kernel_work work)
{
    add(builder, &builder->forward, work);
}

static void add_backward(struct yk_layer_builder *builder, struct yk_kernel_work work)
{
    if (has_backward(builder)) {
        add(builder, &builder->backward, work);
    }
}

/* Adds a kernel that does the same work in both passes. */
static void add_both(struct yk_layer_builder *builder, struct yk_kernel_work work)
{
    add_forward(builder, work);
    add_backward(builder, work);
}

static struct yk_kernel_work doubled(struct yk_kernel_work work)
{
    work.operations *= 2;
    work.bytes *= 2;
    work.launches *= 2;
    return work;
}

static struct yk_kernel_work vector_work(const char *name, double operations, double bytes,
                                         int32_t launches)
{
    return (struct yk_kernel_work){
        .name = name,
        .class = YK_KERNEL_VECTOR,
        .precision = YK_PRECISION_FP32,
        .operations = operations,
        .bytes = bytes,
        .launches = launches,
    };
}

static void keep_bytes(struct yk_layer_builder *builder, int64_t bytes)
{
    if (has_backward(builder)) {
        builder->layer.saved_bytes += bytes;
    }
}

static void keep(struct yk_layer_builder *builder, int64_t numbers)
{
    keep_bytes(builder, numbers * item_bytes(builder));
}

/* Saves the input of a part. The input of the first part is the layer's input. */
static void keep_input(struct yk_layer_builder *builder, int64_t numbers, bool first)
{
    keep(builder, numbers);
    builder->layer.keeps_input = builder->layer.keeps_input || (first && builder->input_bytes > 0);
}

/* Counts the gradients of a part's output and input, which exist only during the part. */
static void hold(struct yk_layer_builder *builder, int64_t numbers)
{
    const int64_t bytes = numbers * item_bytes(builder);
    if (has_backward(builder) && bytes > builder->transient_bytes) {
        builder->transient_bytes = bytes;
    }
}

/* Counts parameters. Of a block, `weights` may be NF4; `others` may not. */
static void count_parameters(struct yk_layer_builder *builder, int64_t weights, int64_t others)
{
    builder->layer.parameters += weights + others;
    if (trains(builder)) {
        builder->layer.trainable += weights + others;
    } else if (is_quantised(builder)) {
        builder->layer.quantised += weights;
        builder->layer.full_width += others;
    } else if (builder->workload->nf4) {
        builder->layer.full_width += weights + others;
    }
}

void yk_layer_builder_begin(struct yk_layer_builder *builder, const struct yk_model_config *config,
                            const struct yk_workload *workload, enum yk_layer_role role,
                            const char *kind, int64_t input_rows)
{
    *builder = (struct yk_layer_builder){
        .workload = workload,
        .role = role,
        .trains = workload->lora_rank == 0 || (config->classifier && role == YK_LAYER_ROLE_HEAD),
        .layer = {.kind = kind, .role = role, .shares_weights_of = YK_LAYER_NONE},
        .precision =
            workload->nf4 && role != YK_LAYER_ROLE_BLOCK ? YK_PRECISION_FP32 : workload->precision,
    };
    builder->input_bytes = input_rows > 0 ? input_rows * config->width * item_bytes(builder) : 0;
    yk_layer_builder_append_shape_text(builder, "%s", kind);
}

void yk_layer_builder_append_shape_text(struct yk_layer_builder *builder, const char *format, ...)
{
    const size_t length = strlen(builder->shape);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(builder->shape + length, sizeof builder->shape - length, format, arguments);
    va_end(arguments);
}

/* The weights of a product are dequantised while the previous product still uses its own, so there
 * are two buffers. */
static void hold_dequantised(struct yk_layer_builder *builder, int64_t weights)
{
    const int64_t bytes = weights * item_bytes(builder);
    int64_t *max = builder->dequantised;
    if (bytes > max[0]) {
        max[1] = max[0];
        max[0] = bytes;
    } else if (bytes > max[1]) {
        max[1] = bytes;
    }
}

static void add_dequantise(struct yk_layer_builder *builder, const struct yk_linear_spec *linear)
{
    const double weights = (double)linear->in * (double)linear->out;
    add_both(builder,
             vector_work("dequantise", weights,
                         weights * (YK_MODEL_NF4_BYTES_PER_WEIGHT + (double)item_bytes(builder)),
                         (int32_t)linear->parts));
}

/* (rows, in) × (in, r) for each part, then (rows, r) × (r, out). Backward does twice that. */
static void add_adapter(struct yk_layer_builder *builder, const struct yk_linear_spec *linear)
{
    const int64_t rank = builder->workload->lora_rank;
    const int64_t parameters = rank * (linear->parts * linear->in + linear->out);
    const int64_t inner = linear->rows * rank * linear->parts; /* numbers between A and B */
    const double bytes = (double)item_bytes(builder) *
                         ((double)linear->rows * (double)(linear->in + 2 * linear->out) +
                          2 * (double)inner + (double)parameters);
    struct yk_kernel_work work = {
        .name = "lora",
        .class = YK_KERNEL_MATRIX,
        .precision = builder->precision,
        .operations = 2 * (double)linear->rows * (double)parameters,
        .bytes = bytes,
        .launches = 2 * (int32_t)linear->parts,
    };
    add_forward(builder, work);
    add_backward(builder, doubled(work));
    builder->layer.parameters += parameters;
    builder->layer.trainable += parameters;
    keep(builder, inner);
}

void yk_layer_builder_add_linear(struct yk_layer_builder *builder,
                                 const struct yk_linear_spec *linear)
{
    const int64_t weights = linear->in * linear->out;
    const int64_t experts = linear->experts > 0 ? linear->experts : 1;
    const int64_t idle = linear->experts > 0 ? experts - linear->experts_per_token : 0;
    const double rows = (double)linear->rows;
    const double size = (double)item_bytes(builder);
    const bool trained = trains(builder);
    const bool first = builder->forward.count == 0;
    count_parameters(builder, linear->tied ? 0 : experts * weights,
                     linear->bias ? experts * linear->out : 0);
    builder->layer.inactive += idle * (weights + (linear->bias ? linear->out : 0));
    if (is_quantised(builder)) {
        add_dequantise(builder, linear);
        hold_dequantised(builder, weights);
    }
    struct yk_kernel_work work = {
        .name = linear->name,
        .class = YK_KERNEL_MATRIX,
        .precision = builder->precision,
        .operations = 2 * rows * (double)weights,
        .bytes = size * (rows * (double)(linear->in + linear->out) + (double)weights),
        .launches = 1,
    };
    add_forward(builder, work);
    if (trained && linear->bias) {
        const double numbers = rows * (double)linear->out;
        add_backward(builder, vector_work("bias", numbers, numbers * size, 1));
    }
    /* Gradients of the input and of the weights. */
    add_backward(builder, trained ? doubled(work) : work);
    if (is_adapted(builder)) {
        add_adapter(builder, linear);
    }
    if (!linear->input_kept && (trained || is_adapted(builder))) {
        keep_input(builder, linear->rows * linear->in, first);
    }
    hold(builder, linear->rows * (linear->in + (linear->in_place ? 0 : linear->out)));
}

/* The number of pairs of a query and a key that it sees, in one sample. */
static double count_pairs(const struct yk_attention_spec *attention)
{
    const double queries = (double)attention->queries;
    const double window = (double)attention->window;
    if (!attention->causal) {
        return queries * (double)attention->keys;
    }
    return window > 0 && window < queries ? window * (window + 1) / 2 + (queries - window) * window
                                          : queries * (queries + 1) / 2;
}

void yk_layer_builder_add_attention(struct yk_layer_builder *builder,
                                    const struct yk_attention_spec *attention)
{
    const double queries = (double)attention->queries;
    const double pairs = count_pairs(attention);
    const double context =
        (double)(attention->window > 0 && attention->window < attention->keys ? attention->window
                                                                              : attention->keys);
    const double numbers =
        (double)attention->batch * (double)attention->heads * (double)attention->head_size;
    const double elements = pairs * numbers;
    const int64_t rows = attention->batch * attention->queries;
    const int64_t q = rows * attention->heads * attention->head_size;
    const int64_t kv =
        attention->batch * attention->keys * attention->kv_heads * attention->head_size;
    const int64_t sums = FP32_BYTES * rows * attention->heads; /* log-sum-exp of the scores */
    const double size = (double)item_bytes(builder);
    struct yk_kernel_work work = {
        .name = attention->name,
        .class = YK_KERNEL_ATTENTION,
        .precision = builder->precision,
        .operations = ATTENTION_FORWARD * elements,
        .bytes = size * 2 * (double)(q + kv) + (double)sums,
        .launches = 1,
    };
    add_forward(builder, work);
    work.operations = ATTENTION_BACKWARD * elements;
    work.bytes = size * 4 * (double)(q + kv) + (double)sums;
    work.launches = 2;
    add_backward(builder, work);
    builder->layer.flops.formula += ATTENTION_COUNTED * queries * context * numbers;
    builder->layer.flops.exact += ATTENTION_COUNTED * elements;
    keep(builder, q + 2 * kv + q); /* queries, keys and values, output */
    keep_bytes(builder, sums);
    hold(builder, 2 * (q + kv)); /* gradients of all four */
}

void yk_layer_builder_add_norm(struct yk_layer_builder *builder, const struct yk_norm_spec *norm)
{
    const bool layer_norm = norm->kind == YK_NORM_LAYER;
    const int64_t count = norm->rows * norm->groups * norm->width;
    const double numbers = (double)count;
    const double operations = numbers * (layer_norm ? LAYER_NORM_OPERATIONS : RMS_NORM_OPERATIONS);
    const double size = (double)item_bytes(builder);
    const bool first = builder->forward.count == 0;
    count_parameters(builder, 0, layer_norm ? 2 * norm->width : norm->width);
    add_forward(builder, vector_work("norm", operations, 2 * numbers * size, 1));
    add_backward(builder, vector_work("norm", BACKWARD_FACTOR * operations, 3 * numbers * size, 1));
    const int64_t statistics = FP32_BYTES * norm->rows * norm->groups * (layer_norm ? 2 : 1);
    if (!norm->input_kept) {
        keep_input(builder, norm->kept_rows > 0 ? norm->kept_rows * norm->width : count, first);
    }
    keep_bytes(builder, statistics);
    hold(builder, 2 * count);
    if (!has_backward(builder)) { /* not saved, but forward has them */
        builder->transient_bytes += count * item_bytes(builder) + statistics;
    }
}

void yk_layer_builder_add_activation(struct yk_layer_builder *builder,
                                     enum yk_activation activation, bool gated, int64_t rows,
                                     int64_t width)
{
    static const int operations_of[] = {
        [YK_ACTIVATION_GELU_TANH] = 8,    [YK_ACTIVATION_GELU] = 8, [YK_ACTIVATION_RELU] = 1,
        [YK_ACTIVATION_RELU_SQUARED] = 2, [YK_ACTIVATION_SILU] = 4, [YK_ACTIVATION_TANH] = 4,
    };
    const double numbers = (double)rows * (double)width;
    const double operations = numbers * (operations_of[activation] + (gated ? 1 : 0));
    const double size = (double)item_bytes(builder);
    const int inputs = gated ? 2 : 1;
    /* ReLU needs only its output, which the next part saves. */
    const int kept = activation == YK_ACTIVATION_RELU && !gated ? 0 : inputs;
    add_forward(builder, vector_work("activation", operations, numbers * size * (inputs + 1), 1));
    add_backward(builder, vector_work("activation", BACKWARD_FACTOR * operations,
                                      numbers * size * (2 * inputs + 1), 1));
    keep(builder, rows * width * kept);
    hold(builder, rows * width * (inputs + 1));
}

void yk_layer_builder_add_residual(struct yk_layer_builder *builder, int64_t rows, int64_t width)
{
    const double numbers = (double)rows * (double)width;
    add_both(builder,
             vector_work("residual", numbers, 3 * numbers * (double)item_bytes(builder), 1));
}

void yk_layer_builder_add_rotary(struct yk_layer_builder *builder, int64_t rows, int64_t width)
{
    const double numbers = (double)rows * (double)width;
    add_both(builder, vector_work("rotary", ROTARY_OPERATIONS * numbers,
                                  2 * numbers * (double)item_bytes(builder), 1));
}

void yk_layer_builder_add_embedding(struct yk_layer_builder *builder, int64_t rows, int64_t width,
                                    int64_t tables, int64_t parameters)
{
    const double numbers = (double)rows * (double)width;
    const double size = (double)item_bytes(builder);
    count_parameters(builder, 0, parameters);
    add_forward(builder, vector_work("embed", numbers * (double)(tables - 1),
                                     numbers * size * (double)(tables + 1), 1));
    /* Rows of the tables' gradients are read, increased and written. */
    add_backward(builder, vector_work("embed", numbers * (double)tables,
                                      numbers * size * (double)(2 * tables + 1), 1));
    keep_bytes(builder, TOKEN_BYTES * rows);
}

void yk_layer_builder_add_patch_embedding(struct yk_layer_builder *builder,
                                          const struct yk_patch_embedding_spec *patches)
{
    const int64_t rows = patches->batch * patches->sequence;
    const double size = (double)item_bytes(builder);
    const double numbers = (double)rows * (double)patches->out;
    const double elements = (double)rows * (double)patches->in;
    const double weights = (double)patches->in * (double)patches->out;
    const struct yk_kernel_work cut =
        vector_work("patches", 2 * elements,
                    (double)(patches->batch * patches->image_bytes) + elements * size, 1);
    const struct yk_kernel_work product = {
        .name = "embed",
        .class = YK_KERNEL_MATRIX,
        .precision = builder->precision,
        .operations = 2 * (double)rows * weights,
        .bytes = size * (elements + 2 * numbers + weights),
        .launches = 1,
    };
    count_parameters(builder, 0,
                     patches->out * (patches->in + 1 + 1 + patches->sequence)); /* bias, class */
    add_forward(builder, cut);
    add_forward(builder, vector_work("positions", numbers, numbers * size, 1));
    add_forward(builder, product);
    add_backward(builder, vector_work("positions", numbers, numbers * size, 4));
    add_backward(builder, product); /* the gradient of the weights; pixels have none */
    add_backward(builder, cut);
    builder->transient_bytes = rows * patches->in * item_bytes(builder);
    if (has_backward(builder)) { /* sums of the gradients over all images */
        builder->transient_bytes += FP32_BYTES * patches->sequence * patches->out;
    }
}

void yk_layer_builder_add_loss(struct yk_layer_builder *builder, int64_t rows, int64_t classes)
{
    const double numbers = (double)rows * (double)classes;
    add_forward(builder, vector_work("loss", LOSS_OPERATIONS * numbers,
                                     2 * numbers * (double)item_bytes(builder), 1));
    keep(builder, rows * yk_model_config_logit_row_stride(classes));
}

void yk_layer_builder_add_unused_parameters(struct yk_layer_builder *builder, int64_t parameters)
{
    count_parameters(builder, 0, parameters);
}
