#include "support/support.h"

#include "cluster/launcher.h"

#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "SLURM_NODEID",
    "SLURM_TASKS_PER_NODE",
    "SLURM_STEP_TASKS_PER_NODE",
    "PMIX_RANK",
    "SLURM_CPU_BIND_TYPE",
    "OMPI_MCA_orte_bound_at_launch",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_USE_AGENT_STORE",
};

static int forget_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        unsetenv(variables[i]);
    }
    return 0;
}

/* Variables and values in turn, ended by NULL. */
static void set(const char *const *text)
{
    for (; text[0]; text += 2) {
        assert_int_equal(setenv(text[0], text[1], 1), 0);
    }
}

static void expect(const struct yk_launcher *found, int rank, int size, int local_rank,
                   int local_size)
{
    assert_int_equal(found->rank, rank);
    assert_int_equal(found->size, size);
    assert_int_equal(found->local_rank, local_rank);
    assert_int_equal(found->local_size, local_size);
}

static void process_that_no_launcher_started_is_alone(void **state)
{
    (void)state;
    struct yk_launcher found;
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_null(found.name);
    expect(&found, 0, 1, 0, 1);
}

/* As `mpirun --host one:2,two:1` sets them for its last rank. */
static void mpirun_numbers_ranks_of_unequal_hosts(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "3",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "0", "OMPI_COMM_WORLD_LOCAL_SIZE", "1",
                         NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_string_equal(found.name, "mpirun");
    expect(&found, 2, 3, 0, 1);
}

/* Four nodes, three of them with two tasks. */
static void srun_reports_how_many_are_on_this_node(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "5", "SLURM_NTASKS", "7",
                         "SLURM_LOCALID", "1", "SLURM_NODEID", "2", "SLURM_TASKS_PER_NODE",
                         "2(x3),1", "PMIX_RANK", "5", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_string_equal(found.name, "srun");
    expect(&found, 5, 7, 1, 2);
    set((const char *[]){"SLURM_PROCID", "6", "SLURM_LOCALID", "0", "SLURM_NODEID", "3", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    expect(&found, 6, 7, 0, 1);
}

static void step_goes_before_its_job(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "1", "SLURM_PROCID", "1", "SLURM_NTASKS", "3",
                         "SLURM_LOCALID", "1", "SLURM_NODEID", "0", "SLURM_TASKS_PER_NODE", "8",
                         "SLURM_STEP_TASKS_PER_NODE", "3", "PMIX_RANK", "1", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    expect(&found, 1, 3, 1, 3);
}

static void launchers_report_whether_they_bound_the_rank(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "1", "SLURM_PROCID", "0", "SLURM_NTASKS", "1",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "0", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_false(found.is_bound_to_cores);
    set((const char *[]){"SLURM_CPU_BIND_TYPE", "none", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_false(found.is_bound_to_cores);
    set((const char *[]){"SLURM_CPU_BIND_TYPE", "mask_cpu:", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_true(found.is_bound_to_cores);
    set((const char *[]){"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "0", "OMPI_COMM_WORLD_LOCAL_SIZE", "1",
                         NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_false(found.is_bound_to_cores);
    set((const char *[]){"OMPI_MCA_orte_bound_at_launch", "1", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_true(found.is_bound_to_cores);
}

static void batch_script_is_no_rank(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_LOCALID", "0", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_OK);
    assert_null(found.name);
    expect(&found, 0, 1, 0, 1);
}

static void tasks_that_cannot_meet_are_refused(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "0", "SLURM_NTASKS", "2",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "0", NULL});
    assert_int_equal(yk_launcher_detect(&found), YK_ERROR_INPUT);
    assert_non_null(strstr(yk_status_message(), "--mpi=pmix"));
}

static void numbers_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"OMPI_COMM_WORLD_RANK", "2"},           {"OMPI_COMM_WORLD_RANK", "-1"},
        {"OMPI_COMM_WORLD_RANK", "1x"},          {"OMPI_COMM_WORLD_SIZE", "0"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},     {"OMPI_COMM_WORLD_LOCAL_SIZE", "3"},
        {"OMPI_COMM_WORLD_SIZE", "99999999999"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct yk_launcher found = {.rank = -7};
        set((const char *[]){"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2",
                             "OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                             NULL});
        assert_int_equal(yk_launcher_detect(&found), YK_OK);
        found.rank = -7;
        set((const char *[]){wrong[i][0], wrong[i][1], NULL});
        assert_int_equal(yk_launcher_detect(&found), YK_ERROR_INPUT);
        assert_int_equal(found.rank, -7);
    }
}

static void expect_master(const struct yk_launcher *found, const char *name, const char *address,
                          int port)
{
    assert_string_equal(found->name, name);
    assert_true(found->uses_rendezvous);
    assert_string_equal(found->address, address);
    assert_int_equal(found->port, port);
}

/* What PyTorch's agent sets for the second process of the second of two machines, whose own store
 * listens at MASTER_PORT. */
static const char *const torchrun[] = {"RANK",
                                       "3",
                                       "WORLD_SIZE",
                                       "4",
                                       "LOCAL_RANK",
                                       "1",
                                       "LOCAL_WORLD_SIZE",
                                       "2",
                                       "MASTER_ADDR",
                                       "node1",
                                       "MASTER_PORT",
                                       "29400",
                                       "TORCHELASTIC_RUN_ID",
                                       "none",
                                       "TORCHELASTIC_USE_AGENT_STORE",
                                       "True",
                                       NULL};

static void torchrun_reports_where_ranks_meet(void **state)
{
    (void)state;
    struct yk_launcher found;
    set(torchrun);
    assert_ok(yk_launcher_detect(&found));
    expect(&found, 3, 4, 1, 2);
    expect_master(&found, "torchrun", "node1", 29401);
    set((const char *[]){"TORCHELASTIC_USE_AGENT_STORE", "False", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect_master(&found, "torchrun", "node1", 29400);
    set((const char *[]){"TORCHELASTIC_USE_AGENT_STORE", "True", "MASTER_PORT", "65535", NULL});
    assert_ok(yk_launcher_detect(&found));
    assert_int_equal(found.port, 65534);
}

/* mpirun or srun may start torchrun, once for each machine. */
static void torchrun_goes_before_those_that_started_it(void **state)
{
    (void)state;
    struct yk_launcher found;
    set(torchrun);
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "1", "SLURM_NTASKS", "2",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "1", "PMIX_RANK", "1", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect(&found, 3, 4, 1, 2);
    set((const char *[]){"OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "0", "OMPI_COMM_WORLD_LOCAL_SIZE", "1",
                         NULL});
    assert_ok(yk_launcher_detect(&found));
    assert_string_equal(found.name, "torchrun");
}

static void plain_variables_are_enough(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"RANK", "2", "WORLD_SIZE", "3", "MASTER_ADDR", "10.0.0.1", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect(&found, 2, 3, 0, 1);
    expect_master(&found, "env", "10.0.0.1", 29500);
    set((const char *[]){"LOCAL_RANK", "1", "MASTER_PORT", "4000", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect(&found, 2, 3, 1, 2);
    expect_master(&found, "env", "10.0.0.1", 4000);
    set((const char *[]){"RANK", "0", "WORLD_SIZE", "1", "LOCAL_RANK", "0", NULL});
    assert_ok(yk_launcher_detect(&found));
    assert_false(found.uses_rendezvous);
    expect(&found, 0, 1, 0, 1);
}

static void plain_variables_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"RANK", "3"},        {"RANK", "x"},       {"WORLD_SIZE", "0"},
        {"LOCAL_RANK", "-1"}, {"LOCAL_RANK", "3"}, {"MASTER_PORT", "70000"},
        {"MASTER_PORT", "0"}, {"MASTER_ADDR", ""}, {"WORLD_SIZE", ""},
        {"RANK", ""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct yk_launcher found;
        (void)forget_all(NULL);
        set((const char *[]){"RANK", "2", "WORLD_SIZE", "3", "MASTER_ADDR", "node1", NULL});
        assert_ok(yk_launcher_detect(&found));
        set((const char *[]){wrong[i][0], wrong[i][1], NULL});
        assert_int_equal(yk_launcher_detect(&found), YK_ERROR_INPUT);
    }
}

static void mpirun_goes_before_plain_variables(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"RANK", "2", "WORLD_SIZE", "3", "MASTER_ADDR", "node1",
                         "OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                         NULL});
    assert_ok(yk_launcher_detect(&found));
    assert_string_equal(found.name, "mpirun");
    assert_false(found.uses_rendezvous);
    expect(&found, 1, 2, 1, 2);
}

static void srun_with_no_pmix_meets_at_the_master(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "2", "SLURM_NTASKS", "3",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "1", "SLURM_TASKS_PER_NODE", "2,1",
                         "MASTER_ADDR", "node1", "MASTER_PORT", "4000", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect(&found, 2, 3, 0, 1);
    expect_master(&found, "srun", "node1", 4000);
    set((const char *[]){"PMIX_RANK", "2", "RANK", "2", "WORLD_SIZE", "3", NULL});
    assert_ok(yk_launcher_detect(&found));
    assert_string_equal(found.name, "srun");
    assert_false(found.uses_rendezvous);
    /* A step of one task in which somebody starts ranks of his own. */
    set((const char *[]){"SLURM_NTASKS", "1", "SLURM_PROCID", "0", NULL});
    assert_ok(yk_launcher_detect(&found));
    expect_master(&found, "env", "node1", 4000);
}

static void a_person_may_say_it(void **state)
{
    (void)state;
    static const struct {
        const char *master;
        const char *address;
        int port;
    } cases[] = {
        {"node1:4000", "node1", 4000},   {"node1", "node1", 29500},
        {"10.0.0.1:1", "10.0.0.1", 1},   {"[fe80::1]:4000", "fe80::1", 4000},
        {"[fe80::1]", "fe80::1", 29500}, {"fe80::1", "fe80::1", 29500},
        {"::1", "::1", 29500},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct yk_launcher found;
        assert_ok(yk_launcher_from_options(1, 3, cases[i].master, &found));
        expect(&found, 1, 3, 0, 1);
        expect_master(&found, "hand", cases[i].address, cases[i].port);
    }
    struct yk_launcher found;
    set((const char *[]){"LOCAL_RANK", "1", "LOCAL_WORLD_SIZE", "3", NULL});
    assert_ok(yk_launcher_from_options(1, 3, "node1", &found));
    expect(&found, 1, 3, 1, 3);
}

static void what_a_person_cannot_mean_is_refused(void **state)
{
    (void)state;
    static const char *const masters[] = {"node1:",  "node1:0", "node1:65536",
                                          "node1:x", "[::1]x",  "[::1]:"};
    char longest[2 * YK_LAUNCHER_ADDRESS_SIZE];
    struct yk_launcher found;
    for (size_t i = 0; i < sizeof masters / sizeof masters[0]; i++) {
        assert_int_equal(yk_launcher_from_options(0, 2, masters[i], &found), YK_ERROR_USAGE);
    }
    assert_int_equal(yk_launcher_from_options(2, 2, "node1", &found), YK_ERROR_USAGE);
    assert_int_equal(yk_launcher_from_options(-1, 2, "node1", &found), YK_ERROR_USAGE);
    assert_int_equal(yk_launcher_from_options(0, 0, "node1", &found), YK_ERROR_USAGE);
    assert_int_equal(yk_launcher_from_options(0, INT64_MAX, "node1", &found), YK_ERROR_USAGE);
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(yk_launcher_from_options(0, 2, longest, &found), YK_ERROR_INPUT);
    assert_int_equal(yk_launcher_from_options(0, 2, "", &found), YK_ERROR_INPUT);
    assert_int_equal(yk_launcher_from_options(0, 2, ":4000", &found), YK_ERROR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(process_that_no_launcher_started_is_alone, forget_all),
        cmocka_unit_test_setup(mpirun_numbers_ranks_of_unequal_hosts, forget_all),
        cmocka_unit_test_setup(srun_reports_how_many_are_on_this_node, forget_all),
        cmocka_unit_test_setup(step_goes_before_its_job, forget_all),
        cmocka_unit_test_setup(launchers_report_whether_they_bound_the_rank, forget_all),
        cmocka_unit_test_setup(batch_script_is_no_rank, forget_all),
        cmocka_unit_test_setup(tasks_that_cannot_meet_are_refused, forget_all),
        cmocka_unit_test_setup(numbers_that_contradict_each_other_are_refused, forget_all),
        cmocka_unit_test_setup(torchrun_reports_where_ranks_meet, forget_all),
        cmocka_unit_test_setup(torchrun_goes_before_those_that_started_it, forget_all),
        cmocka_unit_test_setup(plain_variables_are_enough, forget_all),
        cmocka_unit_test_setup(plain_variables_that_cannot_be_are_refused, forget_all),
        cmocka_unit_test_setup(mpirun_goes_before_plain_variables, forget_all),
        cmocka_unit_test_setup(srun_with_no_pmix_meets_at_the_master, forget_all),
        cmocka_unit_test_setup(a_person_may_say_it, forget_all),
        cmocka_unit_test_setup(what_a_person_cannot_mean_is_refused, forget_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
