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
static void set(const char *const *words)
{
    for (; words[0]; words += 2) {
        assert_int_equal(setenv(words[0], words[1], 1), 0);
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

static void process_without_launcher_is_alone(void **state)
{
    (void)state;
    struct yk_launcher found;
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_null(found.name);
    expect(&found, 0, 1, 0, 1);
}

/* As `mpirun --host one:2,two:1` sets them for its last rank. */
static void mpirun_tells_ranks_of_unequal_hosts(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"OMPI_COMM_WORLD_RANK", "2", "OMPI_COMM_WORLD_SIZE", "3",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "0", "OMPI_COMM_WORLD_LOCAL_SIZE", "1",
                         NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_string_equal(found.name, "mpirun");
    expect(&found, 2, 3, 0, 1);
}

/* Four nodes, three of them with two tasks. */
static void srun_tells_how_many_are_on_this_node(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "5", "SLURM_NTASKS", "7",
                         "SLURM_LOCALID", "1", "SLURM_NODEID", "2", "SLURM_TASKS_PER_NODE",
                         "2(x3),1", "PMIX_RANK", "5", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_string_equal(found.name, "srun");
    expect(&found, 5, 7, 1, 2);
    set((const char *[]){"SLURM_PROCID", "6", "SLURM_LOCALID", "0", "SLURM_NODEID", "3", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    expect(&found, 6, 7, 0, 1);
}

static void step_goes_before_its_job(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "1", "SLURM_PROCID", "1", "SLURM_NTASKS", "3",
                         "SLURM_LOCALID", "1", "SLURM_NODEID", "0", "SLURM_TASKS_PER_NODE", "8",
                         "SLURM_STEP_TASKS_PER_NODE", "3", "PMIX_RANK", "1", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    expect(&found, 1, 3, 1, 3);
}

static void launchers_tell_whether_they_bound_the_rank(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "1", "SLURM_PROCID", "0", "SLURM_NTASKS", "1",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "0", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_false(found.bound);
    set((const char *[]){"SLURM_CPU_BIND_TYPE", "none", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_false(found.bound);
    set((const char *[]){"SLURM_CPU_BIND_TYPE", "mask_cpu:", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_true(found.bound);
    set((const char *[]){"OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1",
                         "OMPI_COMM_WORLD_LOCAL_RANK", "0", "OMPI_COMM_WORLD_LOCAL_SIZE", "1",
                         NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_false(found.bound);
    set((const char *[]){"OMPI_MCA_orte_bound_at_launch", "1", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_true(found.bound);
}

static void batch_script_is_no_rank(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_LOCALID", "0", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_OK);
    assert_null(found.name);
    expect(&found, 0, 1, 0, 1);
}

static void tasks_that_cannot_meet_are_refused(void **state)
{
    (void)state;
    struct yk_launcher found;
    set((const char *[]){"SLURM_STEP_ID", "0", "SLURM_PROCID", "0", "SLURM_NTASKS", "2",
                         "SLURM_LOCALID", "0", "SLURM_NODEID", "0", NULL});
    assert_int_equal(yk_launcher_find(&found), YK_ERROR_INPUT);
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
        assert_int_equal(yk_launcher_find(&found), YK_OK);
        found.rank = -7;
        set((const char *[]){wrong[i][0], wrong[i][1], NULL});
        assert_int_equal(yk_launcher_find(&found), YK_ERROR_INPUT);
        assert_int_equal(found.rank, -7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(process_without_launcher_is_alone, forget_all),
        cmocka_unit_test_setup(mpirun_tells_ranks_of_unequal_hosts, forget_all),
        cmocka_unit_test_setup(srun_tells_how_many_are_on_this_node, forget_all),
        cmocka_unit_test_setup(step_goes_before_its_job, forget_all),
        cmocka_unit_test_setup(launchers_tell_whether_they_bound_the_rank, forget_all),
        cmocka_unit_test_setup(batch_script_is_no_rank, forget_all),
        cmocka_unit_test_setup(tasks_that_cannot_meet_are_refused, forget_all),
        cmocka_unit_test_setup(numbers_that_contradict_each_other_are_refused, forget_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
