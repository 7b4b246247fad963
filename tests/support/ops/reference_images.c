#include "support/ops/reference.h"

#include <stdlib.h>

/* A convolution whose stride is its size, as a matrix: one loop for each index of an element. */
void reference_patchify(const struct yk_patchify_op *op, const uint8_t *pixels, double *out)
{
    const int64_t down = op->height / op->patch_height;
    const int64_t across = op->width / op->patch_width;
    const int64_t K = op->channels * op->patch_height * op->patch_width;
    for (int64_t b = 0; b < op->batch; b++) {
        double *image = out + b * (1 + down * across) * K;
        for (int64_t i = 0; i < K; i++) {
            image[i] = 0; /* the class token */
        }
        for (int64_t py = 0; py < down; py++) {
            for (int64_t px = 0; px < across; px++) {
                double *patch = image + (1 + py * across + px) * K;
                for (int64_t c = 0; c < op->channels; c++) {
                    for (int64_t y = 0; y < op->patch_height; y++) {
                        for (int64_t x = 0; x < op->patch_width; x++) {
                            const int64_t line = py * op->patch_height + y;
                            const int64_t column = px * op->patch_width + x;
                            const uint8_t pixel =
                                pixels[((b * op->channels + c) * op->height + line) * op->width +
                                       column];
                            patch[(c * op->patch_height + y) * op->patch_width + x] =
                                (double)op->scale[c] * pixel + (double)op->shift[c];
                        }
                    }
                }
            }
        }
    }
}

void reference_patch_tokens(const struct yk_patch_tokens_op *op, const double *class_token,
                            const double *positions, const double *bias, double *out)
{
    for (int64_t row = 0; row < op->rows; row++) {
        const int64_t t = row % op->sequence;
        for (int64_t i = 0; i < op->width; i++) {
            out[row * op->width + i] =
                positions[t * op->width + i] + (t == 0 ? class_token[i] : bias[i]);
        }
    }
}

struct ranked {
    double logit;
    int64_t class_index;
};

/* The largest first; of equal ones, the first. */
static int by_logit(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->logit != right->logit) {
        return left->logit > right->logit ? -1 : 1;
    }
    return left->class_index < right->class_index ? -1 : 1;
}

void reference_accuracy(const struct yk_accuracy_op *op, const int32_t *targets,
                        const double *logits, double *hits)
{
    struct ranked *ranked = calloc((size_t)op->classes, sizeof *ranked);
    for (int64_t row = 0; ranked && row < op->rows; row++) {
        for (int64_t i = 0; i < op->classes; i++) {
            ranked[i] = (struct ranked){logits[row * op->classes + i], i};
        }
        qsort(ranked, (size_t)op->classes, sizeof *ranked, by_logit);
        for (int64_t i = 0; i < op->classes && i < YK_ACCURACY_TOP; i++) {
            const bool hit = ranked[i].class_index == targets[row];
            hits[0] += hit && i == 0 ? 1 : 0;
            hits[1] += hit ? 1 : 0;
        }
    }
    free(ranked);
}
