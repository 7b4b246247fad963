/*
 * Small store: a tiny model with weights and optimizer state, on a device without threads: what is
 * put on its lane is done at once. A test may fork while it has one. Whatever cannot be made fails
 * the test.
 */
#ifndef YK_TESTS_SMALL_STORE_H
#define YK_TESTS_SMALL_STORE_H

#include "base/arena.h"
#include "nn/store/parameter_store.h"

#include <stdbool.h>
#include <stdint.h>

/* Complete before main() begins; nothing changes them. */
extern struct yk_model_config small_gpt;      /* tied */
extern struct yk_model_config small_gpt_free; /* with a head of its own */
extern struct yk_model_config small_llama;
extern struct yk_model_config small_multimodal; /* small_llama, but for names */
extern struct yk_model_config small_neox;
extern struct yk_model_config small_bert;      /* tied */
extern struct yk_model_config small_bert_free; /* with a head of its own */
extern struct yk_model_config small_roberta;
extern struct yk_model_config small_marian;      /* one table for everything */
extern struct yk_model_config small_marian_two;  /* another for the source */
extern struct yk_model_config small_marian_free; /* three, and one that is idle */

struct small_store_request {
    const struct yk_model_config *config;
    enum yk_precision precision;
    int64_t lora_rank;
    double lora_alpha;
    bool nf4;
    enum yk_optimizer_kind optimizer;
};

struct small_store {
    struct yk_arena *arena;
    struct yk_net *net;
    struct yk_parameter_store *store;
};

struct small_store small_store_open(const struct small_store_request *request);
void small_store_close(struct small_store *small);

/* Gives every weight and every number of the optimizer's state a value that depends on the seed. */
void small_store_fill(const struct small_store *small, uint64_t seed);

/* The first tensor that two stores of the same wish do not hold bit for bit alike; NULL: none. With
 * `state`, the optimizer's state counts as well. */
const char *small_store_difference(const struct small_store *a, const struct small_store *b,
                                   bool state);

/* The numbers of a parameter, in the arena. */
const float *small_store_numbers(const struct small_store *small, const char *name);

#endif
