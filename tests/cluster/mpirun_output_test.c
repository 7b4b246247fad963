/* What mpirun says is what Open MPI 4.1.4 said when ranks were ended in these ways. */
#include "support/support.h"

#include "cluster/mpirun_output.h"

#include <signal.h>
#include <string.h>

#define FENCE "--------------------------------------------------------------------------\n"
#define OVER                                                                                       \
    FENCE "Primary job  terminated normally, but 1 process returned\n"                             \
          "a non-zero exit code. Per user-direction, the job has been aborted.\n" FENCE
#define KILLED                                                                                     \
    FENCE "mpirun noticed that process rank 2 with PID 0 on node vm exited on signal 9 "           \
          "(Killed).\n" FENCE
#define EXITED                                                                                     \
    FENCE "mpirun detected that one or more processes exited with non-zero status, thus causing\n" \
          "the job to be terminated. The first process to do so was:\n\n"                          \
          "  Process name: [[22066,1],2]\n  Exit code:    75\n" FENCE
#define IMPROPER                                                                                   \
    FENCE "mpirun has exited due to process rank 2 with PID 0 on\nnode vm exiting improperly. "    \
          "There are three reasons this could occur:\n" FENCE
#define ABORTED                                                                                    \
    FENCE "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 6.\n\n"  \
          "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n" FENCE

/* Hears `said` in pieces of `chunk` bytes; `out` is what was passed on. */
static void hear(struct yk_mpirun_output_parser *talk, const char *said, size_t chunk,
                 struct yk_text *out)
{
    const size_t length = strlen(said);
    for (size_t at = 0; at < length; at += chunk) {
        yk_mpirun_output_parse(talk, said + at, length - at < chunk ? length - at : chunk, out);
    }
    yk_mpirun_output_finish(talk, out);
}

static yk_status judge(const char *said, struct yk_mpirun_exit_state end)
{
    struct yk_mpirun_output_parser talk = {0};
    struct yk_text out = {0};
    hear(&talk, said, 7, &out);
    const yk_status status = yk_mpirun_output_status_of_run(&talk, &end);
    yk_text_free(&out);
    yk_mpirun_output_free(&talk);
    return status;
}

static void ranks_are_heard_and_mpirun_is_not(void **state)
{
    (void)state;
    static const char said[] =
        "step 1\n\n" OVER "- a list\n[a bracket] of a rank\nmpirun: Forwarding signal 10 to job\n"
        "[vm:15152] [[22478,0],0] ORTE_ERROR_LOG: Out of resource in file show_help.c at line 501\n"
        "[vm:15152] 3 more processes have sent help message help-mpi-api.txt / mpi-abort\n"
        "[vm:16211] Read -1, expected 28272, errno = 3\n" KILLED "mp3 files\nlast";
    for (size_t chunk = 1; chunk < 100; chunk += 3) {
        struct yk_mpirun_output_parser talk = {0};
        struct yk_text out = {0};
        hear(&talk, said, chunk, &out);
        assert_string_equal(yk_text_chars(&out),
                            "step 1\n\n- a list\n[a bracket] of a rank\nmp3 files\nlast");
        yk_text_free(&out);
        yk_mpirun_output_free(&talk);
    }
}

static void line_that_has_not_ended_is_passed_on_at_once(void **state)
{
    (void)state;
    struct yk_mpirun_output_parser talk = {0};
    struct yk_text out = {0};
    static const char progress[] = "\r\033[Kstep 12 of 50";
    yk_mpirun_output_parse(&talk, progress, sizeof progress - 1, &out);
    assert_string_equal(yk_text_chars(&out), progress);
    yk_text_free(&out);
    yk_mpirun_output_free(&talk);
}

static void sentence_of_a_rank_within_a_banner_is_heard(void **state)
{
    (void)state;
    struct yk_mpirun_output_parser talk = {0};
    struct yk_text out = {0};
    hear(&talk, FENCE "There are not\nyoke: rank 1: no file\nenough slots\n" FENCE, 5, &out);
    assert_string_equal(yk_text_chars(&out), "yoke: rank 1: no file\n");
    yk_text_free(&out);
    yk_mpirun_output_free(&talk);
}

static void killed_rank_is_named_with_its_signal(void **state)
{
    (void)state;
    const struct yk_mpirun_exit_state end = {.code = 137};
    assert_int_equal(judge("step 1\n" OVER KILLED, end), YK_ERROR_LOST);
    assert_non_null(strstr(yk_status_message(), "rank 2 on vm was ended by signal 9 (Killed)"));
    assert_int_equal(judge(IMPROPER, (struct yk_mpirun_exit_state){.code = 1}), YK_ERROR_LOST);
    assert_non_null(strstr(yk_status_message(), "rank 2 on vm ended without a word"));
}

#define REPORTED "rank 2 has ended; it was last seen in forward embed; start again with --resume"

static void how_a_rank_ended_and_what_it_was_in_are_one_sentence(void **state)
{
    (void)state;
    static const char *const said[] = {
        "yoke: " REPORTED "\n" KILLED,
        "\r\033[Kstep 3\r\033[Kyoke: rank 1: " REPORTED "\n" OVER KILLED,
        FENCE "yoke: " REPORTED "\n" FENCE KILLED,
    };
    for (size_t i = 0; i < 3; i++) {
        struct yk_mpirun_output_parser talk = {0};
        struct yk_text out = {0};
        hear(&talk, said[i], 3, &out);
        assert_null(strstr(yk_text_chars(&out), "ended"));
        assert_int_equal(
            yk_mpirun_output_status_of_run(&talk, &(struct yk_mpirun_exit_state){.code = 137}),
            YK_ERROR_LOST);
        assert_string_equal(yk_status_message(),
                            "rank 2 on vm was ended by signal 9 (Killed); it was last seen in "
                            "forward embed; start again with --resume");
        yk_text_free(&out);
        yk_mpirun_output_free(&talk);
    }
}

static void rank_that_mpirun_does_not_name_is_named_by_the_others(void **state)
{
    (void)state;
    assert_int_equal(judge("yoke: " REPORTED "\n", (struct yk_mpirun_exit_state){.code = 6}),
                     YK_ERROR_LOST);
    assert_string_equal(yk_status_message(), REPORTED);
    assert_int_equal(
        judge("yoke: " REPORTED "\n" ABORTED, (struct yk_mpirun_exit_state){.code = 6}),
        YK_ERROR_LOST);
    assert_string_equal(yk_status_message(), REPORTED);
    /* Of another rank than the one that was killed it says nothing. */
    assert_int_equal(judge("yoke: rank 0 has ended; it was in x\n" KILLED,
                           (struct yk_mpirun_exit_state){.code = 137}),
                     YK_ERROR_LOST);
    assert_null(strstr(yk_status_message(), "in x"));
    assert_non_null(strstr(yk_status_message(), "--resume"));
    /* One that hangs is said at once; that mpirun ends it afterwards is no news. */
    static const char hangs[] = "yoke: rank 1: rank 2 has not been heard of for 30 s; --resume\n";
    struct yk_text both = {0};
    yk_text_addf(&both, "%syoke: " REPORTED "\n%s", hangs, KILLED);
    assert_int_equal(judge(yk_text_chars(&both), (struct yk_mpirun_exit_state){.code = 137}),
                     YK_ERROR_LOST);
    assert_string_equal(yk_status_message(), "");
    assert_int_equal(judge(hangs, (struct yk_mpirun_exit_state){.code = 6}), YK_ERROR_LOST);
    assert_string_equal(yk_status_message(), "");
    yk_text_free(&both);
    /* Ranks that gave up have said why, and that they are gone is no news. */
    assert_int_equal(
        judge("yoke: no file\nyoke: " REPORTED "\n", (struct yk_mpirun_exit_state){.code = 4}),
        YK_ERROR_INPUT);
    assert_string_equal(yk_status_message(), "");
}

static void first_of_several_is_the_one_that_counts(void **state)
{
    (void)state;
    const struct yk_mpirun_exit_state end = {.code = 75};
    assert_int_equal(judge(OVER EXITED KILLED, end), YK_ERROR_STOPPED);
    assert_int_equal(judge(OVER KILLED EXITED, end), YK_ERROR_LOST);
}

static void code_that_ranks_agreed_on_needs_no_more_words(void **state)
{
    (void)state;
    assert_int_equal(judge("", (struct yk_mpirun_exit_state){0}), YK_OK);
    assert_int_equal(judge(OVER EXITED, (struct yk_mpirun_exit_state){.code = 75}),
                     YK_ERROR_STOPPED);
    assert_string_equal(yk_status_message(), "");
    assert_int_equal(judge(ABORTED, (struct yk_mpirun_exit_state){.code = 6}), YK_ERROR_LOST);
    assert_string_equal(yk_status_message(), "");
    assert_int_equal(judge("", (struct yk_mpirun_exit_state){.code = 5}), YK_ERROR_NUMBERS);
    assert_string_equal(yk_status_message(), "");
}

static void signal_before_ranks_were_ready_stops_and_saves_nothing(void **state)
{
    (void)state;
    static const char early[] = FENCE "mpirun noticed that process rank 0 with PID 0 on node vm "
                                      "exited on signal 10 (User defined signal 1).\n" FENCE;
    const struct yk_mpirun_exit_state asked = {.code = 138, .stopped = true};
    assert_int_equal(judge(early, asked), YK_ERROR_STOPPED);
    assert_non_null(strstr(yk_status_message(), "nothing new was saved"));
    assert_int_equal(judge(early, (struct yk_mpirun_exit_state){.code = 138}), YK_ERROR_LOST);
    assert_int_equal(judge("", (struct yk_mpirun_exit_state){.signal = SIGUSR1, .stopped = true}),
                     YK_ERROR_STOPPED);
    assert_int_equal(judge("", (struct yk_mpirun_exit_state){.signal = SIGKILL}), YK_ERROR_LOST);
}

static void trouble_of_its_own_is_one_sentence(void **state)
{
    (void)state;
    static const char slots[] =
        FENCE "There are not enough slots available in the system to satisfy the 300\n"
              "slots that were requested by the application:\n\n  ./rank\n\nEither request "
              "fewer.\n" FENCE;
    assert_int_equal(judge(slots, (struct yk_mpirun_exit_state){.code = 1}), YK_ERROR_SYSTEM);
    assert_string_equal(yk_status_message(),
                        "mpirun cannot start the ranks: There are not enough slots available in "
                        "the system to satisfy the 300 slots that were requested by the "
                        "application");
    assert_int_equal(judge("", (struct yk_mpirun_exit_state){.code = 213}), YK_ERROR_SYSTEM);
    assert_non_null(strstr(yk_status_message(), "exit code 213"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_heard_and_mpirun_is_not),
        cmocka_unit_test(line_that_has_not_ended_is_passed_on_at_once),
        cmocka_unit_test(sentence_of_a_rank_within_a_banner_is_heard),
        cmocka_unit_test(killed_rank_is_named_with_its_signal),
        cmocka_unit_test(how_a_rank_ended_and_what_it_was_in_are_one_sentence),
        cmocka_unit_test(rank_that_mpirun_does_not_name_is_named_by_the_others),
        cmocka_unit_test(first_of_several_is_the_one_that_counts),
        cmocka_unit_test(code_that_ranks_agreed_on_needs_no_more_words),
        cmocka_unit_test(signal_before_ranks_were_ready_stops_and_saves_nothing),
        cmocka_unit_test(trouble_of_its_own_is_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
