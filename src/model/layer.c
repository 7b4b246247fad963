#include "model/layer.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Vector operations an element. They are counted roughly, since the time of such work is that of
 * its bytes: sums and products one each, a root, an exponential or a division one each, too. */
enum {
    LAYER_NORM_OPERATIONS = 8,
    RMS_NORM_OPERATIONS = 4,
    ROTARY_OPERATIONS = 3,
    LOSS_OPERATIONS = 6,
    BACKWARD_FACTOR = 2, /* norms and activations: what it was, and its derivative */
};

enum {
    FP32_BYTES = 4,
    TOKEN_BYTES = 4,
};

/* Flash attention: scores and values are a product each; backward computes the scores again and
 * then the gradients of values, probabilities, queries and keys. 2 operations an element of a head.
 * MFU does not count the scores that are computed again.
 */
enum {
    ATTENTION_FORWARD = 2 * 2,
    ATTENTION_BACKWARD = 2 * 5,
    ATTENTION_COUNTED = 2 * (2 + 4),
};

static int64_t item_bytes(const struct yk_layer_builder *draft)
{
    return yk_precision_bytes(draft->precision);
}

static bool is_adapted(const struct yk_layer_builder *draft)
{
    return draft->role == YK_LAYER_BLOCK && draft->workload->lora_rank > 0;
}

static bool is_quantised(const struct yk_layer_builder *draft)
{
    return draft->role == YK_LAYER_BLOCK && draft->workload->nf4;
}

bool yk_layer_trains(const struct yk_layer_builder *draft)
{
    return draft->workload->lora_rank == 0;
}

/* A frozen layer with nothing trained below it has no backward at all, and keeps nothing for it. */
static bool has_backward(const struct yk_layer_builder *draft)
{
    return draft->role != YK_LAYER_EMBEDDING || yk_layer_trains(draft);
}

static void add(struct yk_layer_works *works, struct yk_work work)
{
    assert(works->count < YK_LAYER_MAX_WORKS);
    works->items[works->count++] = work;
}

/* Attention is counted where it is drafted. */
static void count_products(struct yk_layer_builder *draft, const struct yk_work *work)
{
    const double operations = work->class == YK_WORK_MATRIX ? work->operations : 0;
    draft->flops.formula += operations;
    draft->flops.exact += operations;
}

static bool is_narrow(const struct yk_layer_builder *draft)
{
    return yk_precision_bytes(draft->workload->precision) == 2;
}

static void add_forward(struct yk_layer_builder *draft, struct yk_work work)
{
    count_products(draft, &work);
    work.narrow = is_narrow(draft);
    add(&draft->forward, work);
}

static void add_backward(struct yk_layer_builder *draft, struct yk_work work)
{
    if (has_backward(draft)) {
        count_products(draft, &work);
        work.narrow = is_narrow(draft);
        add(&draft->backward, work);
    }
}

static struct yk_work vector_work(const char *name, double operations, double bytes,
                                  int32_t launches)
{
    return (struct yk_work){
        .name = name,
        .class = YK_WORK_VECTOR,
        .precision = YK_PRECISION_FP32,
        .operations = operations,
        .bytes = bytes,
        .launches = launches,
    };
}

static void keep_bytes(struct yk_layer_builder *draft, int64_t bytes)
{
    if (has_backward(draft)) {
        draft->saved_bytes += bytes;
    }
}

static void keep(struct yk_layer_builder *draft, int64_t numbers)
{
    keep_bytes(draft, numbers * item_bytes(draft));
}

/* The input of a part, which the first part has from the layer before. */
static void keep_input(struct yk_layer_builder *draft, int64_t numbers, bool first)
{
    keep(draft, numbers);
    draft->keeps_input = draft->keeps_input || (first && draft->input_bytes > 0);
}

/* Gradients of a part's output and input live only while it runs. */
static void hold(struct yk_layer_builder *draft, int64_t numbers)
{
    const int64_t bytes = numbers * item_bytes(draft);
    if (has_backward(draft) && bytes > draft->transient_bytes) {
        draft->transient_bytes = bytes;
    }
}

/* The layer's own parameters, of which `weights` may be kept as NF4. */
static void count_parameters(struct yk_layer_builder *draft, int64_t weights, int64_t others)
{
    draft->parameters += weights + others;
    if (yk_layer_trains(draft)) {
        draft->trainable += weights + others;
    } else if (is_quantised(draft)) {
        draft->quantised += weights;
        draft->full_width += others;
    } else if (draft->workload->nf4) {
        draft->full_width += weights + others;
    }
}

void yk_layer_begin(struct yk_layer_builder *draft, const struct yk_model_config *config,
                    const struct yk_workload *workload, enum yk_layer_role role, const char *kind,
                    int64_t input_rows)
{
    *draft = (struct yk_layer_builder){
        .workload = workload,
        .role = role,
        .kind = kind,
        .precision =
            workload->nf4 && role != YK_LAYER_BLOCK ? YK_PRECISION_FP32 : workload->precision,
    };
    draft->input_bytes = input_rows > 0 ? input_rows * config->width * item_bytes(draft) : 0;
    yk_layer_add_shape(draft, "%s", kind);
}

void yk_layer_add_shape(struct yk_layer_builder *draft, const char *format, ...)
{
    const size_t length = strlen(draft->shape);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(draft->shape + length, sizeof draft->shape - length, format, arguments);
    va_end(arguments);
}

/* Those of a product are dequantised while the product before still takes its own: there is room
 * for two. */
static void hold_dequantised(struct yk_layer_builder *draft, int64_t weights)
{
    const int64_t bytes = weights * item_bytes(draft);
    int64_t *most = draft->dequantised;
    if (bytes > most[0]) {
        most[1] = most[0];
        most[0] = bytes;
    } else if (bytes > most[1]) {
        most[1] = bytes;
    }
}

static void add_dequantise(struct yk_layer_builder *draft, const struct yk_layer_linear *linear)
{
    const double weights = (double)linear->in * (double)linear->out;
    const struct yk_work work = vector_work(
        "dequantise", weights, weights * (YK_MODEL_NF4_BYTES + (double)item_bytes(draft)),
        (int32_t)linear->parts);
    add_forward(draft, work);
    add_backward(draft, work);
}

/* (rows, in) × (in, r) for each part, then (rows, r) × (r, out); backward twice that. */
static void add_adapter(struct yk_layer_builder *draft, const struct yk_layer_linear *linear)
{
    const int64_t rank = draft->workload->lora_rank;
    const int64_t parameters = rank * (linear->parts * linear->in + linear->out);
    const int64_t inner = linear->rows * rank * linear->parts; /* numbers between A and B */
    const double bytes =
        (double)item_bytes(draft) * ((double)linear->rows * (double)(linear->in + 2 * linear->out) +
                                     2 * (double)inner + (double)parameters);
    struct yk_work work = {
        .name = "lora",
        .class = YK_WORK_MATRIX,
        .precision = draft->precision,
        .operations = 2 * (double)linear->rows * (double)parameters,
        .bytes = bytes,
        .launches = 2 * (int32_t)linear->parts,
    };
    add_forward(draft, work);
    work.operations *= 2;
    work.bytes *= 2;
    work.launches *= 2;
    add_backward(draft, work);
    draft->parameters += parameters;
    draft->trainable += parameters;
    keep(draft, inner);
}

void yk_layer_add_linear(struct yk_layer_builder *draft, const struct yk_layer_linear *linear)
{
    const int64_t weights = linear->in * linear->out;
    const double rows = (double)linear->rows;
    const double size = (double)item_bytes(draft);
    const bool trained = yk_layer_trains(draft);
    const bool first = draft->forward.count == 0;
    count_parameters(draft, linear->tied ? 0 : weights, linear->bias ? linear->out : 0);
    if (is_quantised(draft)) {
        add_dequantise(draft, linear);
        hold_dequantised(draft, weights);
    }
    struct yk_work work = {
        .name = linear->name,
        .class = YK_WORK_MATRIX,
        .precision = draft->precision,
        .operations = 2 * rows * (double)weights,
        .bytes = size * (rows * (double)(linear->in + linear->out) + (double)weights),
        .launches = 1,
    };
    add_forward(draft, work);
    if (trained && linear->bias) {
        const double numbers = rows * (double)linear->out;
        add_backward(draft, vector_work("bias", numbers, numbers * size, 1));
    }
    if (trained) { /* the gradients of its input and of its weights */
        work.operations *= 2;
        work.bytes *= 2;
        work.launches *= 2;
    }
    add_backward(draft, work);
    if (is_adapted(draft)) {
        add_adapter(draft, linear);
    }
    if (!linear->input_kept && (trained || is_adapted(draft))) {
        keep_input(draft, linear->rows * linear->in, first);
    }
    hold(draft, linear->rows * (linear->in + (linear->in_place ? 0 : linear->out)));
}

void yk_layer_add_attention(struct yk_layer_builder *draft,
                            const struct yk_layer_attention *attention)
{
    const double queries = (double)attention->queries;
    const double pairs =
        attention->causal ? queries * (queries + 1) / 2 : queries * (double)attention->keys;
    const double numbers =
        (double)attention->batch * (double)attention->heads * (double)attention->head_size;
    const double elements = pairs * numbers;
    const int64_t rows = attention->batch * attention->queries;
    const int64_t q = rows * attention->heads * attention->head_size;
    const int64_t kv =
        attention->batch * attention->keys * attention->kv_heads * attention->head_size;
    const int64_t sums = FP32_BYTES * rows * attention->heads; /* log-sum-exp of the scores */
    const double size = (double)item_bytes(draft);
    struct yk_work work = {
        .name = attention->name,
        .class = YK_WORK_ATTENTION,
        .precision = draft->precision,
        .operations = ATTENTION_FORWARD * elements,
        .bytes = size * 2 * (double)(q + kv) + (double)sums,
        .launches = 1,
    };
    add_forward(draft, work);
    work.operations = ATTENTION_BACKWARD * elements;
    work.bytes = size * 4 * (double)(q + kv) + (double)sums;
    work.launches = 2;
    add_backward(draft, work);
    draft->flops.formula += ATTENTION_COUNTED * queries * (double)attention->keys * numbers;
    draft->flops.exact += ATTENTION_COUNTED * elements;
    keep(draft, q + 2 * kv + q); /* queries, keys and values, output */
    keep_bytes(draft, sums);
    hold(draft, 2 * (q + kv)); /* gradients of all four */
}

void yk_layer_add_norm(struct yk_layer_builder *draft, enum yk_norm_kind kind, int64_t rows,
                       int64_t width)
{
    const bool layer_norm = kind == YK_NORM_LAYER;
    const double numbers = (double)rows * (double)width;
    const double operations = numbers * (layer_norm ? LAYER_NORM_OPERATIONS : RMS_NORM_OPERATIONS);
    const double size = (double)item_bytes(draft);
    const bool first = draft->forward.count == 0;
    count_parameters(draft, 0, layer_norm ? 2 * width : width);
    add_forward(draft, vector_work("norm", operations, 2 * numbers * size, 1));
    add_backward(draft, vector_work("norm", BACKWARD_FACTOR * operations, 3 * numbers * size, 1));
    keep_input(draft, rows * width, first);
    keep_bytes(draft, FP32_BYTES * rows * (layer_norm ? 2 : 1));
    hold(draft, 2 * rows * width);
}

void yk_layer_add_activation(struct yk_layer_builder *draft, enum yk_activation_kind kind,
                             int64_t rows, int64_t width)
{
    static const struct {
        int operations;
        int inputs;
        int kept; /* numbers an element; ReLU needs its output alone, which the next part keeps */
    } kinds[] = {
        [YK_ACTIVATION_GELU] = {8, 1, 1},
        [YK_ACTIVATION_RELU] = {1, 1, 0},
        [YK_ACTIVATION_SWIGLU] = {5, 2, 2},
        [YK_ACTIVATION_TANH] = {4, 1, 1},
    };
    const double numbers = (double)rows * (double)width;
    const double operations = numbers * kinds[kind].operations;
    const double size = (double)item_bytes(draft);
    const int inputs = kinds[kind].inputs;
    add_forward(draft, vector_work("activation", operations, numbers * size * (inputs + 1), 1));
    add_backward(draft, vector_work("activation", BACKWARD_FACTOR * operations,
                                    numbers * size * (2 * inputs + 1), 1));
    keep(draft, rows * width * kinds[kind].kept);
    hold(draft, rows * width * (inputs + 1));
}

void yk_layer_add_residual(struct yk_layer_builder *draft, int64_t rows, int64_t width)
{
    const double numbers = (double)rows * (double)width;
    const struct yk_work work =
        vector_work("residual", numbers, 3 * numbers * (double)item_bytes(draft), 1);
    add_forward(draft, work);
    add_backward(draft, work);
}

void yk_layer_add_rotary(struct yk_layer_builder *draft, int64_t rows, int64_t width)
{
    const double numbers = (double)rows * (double)width;
    const struct yk_work work = vector_work("rotary", ROTARY_OPERATIONS * numbers,
                                            2 * numbers * (double)item_bytes(draft), 1);
    add_forward(draft, work);
    add_backward(draft, work);
}

void yk_layer_add_embedding(struct yk_layer_builder *draft, int64_t rows, int64_t width,
                            int64_t tables, int64_t parameters)
{
    const double numbers = (double)rows * (double)width;
    const double size = (double)item_bytes(draft);
    count_parameters(draft, 0, parameters);
    add_forward(draft, vector_work("embed", numbers * (double)(tables - 1),
                                   numbers * size * (double)(tables + 1), 1));
    /* Rows of the tables' gradients are read, added to and written. */
    add_backward(draft, vector_work("embed", numbers * (double)tables,
                                    numbers * size * (double)(2 * tables + 1), 1));
    keep_bytes(draft, TOKEN_BYTES * rows);
}

void yk_layer_add_loss(struct yk_layer_builder *draft, int64_t rows, int64_t classes)
{
    const double numbers = (double)rows * (double)classes;
    add_forward(draft, vector_work("loss", LOSS_OPERATIONS * numbers,
                                   2 * numbers * (double)item_bytes(draft), 1));
    keep(draft, rows * yk_model_config_logit_stride(classes));
}

void yk_layer_add_unused(struct yk_layer_builder *draft, int64_t parameters)
{
    count_parameters(draft, 0, parameters);
}
