#include "support/support.h"

#include "measure/counters/dcgm_counters.h"
#include "support/files/other_programs.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* As dcgmi dmon -e 1002,1003,1004,1005 prints it. */
static const char lines[] = "#Entity   SMACT        SMOCC        TENSO        DRAMA       \n"
                            "ID                                                          \n"
                            "GPU 1     0.500        0.250        N/A          0.125       \n"
                            "GPU 1     0.750        N/A          N/A          0.375       \n";

static void clear(double values[YK_COUNTER_COUNT])
{
    for (int i = 0; i < YK_COUNTER_COUNT; i++) {
        values[i] = NAN;
    }
}

/* Of the lines above. */
static void assert_means(const double values[YK_COUNTER_COUNT])
{
    assert_true(values[YK_COUNTER_SM] == 0.625);
    assert_true(values[YK_COUNTER_OCCUPANCY] == 0.25);
    assert_true(isnan(values[YK_COUNTER_TENSOR]));
    assert_true(values[YK_COUNTER_DRAM] == 0.25);
}

static void lines_may_come_in_any_chunks(void **state)
{
    (void)state;
    for (size_t chunk = 1; chunk < sizeof lines; chunk++) {
        struct yk_dcgm_counters dcgm = {.gpu = 1};
        double values[YK_COUNTER_COUNT];
        clear(values);
        for (size_t i = 0; i < sizeof lines - 1; i += chunk) {
            const size_t left = sizeof lines - 1 - i;
            yk_dcgm_counters_parse_output(&dcgm, lines + i, left < chunk ? left : chunk);
        }
        yk_dcgm_counters_read(&dcgm, values);
        assert_means(values);
    }
}

static void a_line_counts_once(void **state)
{
    (void)state;
    struct yk_dcgm_counters dcgm = {.gpu = 1};
    double values[YK_COUNTER_COUNT];
    yk_dcgm_counters_parse_output(&dcgm, lines, sizeof lines - 1);
    yk_dcgm_counters_read(&dcgm, values);
    clear(values);
    yk_dcgm_counters_read(&dcgm, values);
    assert_true(isnan(values[YK_COUNTER_SM]));
}

static void columns_are_known_by_their_titles(void **state)
{
    (void)state;
    static const char text[] = "# Entity  DRAMA  GRACT  SMACT\n"
                               "      Id\n"
                               "    GPU 1  0.5  0.9  0.25\n"
                               "    GPU 0  0.1  0.1  0.1\n"
                               "    GPU 11  0.1  0.1  0.1\n"
                               "Error: something\n"
                               "\n";
    struct yk_dcgm_counters dcgm = {.gpu = 1};
    double values[YK_COUNTER_COUNT];
    clear(values);
    yk_dcgm_counters_parse_output(&dcgm, text, sizeof text - 1);
    yk_dcgm_counters_read(&dcgm, values);
    assert_true(values[YK_COUNTER_SM] == 0.25);
    assert_true(values[YK_COUNTER_DRAM] == 0.5);
    assert_true(isnan(values[YK_COUNTER_OCCUPANCY]));
}

static void an_endless_line_does_no_harm(void **state)
{
    (void)state;
    struct yk_dcgm_counters dcgm = {.gpu = 1};
    double values[YK_COUNTER_COUNT];
    clear(values);
    for (int i = 0; i < 10000; i++) {
        yk_dcgm_counters_parse_output(&dcgm, "#Entity x ", 10);
    }
    yk_dcgm_counters_parse_output(&dcgm, "\n", 1);
    yk_dcgm_counters_parse_output(&dcgm, lines, sizeof lines - 1);
    yk_dcgm_counters_read(&dcgm, values);
    assert_means(values);
}

static void assert_described(const struct yk_dcgm_counters *dcgm, const char *sentence)
{
    struct yk_text text = {0};
    yk_dcgm_counters_describe(dcgm, &text);
    assert_string_equal(yk_text_chars(&text), sentence);
    yk_text_free(&text);
}

/* In place, which takes no memory that nobody gives back. */
static void set_path(const char *sentence)
{
    static char assignment[4096];
    (void)snprintf(assignment, sizeof assignment, "PATH=%s", sentence);
    (void)putenv(assignment);
}

/* Starts `script` as dcgmi, which is all that PATH has, and reads until it has ended or given a
 * line of values. */
static void start_script(struct yk_dcgm_counters *dcgm, const char *script, double *values)
{
    char *folder = outside_make_folder();
    if (script) {
        outside_write(folder, "dcgmi", script);
    }
    set_path(folder);
    clear(values);
    yk_dcgm_counters_start(dcgm, 1);
    while (dcgm->child > 0 && !dcgm->ended && dcgm->lines == 0) {
        yk_dcgm_counters_read(dcgm, values);
        (void)sched_yield();
    }
    set_path("/usr/bin:/bin");
    outside_remove(folder);
}

static void a_running_dcgmi_is_read_and_ended(void **state)
{
    (void)state;
    struct yk_dcgm_counters dcgm = {0};
    double values[YK_COUNTER_COUNT];
    start_script(&dcgm,
                 "#!/bin/sh\n"
                 "[ \"$*\" = 'dmon -e 1002,1003,1004,1005 -d 100 -i 1' ] || exit 1\n"
                 "printf '#Entity SMACT DRAMA\nID\nGPU 1 0.5 0.125\n'\n"
                 "exec /bin/sleep 1000\n",
                 values);
    const pid_t child = dcgm.child;
    assert_true(child > 0);
    assert_true(values[YK_COUNTER_SM] == 0.5);
    assert_true(values[YK_COUNTER_DRAM] == 0.125);
    yk_dcgm_counters_stop(&dcgm);
    assert_int_equal(kill(child, 0), -1);
    assert_int_equal(errno, ESRCH);
    yk_dcgm_counters_stop(&dcgm);
    assert_described(&dcgm, "DCGM every 100 ms");
}

static void a_dcgmi_with_no_values_is_reported(void **state)
{
    (void)state;
    struct yk_dcgm_counters dcgm = {0};
    double values[YK_COUNTER_COUNT];
    start_script(&dcgm, "#!/bin/sh\necho 'Error: unable to establish a connection'\nexit 1\n",
                 values);
    assert_true(dcgm.ended);
    yk_dcgm_counters_stop(&dcgm);
    assert_true(isnan(values[YK_COUNTER_SM]));
    assert_described(&dcgm, "DCGM: dcgmi gave no values (does nv-hostengine run?)");
    start_script(&dcgm, NULL, values);
    assert_described(&dcgm, "DCGM: dcgmi is not installed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_may_come_in_any_chunks),
        cmocka_unit_test(a_line_counts_once),
        cmocka_unit_test(columns_are_known_by_their_titles),
        cmocka_unit_test(an_endless_line_does_no_harm),
        cmocka_unit_test(a_running_dcgmi_is_read_and_ended),
        cmocka_unit_test(a_dcgmi_with_no_values_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
