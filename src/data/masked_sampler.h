/*
 * Masked sampler: samples are windows of a corpus in which tokens are masked, as BERT was trained
 * (Devlin et al., 2018): [CLS], T - 2 tokens of the corpus, [SEP]. Of the tokens that are not
 * special, each is chosen with a probability of 15 %, and one where none was. Of those chosen, 80 %
 * become [MASK], 10 % any token that is not special, and 10 % stay. The targets are the original
 * tokens at the chosen places, and none elsewhere.
 *
 * In training, the windows of an epoch lie end to end from a phase on that differs from epoch to
 * epoch, and each comes exactly once, in an order that differs too; each epoch masks anew. All of
 * it follows from seed and sample. In evaluation (sequential) the windows lie end to end from the
 * first token on, come in order, and are masked the same each time; the last one, where it is
 * shorter, is padded behind its [SEP].
 */
#ifndef YK_DATA_MASKED_SAMPLER_H
#define YK_DATA_MASKED_SAMPLER_H

#include "data/corpus.h"
#include "data/sampler.h"
#include "tokenizer/tokenizer.h"

/* Tokens by what they are for. */
struct yk_masked_sampler_tokens {
    int32_t class_id;
    int32_t separator_id;
    int32_t mask_id;
    int32_t pad_id;
    int32_t count;                   /* of all tokens there are */
    int32_t special[YK_TOKEN_ROLES]; /* rising: never chosen, and never put in another's place */
    int32_t special_count;
};

struct yk_masked_sampler_request {
    struct yk_corpus_range range;
    struct yk_masked_sampler_tokens tokens;
    struct yk_sampler_options options; /* T is at least 3 */
};

/* Those of a tokenizer; special are those that have a role. Refuses one that has no [CLS], [SEP] or
 * [MASK], by the token's name. */
yk_status yk_masked_sampler_find_tokens(const struct yk_tokenizer *tokenizer,
                                        struct yk_masked_sampler_tokens *out) YK_MUST_USE;

/* Refuses a range of fewer than T - 2 tokens, in order one of none. */
yk_status yk_masked_sampler_create(const struct yk_masked_sampler_request *request,
                                   struct yk_sampler **out) YK_MUST_USE;

#endif
