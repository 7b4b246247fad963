#include "support/ops/reference.h"

#include <math.h>
#include <stddef.h>

/* ---- norms ---- */

/* Groups of a row lie side by side, so that all groups of all rows are rows of `width` numbers. */
static int64_t count_groups(int64_t rows, int64_t groups)
{
    return groups > 0 ? rows * groups : rows;
}

/* Ba et al. 2016; without mean and bias, Zhang and Sennrich 2019. */
void reference_norm(const struct yk_norm_op *op, const struct reference_norm *numbers)
{
    const int64_t width = op->width;
    for (int64_t row = 0; row < count_groups(op->rows, op->groups); row++) {
        const double *x = numbers->x + row * width;
        double mean = 0;
        for (int64_t i = 0; i < width && numbers->bias; i++) {
            mean += x[i] / (double)width;
        }
        double variance = 0;
        for (int64_t i = 0; i < width; i++) {
            variance += (x[i] - mean) * (x[i] - mean) / (double)width;
        }
        const double rstd = 1 / sqrt(variance + (double)op->epsilon);
        for (int64_t i = 0; i < width; i++) {
            const double weight = numbers->weight[i] + (double)op->weight_offset;
            numbers->y[row * width + i] = (x[i] - mean) * rstd * weight +
                                          (numbers->bias ? numbers->bias[i] : 0) +
                                          (numbers->add ? numbers->add[row * width + i] : 0);
        }
        if (numbers->mean) {
            numbers->mean[row] = mean;
        }
        numbers->rstd[row] = rstd;
    }
}

/* With x̂ = (x − mean) · rstd and g = dy · (weight + weight_offset):
 * dx = rstd · (g − mean(g) − x̂ · mean(g · x̂)), the middle term only where a mean was taken off. */
void reference_norm_backward(const struct yk_norm_backward_op *op,
                             const struct reference_norm_backward *numbers)
{
    const int64_t width = op->width;
    for (int64_t row = 0; row < count_groups(op->rows, op->groups); row++) {
        const double *x = numbers->x + row * width;
        const double *dy = numbers->dy + row * width;
        const double mean = numbers->mean ? numbers->mean[row] : 0;
        const double rstd = numbers->rstd[row];
        double mean_g = 0;
        double mean_gx = 0;
        for (int64_t i = 0; i < width; i++) {
            const double g = dy[i] * (numbers->weight[i] + (double)op->weight_offset);
            const double hat = (x[i] - mean) * rstd;
            mean_g += numbers->mean ? g / (double)width : 0;
            mean_gx += g * hat / (double)width;
            if (numbers->d_weight) {
                numbers->d_weight[i] += dy[i] * hat;
            }
            if (numbers->d_bias) {
                numbers->d_bias[i] += dy[i];
            }
        }
        for (int64_t i = 0; i < width; i++) {
            const int64_t at = row * width + i;
            const double g = dy[i] * (numbers->weight[i] + (double)op->weight_offset);
            const double hat = (x[i] - mean) * rstd;
            numbers->dx[at] =
                (numbers->add ? numbers->add[at] : 0) + rstd * (g - mean_g - hat * mean_gx);
        }
    }
}

/* ---- embedding ---- */

void reference_embedding(const struct yk_embedding_op *op, const int32_t *tokens,
                         const double *table, const double *positions, const double *shift,
                         double *out)
{
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t i = 0; i < op->width; i++) {
            out[row * op->width + i] =
                (double)op->scale * table[tokens[row] * op->width + i] +
                (positions ? positions[row % op->sequence * op->width + i] : 0) +
                (shift ? shift[i] : 0);
        }
    }
}

void reference_embedding_backward(const struct yk_embedding_backward_op *op, const int32_t *tokens,
                                  const double *d_out, double *d_table, double *d_positions)
{
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t i = 0; i < op->width; i++) {
            if (d_table) {
                d_table[tokens[row] * op->width + i] +=
                    (double)op->scale * d_out[row * op->width + i];
            }
            if (d_positions) {
                d_positions[row % op->sequence * op->width + i] += d_out[row * op->width + i];
            }
        }
    }
}

/* Su et al. 2021, with the pairs of Hugging Face's rotate_half(). */
void reference_rotary(const struct yk_rotary_op *op, const double *cos_sin, double *data)
{
    const int64_t half = (op->rotary_size > 0 ? op->rotary_size : op->head_size) / 2;
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t head = 0; head < op->heads; head++) {
            double *one = data + (row * op->heads + head) * op->head_size;
            for (int64_t i = 0; i < half; i++) {
                const double *turn = cos_sin + (row % op->sequence * half + i) * 2;
                const double cosine = turn[0];
                const double sine = op->inverse ? -turn[1] : turn[1];
                const double x = one[i];
                const double y = one[i + half];
                one[i] = x * cosine - y * sine;
                one[i + half] = y * cosine + x * sine;
            }
        }
    }
}

/* ---- gate, dropout, sums ---- */

void reference_add_lora_term(const struct yk_lora_term *term, int64_t rows, int64_t columns,
                             const double *inner, const double *factor, double *to, int64_t stride)
{
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t i = 0; i < columns; i++) {
            double sum = 0;
            for (int64_t k = 0; k < term->rank; k++) {
                sum += inner[row * term->inner_stride + k] *
                       factor[term->factor_transposed ? k * columns + i : i * term->rank + k];
            }
            to[row * stride + i] += (double)term->scale * sum;
        }
    }
}

void reference_glu(const struct yk_glu_op *op, const double *gate_up, double *out)
{
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t i = 0; i < op->width; i++) {
            const double gate = gate_up[row * 2 * op->width + i];
            const double up = gate_up[(row * 2 + 1) * op->width + i];
            out[row * op->width + i] = reference_activation(op->activation, gate) * up;
        }
    }
}

void reference_glu_backward(const struct yk_glu_backward_op *op, const double *gate_up,
                            const double *d_out, double *d_gate_up)
{
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t i = 0; i < op->width; i++) {
            const int64_t at_gate = row * 2 * op->width + i;
            const int64_t at_up = at_gate + op->width;
            const double gate = gate_up[at_gate];
            const double up = gate_up[at_up];
            const double d = d_out[row * op->width + i];
            d_gate_up[at_gate] = d * up * reference_activation_slope(op->activation, gate);
            d_gate_up[at_up] = d * reference_activation(op->activation, gate);
        }
    }
}

void reference_glu_backward_factor(const struct yk_glu_backward_op *op, const double *inner,
                                   const double *out, double *d_factor)
{
    const struct yk_lora_term *term = &op->d_out_term;
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t k = 0; k < term->rank; k++) {
            for (int64_t i = 0; i < op->width; i++) {
                d_factor[k * op->width + i] += (double)term->scale *
                                               inner[row * term->inner_stride + k] *
                                               out[row * op->width + i];
            }
        }
    }
}

void reference_lora_backward(const struct yk_lora_backward_op *op, int32_t part, const double *dy,
                             const double *inner, const double *factor, double *d_factor,
                             double *d_inner)
{
    const int64_t columns = op->part[part].columns;
    for (int64_t row = 0; row < op->rows; row++) {
        double *sums = d_inner + row * op->parts * op->rank;
        for (int64_t k = 0; k < op->rank; k++) {
            sums[k] = 0;
        }
        for (int64_t i = 0; i < columns; i++) {
            const double d = (double)op->scale * dy[row * columns + i];
            for (int64_t k = 0; k < op->rank; k++) {
                d_factor[i * op->rank + k] += d * inner[row * op->rank + k];
                sums[k] += d * factor[i * op->rank + k];
            }
        }
    }
}

void reference_dropout(const struct yk_dropout_op *op, const double *from, const double *add,
                       double *to)
{
    const double scale = op->scale != 0 ? (double)op->scale : 1;
    for (int64_t row = 0; row < op->rows; row++) {
        const int64_t sample = op->dropout.first_sample + row / op->sequence;
        for (int64_t i = 0; i < op->width; i++) {
            const int64_t at = row * op->width + i;
            const int64_t place = row % op->sequence * op->width + i;
            const double kept =
                op->dropout.rate > 0 ? reference_kept(&op->dropout, sample, place) : 1;
            to[at] = scale * from[at] * kept + (add ? add[at] : 0);
        }
    }
}

void reference_sum_rows(const struct yk_sum_rows_op *op, const double *from, double *to)
{
    for (int64_t row = 0; row < op->rows; row++) {
        for (int64_t i = 0; i < op->columns; i++) {
            to[i] += from[row * op->columns + i];
        }
    }
}

/* ---- loss ---- */

/* c · tanh(logit / c), or the logit itself; the slope is the derivative. */
static double cap(double softcap, double logit, double *slope)
{
    if (softcap == 0) {
        *slope = 1;
        return logit;
    }
    const double capped = tanh(logit / softcap);
    *slope = 1 - capped * capped;
    return softcap * capped;
}

void reference_cross_entropy(const struct yk_cross_entropy_op *op, const int32_t *targets,
                             double *logits, double *row_losses, double *loss)
{
    const double smoothing = (double)op->smoothing;
    const double softcap = (double)op->softcap;
    for (int64_t row = 0; row < op->rows; row++) {
        double *logit = logits + row * op->classes;
        double largest = -INFINITY;
        double total = 0;
        double slope = 1;
        for (int64_t i = 0; i < op->classes; i++) {
            largest = fmax(largest, cap(softcap, logit[i], &slope));
        }
        for (int64_t i = 0; i < op->classes; i++) {
            total += exp(cap(softcap, logit[i], &slope) - largest);
        }
        const double log_total = largest + log(total);
        row_losses[row] = 0;
        for (int64_t i = 0; i < op->classes; i++) {
            const double wanted =
                smoothing / (double)op->classes + (i == targets[row] ? 1 - smoothing : 0);
            const double capped = cap(softcap, logit[i], &slope);
            const double gradient = (exp(capped - log_total) - wanted) * slope;
            if (targets[row] >= 0) {
                row_losses[row] -= wanted * (capped - log_total);
            }
            if (op->factor != 0) {
                logit[i] = targets[row] >= 0 ? (double)op->factor * gradient : 0;
            }
        }
        *loss += row_losses[row];
    }
}
