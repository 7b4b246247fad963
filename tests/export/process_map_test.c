/* The scripts that start ranks are run with programs in the place of python3, torchrun and srun
 * that print what they are given. */
#include "support/files/other_programs.h"
#include "support/plans/one_group_plan.h"
#include "support/support.h"

#include <string.h>

#define EVEN "2x(2xa30 @ pcie4) @ 10GbE"
#define UNEVEN "1x(1xrtx6000ada) + 1x(2xrtx3090 @ pcie4) @ 10GbE"
#define SEVERAL "1x(1xrtx6000ada) + 2x(2xrtx3090 @ pcie4) + 1x(1xrtx3090 + 1xv100 @ pcie3) @ 10GbE"

/* What the test itself may have been started with does not count. */
#define CLEAN                                                                                      \
    "export PATH=.:$PATH; unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT "               \
    "OMP_NUM_THREADS CUDA_VISIBLE_DEVICES CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; "

static const int64_t shares[] = {4, 3, 2, 1, 1, 1, 1, 1};

/* Prints the variables that a rank is started with, and its arguments. */
static const char stand_in[] =
    "#!/bin/sh\n"
    "echo \"$(basename \"$0\") rank=${RANK-} of=${WORLD_SIZE-} gpus=${CUDA_VISIBLE_DEVICES-unset} "
    "threads=${OMP_NUM_THREADS-} sm=${CUDA_MPS_ACTIVE_THREAD_PERCENTAGE-} "
    "host=${MASTER_ADDR-} $*\"\n";

/* What `command` prints where the last exported script is launch.sh. */
static void run_script(const struct made_plan *made, const char *command, int exit_code,
                       struct yk_text *out)
{
    char *folder = outside_make_folder();
    struct yk_text line = {0};
    outside_write(folder, "launch.sh", yk_text_chars(&made->out));
    outside_write(folder, "python3", stand_in);
    outside_write(folder, "torchrun", stand_in);
    yk_text_addf(&line, CLEAN "%s", command);
    assert_int_equal(outside_run(folder, yk_text_chars(&line), out), exit_code);
    yk_text_free(&line);
    outside_remove(folder);
}

static void assert_prints(const struct made_plan *made, const char *command, const char *expected)
{
    struct yk_text printed = {0};
    run_script(made, command, 0, &printed);
    assert_string_equal(yk_text_chars(&printed), expected);
    yk_text_free(&printed);
}

static void torchrun_starts_nodes_that_are_alike(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "torchrun");
    assert_prints(&made, "MASTER_ADDR=first sh launch.sh 1 train.py 'a b'",
                  "torchrun rank= of= gpus=0,1 threads= sm= host=first --nnodes=2 "
                  "--nproc-per-node=2 --node-rank=1 --master-addr=first --master-port=29500 "
                  "train.py a b\n");
    assert_false(made_plan_notes(&made, "torchrun starts equally many"));
    made_plan_assert_comments(&made);
    made_plan_end(&made);
}

static void one_node_needs_no_number(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", "2xa30", shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "torchrun");
    assert_prints(&made, "sh launch.sh train.py",
                  "torchrun rank= of= gpus=0,1 threads= sm= host=127.0.0.1 --nnodes=1 "
                  "--nproc-per-node=2 --node-rank=0 --master-addr=127.0.0.1 --master-port=29500 "
                  "train.py\n");
    made_plan_end(&made);
}

static void ranks_of_unequal_nodes_are_started_one_by_one(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", UNEVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "torchrun");
    assert_prints(&made, "MASTER_ADDR=first sh launch.sh 0 train.py",
                  "python3 rank=0 of=3 gpus=0 threads= sm= host=first train.py\n");
    assert_prints(&made, "MASTER_ADDR=first sh launch.sh 1 train.py | sort",
                  "python3 rank=1 of=3 gpus=0 threads= sm= host=first train.py\n"
                  "python3 rank=2 of=3 gpus=1 threads= sm= host=first train.py\n");
    assert_true(made_plan_notes(&made, "torchrun starts equally many GPUs on every node"));
    made_plan_assert_comments(&made);
    made_plan_end(&made);
}

/* Members of the group in another order than nodes; gpu1 takes no part. */
static void ranks_across_nodes_keep_their_numbers(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    struct yk_plan_group *group = &made.plan->groups[0];
    group->members[0] = (struct yk_plan_group_member){.rank = 3, .share = 5, .shard_fraction = 0.5};
    group->members[1] =
        (struct yk_plan_group_member){.rank = 0, .share = 3, .shard_fraction = 0.25};
    group->members[2] =
        (struct yk_plan_group_member){.rank = 2, .share = 2, .shard_fraction = 0.25};
    group->member_count = 3;
    made_plan_export(&made, "torchrun");
    assert_prints(&made, "MASTER_ADDR=h sh launch.sh 1 t.py | sort",
                  "python3 rank=0 of=3 gpus=1 threads= sm= host=h t.py\n"
                  "python3 rank=2 of=3 gpus=0 threads= sm= host=h t.py\n");
    assert_prints(&made, "MASTER_ADDR=h sh launch.sh 0 t.py",
                  "python3 rank=1 of=3 gpus=0 threads= sm= host=h t.py\n");
    made_plan_end(&made);
}

static void parts_and_cpus_get_their_variables(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", "1xh100:70% + 1xh100:15% + cpu:16", shares,
                    YK_SHARDING_REPLICATED);
    made_plan_export(&made, "torchrun");
    assert_prints(&made, "sh launch.sh t.py | sort",
                  "python3 rank=0 of=3 gpus=0 threads= sm=70 host=127.0.0.1 t.py\n"
                  "python3 rank=1 of=3 gpus=1 threads= sm=15 host=127.0.0.1 t.py\n"
                  "python3 rank=2 of=3 gpus= threads=16 sm= host=127.0.0.1 t.py\n");
    assert_true(made_plan_notes(&made, "Parts of devices need MPS"));
    made_plan_end(&made);
}

static void a_script_says_what_is_wrong(void **state)
{
    (void)state;
    struct made_plan made;
    struct yk_text printed = {0};
    made_plan_begin(&made, "gpt2", UNEVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "torchrun");
    run_script(&made, "MASTER_ADDR=h sh launch.sh 7 t.py", 2, &printed);
    assert_string_equal(yk_text_chars(&printed), "launch.sh: the plan has no node 7\n");
    yk_text_free(&printed);
    run_script(&made, "printf '#!/bin/sh\\nexit $RANK' > python3; MASTER_ADDR=h sh launch.sh 1", 1,
               &printed);
    yk_text_free(&printed);
    made_plan_end(&made);
}

static void alike_nodes_are_one_request_of_slurm(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "slurm");
    assert_true(made_plan_says(&made, "#!/bin/bash\n#SBATCH --job-name=gpt2\n"
                                      "#SBATCH --requeue --open-mode=append --signal=TERM@60\n"
                                      "#SBATCH --nodes=2 --ntasks-per-node=2 "
                                      "--gres=gpu:a30:2\n# gpt2"));
    assert_false(made_plan_says(&made, "hetjob"));
    assert_false(made_plan_says(&made, "het-group"));
    assert_true(made_plan_says(&made, "export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID\n"));
    assert_true(made_plan_says(&made, " WORLD_SIZE=4\n"));
    made_plan_assert_comments(&made);
    made_plan_end(&made);
}

static void nodes_that_differ_are_a_heterogeneous_job(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", SEVERAL, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "slurm");
    assert_true(made_plan_says(
        &made, "#SBATCH --nodes=1 --ntasks-per-node=1 --gres=gpu:rtx6000ada:1\n"
               "#SBATCH hetjob\n"
               "#SBATCH --nodes=2 --ntasks-per-node=2 --gres=gpu:rtx3090:2\n"
               "#SBATCH hetjob\n"
               "#SBATCH --nodes=1 --ntasks-per-node=2 --gres=gpu:rtx3090:1,gpu:v100-16:1\n"));
    assert_true(made_plan_says(&made, "srun --het-group=0-2 "));
    assert_true(made_plan_says(&made, "\"$SLURM_JOB_NODELIST_HET_GROUP_0\""));
    assert_true(made_plan_notes(&made, "A node has devices of several types"));
    made_plan_end(&made);
}

/* srun in the place of Slurm: two tasks on each node, the last one's numbers shown. */
static void tasks_of_slurm_become_ranks_of_the_plan(void **state)
{
    (void)state;
    struct made_plan made;
    struct yk_text printed = {0};
    if (!outside_has("bash")) {
        skip();
    }
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    struct yk_plan_group_member *members = made.plan->groups[0].members;
    members[1].rank = 2;
    members[2].rank = 1;
    made_plan_export(&made, "slurm");
    char *folder = outside_make_folder();
    outside_write(folder, "launch.sh", yk_text_chars(&made.out));
    outside_write(folder, "python3", stand_in);
    outside_write(folder, "scontrol", "#!/bin/sh\necho first\necho second\n");
    outside_write(folder, "srun",
                  "#!/bin/sh\nwhile [ \"$1\" != bash ]; do shift; done\n"
                  "for i in 0 1 2 3; do SLURM_PROCID=$i SLURM_LOCALID=0 \"$@\"; "
                  "done\n");
    assert_int_equal(
        outside_run(folder, CLEAN "SLURM_JOB_NODELIST=x bash launch.sh t.py 'a b'", &printed), 0);
    assert_string_equal(yk_text_chars(&printed),
                        "python3 rank=0 of=4 gpus=unset threads= sm= host=first t.py a b\n"
                        "python3 rank=2 of=4 gpus=unset threads= sm= host=first t.py a b\n"
                        "python3 rank=1 of=4 gpus=unset threads= sm= host=first t.py a b\n"
                        "python3 rank=3 of=4 gpus=unset threads= sm= host=first t.py a b\n");
    outside_remove(folder);
    yk_text_free(&printed);
    made_plan_end(&made);
}

/* The script with a Slurm in whose place one task is started, which ends with `code`. */
static void run_job(const struct made_plan *made, const char *variables, const char *words,
                    int code, struct yk_text *out)
{
    char *folder = outside_make_folder();
    struct yk_text line = {0};
    outside_write(folder, "launch.sh", yk_text_chars(&made->out));
    outside_write(folder, "yoke", "#!/bin/sh\necho \"$(basename \"$0\") $*\"\nexit $CODE\n");
    outside_write(folder, "scontrol", "#!/bin/sh\n[ $1 = show ] && echo first || echo \"$*\"\n");
    outside_write(folder, "srun",
                  "#!/bin/sh\nwhile [ \"$1\" != bash ]; do echo \"srun $1\"; shift; done\n"
                  "SLURM_PROCID=0 SLURM_LOCALID=0 \"$@\"\n");
    yk_text_addf(&line,
                 CLEAN "mkdir -p old/checkpoints/step-00000003; export CODE=%d "
                       "SLURM_JOB_NODELIST=x SLURM_JOB_ID=7 SLURM_JOB_NAME=gpt2; unset RUN "
                       "YOKE SLURM_RESTART_COUNT; %s bash launch.sh %s",
                 code, variables, words);
    assert_int_equal(outside_run(folder, yk_text_chars(&line), out), code);
    yk_text_free(&line);
    outside_remove(folder);
}

static void assert_job(const struct made_plan *made, const char *variables, int code,
                       const char *expected)
{
    struct yk_text printed = {0};
    run_job(made, variables, "--plan plan.json --data 'a b'", code, &printed);
    assert_string_equal(yk_text_chars(&printed), expected);
    yk_text_free(&printed);
}

#define SRUN "srun --mpi=pmix\nsrun --kill-on-bad-exit=0\nsrun --wait=60\n"

static void words_that_are_no_script_are_trained_by_yoke(void **state)
{
    (void)state;
    struct made_plan made;
    if (!outside_has("bash")) {
        skip();
    }
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "slurm");
    assert_job(&made, "", 0, SRUN "yoke train --out runs/gpt2-7 --plan plan.json --data a b\n");
    assert_job(&made, "RUN=old", 4, SRUN "yoke train --out old --plan plan.json --data a b\n");
    made_plan_end(&made);
}

static void job_that_stopped_and_saved_is_queued_again_and_goes_on(void **state)
{
    (void)state;
    struct made_plan made;
    if (!outside_has("bash")) {
        skip();
    }
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made_plan_export(&made, "slurm");
    assert_job(&made, "", 75,
               SRUN "yoke train --out runs/gpt2-7 --plan plan.json --data a b\nrequeue 7\n");
    assert_job(&made, "SLURM_RESTART_COUNT=1 RUN=old", 0,
               SRUN "yoke train --out old --resume --plan plan.json --data a b\n");
    assert_job(&made, "SLURM_RESTART_COUNT=1", 0, /* before anything was saved */
               SRUN "yoke train --out runs/gpt2-7 --plan plan.json --data a b\n");
    made_plan_end(&made);
}

static void yoke_refuses_tasks_in_another_order_than_the_plan(void **state)
{
    (void)state;
    struct made_plan made;
    struct yk_text printed = {0};
    if (!outside_has("bash")) {
        skip();
    }
    made_plan_begin(&made, "gpt2", EVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    /* Ranks in turn on both nodes. */
    made.plan->ranks[1].device = 2;
    made.plan->ranks[2].device = 1;
    made_plan_export(&made, "slurm");
    run_job(&made, "", "--plan plan.json", 2, &printed);
    assert_string_equal(yk_text_chars(&printed),
                        "job.sh: yoke train needs ranks in the order of the plan, and these tasks "
                        "are in another\n");
    yk_text_free(&printed);
    made_plan_end(&made);
}

static void names_from_files_do_not_reach_the_shell(void **state)
{
    (void)state;
    struct made_plan made;
    made_plan_begin(&made, "gpt2", UNEVEN, shares, YK_SHARDING_KEPT_AFTER_FORWARD);
    made.plan->model_source = "a/$(touch x)'\n`y`;z";
    made.plan->cluster_source = "c\nrm -rf nothing";
    made_plan_export(&made, "slurm");
    assert_true(made_plan_says(&made, "#SBATCH --job-name=__touch_x____y__z\n"));
    assert_true(made_plan_says(&made, "# a/$(touch x)'?`y`;z on c?rm -rf nothing: "));
    made_plan_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torchrun_starts_nodes_that_are_alike),
        cmocka_unit_test(one_node_needs_no_number),
        cmocka_unit_test(ranks_of_unequal_nodes_are_started_one_by_one),
        cmocka_unit_test(ranks_across_nodes_keep_their_numbers),
        cmocka_unit_test(parts_and_cpus_get_their_variables),
        cmocka_unit_test(a_script_says_what_is_wrong),
        cmocka_unit_test(alike_nodes_are_one_request_of_slurm),
        cmocka_unit_test(nodes_that_differ_are_a_heterogeneous_job),
        cmocka_unit_test(tasks_of_slurm_become_ranks_of_the_plan),
        cmocka_unit_test(words_that_are_no_script_are_trained_by_yoke),
        cmocka_unit_test(job_that_stopped_and_saved_is_queued_again_and_goes_on),
        cmocka_unit_test(yoke_refuses_tasks_in_another_order_than_the_plan),
        cmocka_unit_test(names_from_files_do_not_reach_the_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
