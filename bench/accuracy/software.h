/*
 * Software: what the programs that were measured do on the device, as works.
 *
 * yoke's own works (the model room) tell what yoke's runtime does. Others cast, copy and read their
 * activations more often, and some write attention's scores to memory; what they do is in their
 * sources. Traffic is counted from there: the bytes that all kernels but products and flash
 * attention read and write for each number of a score matrix (B, H, T, T), of an activation
 * (B, T, C), of an inner activation (B, T, F), and of a parameter.
 */
#ifndef YK_BENCH_ACCURACY_SOFTWARE_H
#define YK_BENCH_ACCURACY_SOFTWARE_H

#include "model/kernel_work.h"

#include <stdbool.h>

enum {
    MOST_WORKS = 64
};

struct traffic {
    double score_forward;
    double score_backward;
    double width_forward;
    double width_backward;
    double inner_forward;
    double inner_backward;
    double parameter_backward;
};

struct software {
    struct traffic half; /* when it trains in 16 bit, mixed or not */
    struct traffic full; /* when it trains in fp32 */
    bool causal;
};

extern const struct software software_cephalo_gpt;
extern const struct software software_cephalo_bert;
extern const struct software software_cephalo_vit;
extern const struct software software_cephalo_llama;
extern const struct software software_mpt;
extern const struct software software_megatron;
extern const struct software software_bert;

struct block {
    double width; /* C */
    double heads; /* H */
    double kv_heads;
    double inner; /* F */
    bool gated;
};

struct run {
    double batch; /* B; the mean of several where they were averaged */
    double sequence;
    enum yk_precision precision;
    bool flash;
};

/* Works with how often each is done. */
struct works {
    struct yk_kernel_work items[MOST_WORKS];
    double times[MOST_WORKS];
    int count;
};

double block_parameters(const struct block *block);

void add_forward(struct works *works, const struct software *software, const struct block *block,
                 const struct run *run, double times);
void add_backward(struct works *works, const struct software *software, const struct block *block,
                  const struct run *run, double times);

/* The language model's head and its loss, both ways. */
void add_head(struct works *works, const struct run *run, double width, double vocabulary);

/* A fused optimizer over parameters with their master copies and moments. */
void add_update(struct works *works, double parameters);

#endif
