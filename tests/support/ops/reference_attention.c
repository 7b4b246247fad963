#include "support/ops/reference.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

enum {
    MOST_KEYS = 4096,
};

/* One query of one head: what it looks at and how much. */
struct look {
    int64_t sample;
    int64_t head;
    int64_t query;
    const double *q;          /* (head_size) */
    int64_t first_key;        /* of the head's keys: where key 0 begins in k and v */
    int64_t key_step;         /* from one key to the next */
    int64_t first_query;      /* where the query begins in q and out */
    bool sees[MOST_KEYS];     /* (keys) */
    double chance[MOST_KEYS]; /* (keys), of those seen: softmax */
    double slope[MOST_KEYS];  /* what a cap multiplies the gradient of a score by */
    double kept[MOST_KEYS];   /* what dropout multiplies the chance by */
    double sum;               /* log of the sum of exp(score) */
};

/* Four sums side by side: most of the time of the op table is spent here. */
static double dot(const double *a, const double *b, int64_t count)
{
    double sums[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int j = 0; j < 4; j++) {
            sums[j] += a[i + j] * b[i + j];
        }
    }
    for (; i < count; i++) {
        sums[0] += a[i] * b[i];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

/* to += factor · from */
static void add_scaled(double factor, const double *restrict from, int64_t count,
                       double *restrict to)
{
    for (int64_t i = 0; i < count; i++) {
        to[i] += factor * from[i];
    }
}

bool reference_attention_sees(const struct yk_attention_op *op, const int32_t *lengths,
                              int64_t sample, int64_t query, int64_t key)
{
    const int64_t position = query + op->keys - op->queries;
    const int64_t distance = key < position ? position - key : key - position;
    if (lengths && key >= lengths[sample]) {
        return false;
    }
    return !(op->causal && key > position) && !(op->window > 0 && distance >= op->window);
}

/* Scores of the keys that the query sees, in `chance`, and what a cap multiplies gradients by. */
static void score(const struct yk_attention_op *op, const struct reference_attention *numbers,
                  struct look *out)
{
    const double cap = (double)op->softcap;
    for (int64_t s = 0; s < op->keys; s++) {
        out->sees[s] = reference_attention_sees(op, numbers->lengths, out->sample, out->query, s);
        if (!out->sees[s]) {
            continue;
        }
        const double *k = numbers->k + out->first_key + s * out->key_step;
        const double product = (double)op->scale * dot(out->q, k, op->head_size);
        out->chance[s] = product;
        out->slope[s] = 1;
        if (cap > 0) {
            const double capped = tanh(product / cap);
            out->chance[s] = cap * capped;
            out->slope[s] = 1 - capped * capped;
        }
    }
}

static void look(const struct yk_attention_op *op, const struct reference_attention *numbers,
                 struct look *out)
{
    const int64_t size = op->head_size;
    const int64_t kv_head = out->head / (op->heads / op->kv_heads);
    out->first_query = ((out->sample * op->queries + out->query) * op->heads + out->head) * size;
    out->q = numbers->q + out->first_query;
    out->key_step = op->kv_heads * size;
    out->first_key = out->sample * op->keys * out->key_step + kv_head * size;
    score(op, numbers, out);
    double largest = -INFINITY;
    for (int64_t s = 0; s < op->keys; s++) {
        largest = out->sees[s] ? fmax(largest, out->chance[s]) : largest;
    }
    double total = 0;
    for (int64_t s = 0; s < op->keys; s++) {
        total += out->sees[s] ? exp(out->chance[s] - largest) : 0;
    }
    out->sum = largest + log(total);
    for (int64_t s = 0; s < op->keys; s++) {
        const int64_t place = (out->head * op->queries + out->query) * op->keys + s;
        if (out->sees[s]) {
            out->chance[s] = exp(out->chance[s] - out->sum);
            out->kept[s] =
                op->dropout.rate > 0
                    ? reference_kept(&op->dropout, op->dropout.first_sample + out->sample, place)
                    : 1;
        }
    }
}

typedef void (*on_look)(const struct yk_attention_op *op, const struct look *look, void *user);

static void for_every_query(const struct yk_attention_op *op,
                            const struct reference_attention *numbers, on_look visit, void *user)
{
    static struct look one;
    assert(op->keys <= MOST_KEYS);
    for (int64_t b = 0; b < op->batch; b++) {
        for (int64_t h = 0; h < op->heads; h++) {
            for (int64_t t = 0; t < op->queries; t++) {
                one.sample = b;
                one.head = h;
                one.query = t;
                look(op, numbers, &one);
                visit(op, &one, user);
            }
        }
    }
}

struct forward {
    const double *v;
    double *out;
    double *sums;
};

static void weigh_values(const struct yk_attention_op *op, const struct look *look, void *user)
{
    const struct forward *forward = user;
    double *out = forward->out + look->first_query;
    for (int64_t d = 0; d < op->head_size; d++) {
        out[d] = 0;
    }
    for (int64_t s = 0; s < op->keys; s++) {
        const double *v = forward->v + look->first_key + s * look->key_step;
        if (look->sees[s]) {
            add_scaled(look->chance[s] * look->kept[s], v, op->head_size, out);
        }
    }
    if (forward->sums) {
        forward->sums[(look->sample * op->heads + look->head) * op->queries + look->query] =
            look->sum;
    }
}

void reference_attention(const struct yk_attention_op *op,
                         const struct reference_attention *numbers, double *out, double *sums)
{
    struct forward forward = {.v = numbers->v};
    forward.out = out;
    forward.sums = sums;
    for_every_query(op, numbers, weigh_values, &forward);
}

struct backward {
    const double *k;
    const double *v;
    const double *d_out;
    double *dq;
    double *dk;
    double *dv;
};

/* With P the chances and M what dropout does to them: dP = M ∘ (dO Vᵀ), and the softmax turns it
 * into dS = P ∘ (dP − Σ P ∘ dP). The derivative of c · tanh(s / c) is 1 − tanh²(s / c). */
static void push_back(const struct yk_attention_op *op, const struct look *look, void *user)
{
    const struct backward *backward = user;
    const double *d_out = backward->d_out + look->first_query;
    double mean = 0;
    for (int64_t s = 0; s < op->keys; s++) {
        if (!look->sees[s]) {
            continue;
        }
        const double *v = backward->v + look->first_key + s * look->key_step;
        mean += look->chance[s] * look->kept[s] * dot(d_out, v, op->head_size);
    }
    for (int64_t s = 0; s < op->keys; s++) {
        if (!look->sees[s]) {
            continue;
        }
        const int64_t at = look->first_key + s * look->key_step;
        const double d_chance = look->kept[s] * dot(d_out, backward->v + at, op->head_size);
        const double d_score =
            look->chance[s] * (d_chance - mean) * look->slope[s] * (double)op->scale;
        add_scaled(d_score, backward->k + at, op->head_size, backward->dq + look->first_query);
        add_scaled(d_score, look->q, op->head_size, backward->dk + at);
        add_scaled(look->chance[s] * look->kept[s], d_out, op->head_size, backward->dv + at);
    }
}

static void clear(double *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = 0;
    }
}

void reference_attention_backward(const struct yk_attention_op *op,
                                  const struct reference_attention *numbers, const double *d_out,
                                  double *dq, double *dk, double *dv)
{
    clear(dq, op->batch * op->queries * op->heads * op->head_size);
    clear(dk, op->batch * op->keys * op->kv_heads * op->head_size);
    clear(dv, op->batch * op->keys * op->kv_heads * op->head_size);
    struct backward backward = {numbers->k, numbers->v, d_out, dq, dk, dv};
    for_every_query(op, numbers, push_back, &backward);
}
