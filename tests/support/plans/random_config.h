/*
 * Random config: the config.json of a small model of any family that can be trained, with what sets
 * the family apart drawn at random: windows shorter than a sequence of 8 tokens, norms of queries
 * and keys, caps, blocks without rotary positions, kinds of rotary positions, multipliers, biases,
 * tied or not.
 */
#ifndef YK_TESTS_RANDOM_CONFIG_H
#define YK_TESTS_RANDOM_CONFIG_H

#include "base/random.h"
#include "base/text.h"

enum {
    RANDOM_CONFIG_FAMILIES = 19,
};

/* The "model_type" of a family. */
const char *random_config_family(int family);

/* Appends a config.json of that family. */
void random_config_draw(struct yk_random *random, int family, struct yk_text *out);

#endif
