/*
 * Written plan: a plan file as a person reads it, gpt2 on three devices, with all that a file can
 * say: strategies, an order, unequal parts. Tests of what is read edit it.
 *
 * `state` is that of cmocka; written_plan_make() and written_plan_unmake() are the setup and
 * teardown of a test.
 */
#ifndef YK_TESTS_WRITTEN_PLAN_H
#define YK_TESTS_WRITTEN_PLAN_H

#include "plan/plan_file.h"

/* With MODEL, CLUSTER and LINKS where hashes belong. */
extern const char written_plan_text[];

struct written_plan {
    struct yk_arena *arena;
    struct yk_cluster *cluster;
    struct yk_plan_file_context context;
    char *text; /* the file with the hashes put in */
};

int written_plan_make(void **state);
int written_plan_unmake(void **state);

/* `text` with the first `from` replaced by `to`, in the arena; the test fails where there is none.
 */
char *written_plan_replace(struct yk_arena *arena, const char *text, const char *from,
                           const char *to);

/* As a file with the name p.json. */
yk_status written_plan_read(void **state, const char *text, const struct yk_plan **out) YK_MUST_USE;

/* Refused as bad input with the sentence "p.json: <message>"; `what` says which text it was. */
#define assert_plan_refused(state, text, message, what)                                            \
    written_plan_assert_refused((state), (text), (message), (what), __FILE__, __LINE__)
void written_plan_assert_refused(void **state, const char *text, const char *message,
                                 const char *what, const char *file, int line);

/* The file with `from` turned into `to` is refused so. */
#define assert_edit_refused(from, to, message)                                                     \
    assert_plan_refused(state,                                                                     \
                        written_plan_replace(((struct written_plan *)*state)->arena,               \
                                             ((struct written_plan *)*state)->text, from, to),     \
                        message, to)

#endif
