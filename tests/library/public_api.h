/* Public API: cmocka, the public headers, and helpers of the tests. Includes no header of src/. */
#ifndef YK_TESTS_LIBRARY_PUBLIC_API_H
#define YK_TESTS_LIBRARY_PUBLIC_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <yoke/yoke.h>

/* Fails the test with the message unless the call succeeds. */
#define assert_done(call)                                                                          \
    do {                                                                                           \
        if ((call) != YOKE_OK) {                                                                   \
            fail_msg("%s: %s", #call, yoke_message());                                             \
        }                                                                                          \
    } while (0)

/* Checks the status and the complete message. */
#define assert_says(call, status, message)                                                         \
    do {                                                                                           \
        assert_int_equal((call), (status));                                                        \
        assert_string_equal(yoke_message(), (message));                                            \
    } while (0)

/* Checks the status and that the message contains `words`. */
#define assert_mentions(call, status, words)                                                       \
    do {                                                                                           \
        assert_int_equal((call), (status));                                                        \
        assert_contains(yoke_message(), (words));                                                  \
    } while (0)

#define assert_contains(text, words)                                                               \
    do {                                                                                           \
        if (!strstr((text), (words))) {                                                            \
            fail_msg("\"%s\" is not in \"%.200s\"", (words), (text));                              \
        }                                                                                          \
    } while (0)

#define assert_near(actual, expected)                                                              \
    do {                                                                                           \
        const double actual_ = (actual);                                                           \
        const double expected_ = (expected);                                                       \
        if (!(fabs(actual_ - expected_) <= 1e-9 * fabs(expected_))) {                              \
            fail_msg("%s is %.17g, not %.17g", #actual, actual_, expected_);                       \
        }                                                                                          \
    } while (0)

/* Checks how a text begins and ends, and frees it. */
static inline void check_text(char *text, const char *beginning, const char *end)
{
    const size_t length = strlen(text);
    assert_true(length > strlen(beginning) + strlen(end));
    if (strncmp(text, beginning, strlen(beginning)) != 0) {
        fail_msg("the text does not begin with %s: %.60s", beginning, text);
    }
    if (strcmp(text + length - strlen(end), end) != 0) {
        fail_msg("the text does not end in %s: %s", end, text + length - strlen(end));
    }
    yoke_free(text);
}

/* A request for gpt2 on `devices`. The default sample has 1024 tokens. */
static inline yoke_request *ask_for(const struct yoke_workload *workload, const char *devices)
{
    yoke_model *model = NULL;
    yoke_cluster *cluster = NULL;
    yoke_request *request = NULL;
    assert_done(yoke_model_open("gpt2", workload, &model));
    assert_done(yoke_cluster_open(devices, &cluster));
    assert_done(yoke_request_create(model, cluster, &request));
    yoke_cluster_destroy(cluster); /* the request retains both */
    yoke_model_destroy(model);
    return request;
}

static inline yoke_request *ask(const char *devices, int64_t batch)
{
    const struct yoke_workload workload = {.batch = batch};
    return ask_for(&workload, devices);
}

#endif
