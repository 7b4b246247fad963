/*
 * Masked sampler: samples for masked language modelling, as BERT was trained (Devlin et al., 2018).
 * A sample is [CLS], T - 2 tokens of a corpus, [SEP]. Each token that is not special is chosen with
 * a probability of 15 %, and one is chosen if none was. Of the chosen tokens, 80 % become [MASK],
 * 10 % become a random token that is not special, and 10 % stay. The targets are the original
 * tokens at the chosen positions.
 *
 * In training, the windows are shuffled (struct yk_sampler_windows), each occurs exactly once per
 * epoch, and every epoch has other masks; seed and sample number determine all of it. In evaluation
 * (sequential), windows occur in data order and always have the same masks. The last one may be
 * shorter; it is padded after its [SEP].
 */
#ifndef YK_DATA_MASKED_SAMPLER_H
#define YK_DATA_MASKED_SAMPLER_H

#include "data/corpus.h"
#include "data/sampler.h"
#include "tokenizer/tokenizer.h"

/* The token ids that masking needs. */
struct yk_masked_sampler_tokens {
    int32_t class_id;
    int32_t separator_id;
    int32_t mask_id;
    int32_t pad_id;
    int32_t count; /* of all tokens of the vocabulary */
    int32_t
        special[YK_TOKEN_ROLE_COUNT]; /* ascending; never chosen, and never a random replacement */
    int32_t special_count;
};

struct yk_masked_sampler_request {
    struct yk_corpus_range range;
    struct yk_masked_sampler_tokens tokens;
    struct yk_sampler_options options; /* T is at least 3 */
};

/* Finds the tokens of a tokenizer. A token with a role (enum yk_token_role) is special. Fails if
 * the tokenizer has no [CLS], [SEP] or [MASK]. */
yk_status yk_masked_sampler_find_tokens(const struct yk_tokenizer *tokenizer,
                                        struct yk_masked_sampler_tokens *out) YK_MUST_USE;

/* Fails if the range has fewer than T - 2 tokens or, if sequential, none. */
yk_status yk_masked_sampler_create(const struct yk_masked_sampler_request *request,
                                   struct yk_sampler **out) YK_MUST_USE;

#endif
