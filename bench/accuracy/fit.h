/*
 * Fit: the efficiencies that make predictions of measurements least wrong.
 *
 * Few numbers are fitted, most of them shared by all devices: the rates of products in fp32, tf32
 * and 16 bit and of attention, how often operands are used again, what a product's beginning and
 * end cost, and the part of the memory's bandwidth. Each generation has two factors, on its fp32
 * and on its tensor rates, which are pulled towards 1: a generation that was not measured, or only
 * by the source that is left out, is taken to be like the others.
 *
 * What is minimised is the sum of |log(predicted / measured)|, which asks for small medians and
 * lets outliers be; a source counts as the square root of its rows.
 */
#ifndef YK_BENCH_ACCURACY_FIT_H
#define YK_BENCH_ACCURACY_FIT_H

#include "accuracy/measurement.h"

/* Fits on all measurements but those of the source `left_out` (NULL: none is). */
void fit_efficiencies(const struct measurement *measurements, size_t count, const char *left_out,
                      struct yk_device_efficiency out[YK_DEVICE_GENERATION_COUNT]);

/* Writes the rows as src/cost/efficiency.c has them. */
void fit_print(const struct yk_device_efficiency *efficiencies);

#endif
