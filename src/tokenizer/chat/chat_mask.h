/*
 * Chat mask: which parts of a rendered conversation, and which of its tokens, the assistant says. A
 * model is trained to say these.
 *
 * 1. If the template has {% generation %} blocks, the parts are what the blocks wrote, and tokens
 *    are found as transformers does for return_assistant_tokens_mask: from the first token that
 *    contains the first character of a part to the first token that contains its last character.
 *    If no token contains the first character, this part and all parts after it are left out; if no
 *    token but perhaps the first one of all contains the last character, all tokens to the end
 *    count.
 *
 * 2. Otherwise the parts follow from the difference between renderings. For message i, which is one
 *    of the assistant, let
 *      F be the rendering of all messages,
 *      R the rendering of the messages before i,
 *      P the same with add_generation_prompt,
 *      Q the rendering of the messages up to and including i,
 *      C the content of the message, without white space at both ends,
 *    and let the part of the previous answer end at byte E of F, and its Q be B; before the first
 *    answer, E is 0 and B is empty.
 *
 *    The part begins
 *      a) at the end of P, if F begins with P.
 *      b) If F begins with R, it is the prompt for an answer that is not what precedes this one:
 *         where F and P cease to be equal, but not before the end of R.
 *      c) Otherwise something before this answer is rendered in another way once more messages
 *         follow. If F continues at E as P does after B: after this.
 *      d) Otherwise, if P contains the content of the message before i: let G be what follows its
 *         last occurrence in P. Then after the first content + G in F from E on, or if there is
 *         none, after the first content and as much of G as follows it.
 *      e) Otherwise after as much of P after B as follows E in F, or, if P does not begin with B,
 *         where F and P cease to be equal, but not before E.
 *      f) If P cannot be rendered (no message precedes i, or the template refuses it): at the end
 * of R if F begins with R, else at the first C after E. If, in b), d) and e), the last bytes before
 * this place are the beginning of C, the part begins with C.
 *
 *    The part ends
 *      a) at the end of Q, if F begins with Q.
 *      b) Otherwise, if Q contains C within its answer, which begins where P and Q cease to be
 *         equal: let T be what follows the last C in Q. Then after the first C + T in F, or if
 *         there is none, after the first C and as much of T as follows it.
 *      c) Otherwise let the answer of Q and F from the beginning of the part on be equal up to some
 *         place. After the longest end of Q with which F continues from this place on, if it is not
 *         only white space;
 *      d) otherwise after what follows this place in Q, if this is not only white space and stands
 *         in F between this place and the first content of the next message after it;
 *      e) otherwise at this place, if not only white space is before it.
 *
 *    A token belongs to a part if it shares a byte with it.
 *
 * If these rules find no part for a message of the assistant, that is an error. The rules need up
 * to three renderings for each answer; how much they write and how many steps they take in all is
 * limited, so that a conversation of 1,000 messages is possible with usual templates, but not one
 * of 10,000. Rule 1 has no such limit.
 *
 * For a prompt and a completion that are lists of messages, the part is all of the completion: it
 * begins as that of the first message of the completion by rule 2, and ends at the end of F.
 */
#ifndef YK_TOKENIZER_CHAT_CHAT_MASK_H
#define YK_TOKENIZER_CHAT_CHAT_MASK_H

#include "base/status.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/token_ids.h"
#include "tokenizer/token_spans.h"
#include "tokenizer/tokenizer.h"

#include <stdbool.h>
#include <stdint.h>

/* Starts as {0}. */
struct yk_chat_answers {
    struct yk_jinja_span *items; /* parts of the rendering, in bytes */
    int32_t count;
    int32_t capacity;
    bool by_blocks; /* rule 1 */
};

void yk_chat_mask_free_answers(struct yk_chat_answers *answers);

/* What is rendered, and which of its messages are learned. */
struct yk_chat_mask_request {
    const struct yk_chat_template *chat;
    const struct yk_chat_conversation *conversation;
    const struct yk_jinja_output *whole; /* the rendering of all messages, with or without the
                                            beginning of another answer at its end */
    int64_t completion; /* index of the first message of the completion; −1 means: all messages of
                           the assistant are learned */
};

/* Finds the parts of `whole` that the assistant says. Replaces what `out` contains. */
yk_status yk_chat_mask_find_answers(const struct yk_chat_mask_request *request,
                                    struct yk_chat_answers *out) YK_MUST_USE;

/* Sets `out[i]` (count) to whether token i is one that the assistant says. `spans` (count) are the
 * places of the tokens in `text`, the rendering. */
void yk_chat_mask_mark_tokens(const struct yk_chat_answers *answers, const struct yk_text *text,
                              const struct yk_token_span *spans, int64_t count, bool *out);

#endif
