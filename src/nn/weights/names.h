/*
 * Weights names: under which names a parameter may be kept in a file, besides its own: older ones,
 * those of a model saved without its head, and copies of a tied tensor.
 */
#ifndef YK_NN_WEIGHTS_NAMES_H
#define YK_NN_WEIGHTS_NAMES_H

#include "base/arena.h"
#include "base/status.h"
#include "nn/net.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    YK_WEIGHTS_MAX_NAMES = 4
};

struct yk_weights_names {
    const char *names[YK_WEIGHTS_MAX_NAMES]; /* its own first; NULL after the last */
};

/* What is not a part of the parameter's own name is in `arena`. */
yk_status yk_weights_list_names(const struct yk_parameter *parameter, struct yk_arena *arena,
                                struct yk_weights_names *out) YK_MUST_USE;

/* The name of copy `number` of a parameter that the net has once and the framework under several
 * names; NULL past the last. */
const char *yk_weights_copy_name(const struct yk_net *net, const char *parameter, int32_t number);

/* Whether a tensor is a constant that the framework used to save with the weights. */
bool yk_weights_is_buffer_name(const char *name);

#endif
