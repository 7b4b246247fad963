#include "accuracy/software.h"

#include <stdlib.h>

/*
 * The columns are score, width, inner (each forward, backward) and parameter. Two things recur.
 * Under automatic casts the residual stream is fp32, so its norms and sums move 4 bytes a number
 * and every linear casts its input; softmax and its dropout are fp32 too. And where gradients are
 * added to what is there (12 bytes), after a cast (6 more), that is counted a parameter.
 */

/* OpenAI's block of Hugging Face: scores are scaled, multiplied by a mask, added to its complement,
 * softmaxed and dropped out, each a kernel; the tanh form of GELU is eight kernels. Up to 128
 * heads.
 */
const struct software software_cephalo_gpt = {
    .half = {41, 45, 74, 125, 76, 125, 18},
    .full = {41, 37, 90, 158, 72, 125, 12},
    .causal = true,
};

/* Hugging Face's BERT layer: scale, softmax and dropout on the scores; GELU is one kernel. */
const struct software software_cephalo_bert = {
    .half = {25, 29, 86, 150, 4, 8, 18},
    .full = {25, 29, 90, 158, 8, 16, 12},
};

/* The same with the norm before, without dropout. */
const struct software software_cephalo_vit = {
    .half = {16, 20, 76, 140, 4, 8, 18},
    .full = {16, 20, 72, 140, 8, 16, 12},
};

/* Hugging Face's Llama layer: the RMS norm is six kernels in fp32, the rotation ten; attention is
 * PyTorch's fused one (scores count only where a card does without: softmax and a cast). */
const struct software software_cephalo_llama = {
    .half = {16, 20, 154, 290, 10, 18, 18},
    .full = {16, 20, 176, 344, 20, 36, 12},
    .causal = true,
};

/* MosaicML's MPT: norms in 16 bit, flash attention, gradients reduced by FSDP. */
const struct software software_mpt = {
    .half = {0, 0, 30, 50, 4, 6, 8},
    .causal = true,
};

/* Megatron in fp32: mask, softmax and dropout on the scores, other pointwise work fused in pairs.
 */
const struct software software_megatron = {
    .full = {25, 29, 70, 134, 8, 16, 8},
    .causal = true,
};

/* NVIDIA's BERT example: weights and activations all 16 bit (Apex O2), fused norms; scale, mask,
 * softmax and dropout on the scores. */
const struct software software_bert = {
    .half = {17, 19, 46, 80, 8, 10, 4},
    .full = {33, 33, 90, 150, 12, 20, 4},
};

/* Kernels that make up the traffic above, for their fixed times. */
enum {
    SCORE_KERNELS = 4,
    WIDTH_KERNELS = 15,
    WIDTH_BACKWARD_KERNELS = 25,
    INNER_KERNELS = 3,
    PARAMETER_KERNELS = 10,
};

static void add(struct works *works, double times, struct yk_kernel_work work)
{
    if (works->count == MOST_WORKS) {
        abort();
    }
    works->times[works->count] = times;
    works->items[works->count++] = work;
}

/* `passes` products of (rows, in) and (in, out), or of its backward, as large. */
static void add_product(struct works *works, double times, const struct run *run, double rows,
                        double in, double out)
{
    add(works, times,
        (struct yk_kernel_work){
            .class = YK_KERNEL_MATRIX,
            .precision = run->precision,
            .operations = 2 * rows * in * out,
            .bytes =
                (rows * in + in * out + rows * out) * (double)yk_precision_bytes(run->precision),
            .launches = 1,
        });
}

static void add_traffic(struct works *works, double times, double bytes, int launches)
{
    add(works, times,
        (struct yk_kernel_work){
            .class = YK_KERNEL_VECTOR,
            .precision = YK_PRECISION_FP32,
            .bytes = bytes,
            .launches = launches,
        });
}

static const struct traffic *traffic_of(const struct software *software, const struct run *run)
{
    return yk_precision_bytes(run->precision) == 2 ? &software->half : &software->full;
}

/* The linears; backward does each product twice. */
static void add_linears(struct works *works, const struct block *block, const struct run *run,
                        double times)
{
    const double rows = run->batch * run->sequence;
    const double C = block->width;
    add_product(works, 2 * times, run, rows, C, C); /* queries and the output */
    add_product(works, 2 * times, run, rows, C, C * block->kv_heads / block->heads);
    add_product(works, (block->gated ? 2 : 1) * times, run, rows, C, block->inner);
    add_product(works, times, run, rows, block->inner, C);
}

/* Flash attention: 4 operations a pair and number of a head forward, 10 backward. */
static void add_flash(struct works *works, const struct software *software,
                      const struct block *block, const struct run *run, double operations,
                      double tensors, double times)
{
    const double T = run->sequence;
    const double pairs = software->causal ? T * (T + 1) / 2 : T * T;
    add(works, times,
        (struct yk_kernel_work){
            .class = YK_KERNEL_ATTENTION,
            .precision = run->precision,
            .operations = operations * pairs * run->batch * block->width,
            .bytes = tensors * run->batch * T * block->width *
                     (double)yk_precision_bytes(run->precision),
            .launches = 1,
        });
}

/* Attention that writes its scores: two batched products forward, four backward, and passes over
 * the scores. */
static void add_scores(struct works *works, const struct block *block, const struct run *run,
                       double products, double bytes, double times)
{
    const double T = run->sequence;
    const double scores = run->batch * block->heads * T * T;
    add(works, products * times,
        (struct yk_kernel_work){
            .class = YK_KERNEL_MATRIX,
            .precision = run->precision,
            .operations = 2 * scores * block->width / block->heads,
            .bytes = (scores + 2 * run->batch * T * block->width) *
                     (double)yk_precision_bytes(run->precision),
            .launches = 1,
        });
    add_traffic(works, times, bytes * scores, SCORE_KERNELS);
}

double block_parameters(const struct block *block)
{
    const double attention = 2 + 2 * block->kv_heads / block->heads;
    const double inner = (block->gated ? 3 : 2) * block->inner;
    return block->width * (attention * block->width + inner);
}

void add_forward(struct works *works, const struct software *software, const struct block *block,
                 const struct run *run, double times)
{
    const struct traffic *traffic = traffic_of(software, run);
    const double rows = run->batch * run->sequence;
    add_linears(works, block, run, times);
    if (run->flash) {
        add_flash(works, software, block, run, 4, 4, times);
    } else {
        add_scores(works, block, run, 2, traffic->score_forward, times);
    }
    add_traffic(works, times, traffic->width_forward * rows * block->width, WIDTH_KERNELS);
    add_traffic(works, times, traffic->inner_forward * rows * block->inner, INNER_KERNELS);
}

void add_backward(struct works *works, const struct software *software, const struct block *block,
                  const struct run *run, double times)
{
    const struct traffic *traffic = traffic_of(software, run);
    const double rows = run->batch * run->sequence;
    add_linears(works, block, run, 2 * times);
    if (run->flash) {
        add_flash(works, software, block, run, 10, 8, times);
    } else {
        add_scores(works, block, run, 4, traffic->score_backward, times);
    }
    add_traffic(works, times, traffic->width_backward * rows * block->width,
                WIDTH_BACKWARD_KERNELS);
    add_traffic(works, times, traffic->inner_backward * rows * block->inner, INNER_KERNELS);
    add_traffic(works, times, traffic->parameter_backward * block_parameters(block),
                PARAMETER_KERNELS);
}

void add_head(struct works *works, const struct run *run, double width, double vocabulary)
{
    const double rows = run->batch * run->sequence;
    /* Logits are cast to fp32, turned into probabilities, and their gradient comes back. */
    const double logit_bytes = yk_precision_bytes(run->precision) == 2 ? 30 : 24;
    add_product(works, 3, run, rows, width, vocabulary);
    add_traffic(works, 1, logit_bytes * rows * vocabulary, SCORE_KERNELS);
}

void add_update(struct works *works, double parameters)
{
    add_traffic(works, 1, 30 * parameters, PARAMETER_KERNELS);
}
