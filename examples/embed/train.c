/*
 * Trains a small model on a text, and continues the run: train TEXT FOLDER STEPS.
 *
 * Started by itself it is one rank; under `mpirun -n 2` each process is one of two. Run again with
 * more steps, it continues where it ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <yoke/yoke.h>

struct setting {
    const char *name;
    const char *value;
};

static void print_step(void *user, const struct yoke_training_step *step)
{
    (void)user;
    printf("step %lld of %lld: loss %.6f\n", (long long)step->step, (long long)step->steps,
           step->loss);
}

static void print_lost(void *user, const char *sentence)
{
    (void)user;
    dprintf(STDERR_FILENO, "%s\n", sentence);
}

/* A rank is gone, and this one may wait for it for ever. */
static void leave(void *user, yoke_status status)
{
    (void)user;
    _exit(status);
}

static yoke_status set_all(yoke_training *training, const struct setting *options, size_t count)
{
    yoke_status status = YOKE_OK;
    for (size_t i = 0; i < count && status == YOKE_OK; i++) {
        status = yoke_training_set(training, options[i].name, options[i].value);
    }
    return status;
}

static yoke_status train(yoke_training *training, const char *text, const char *folder,
                         const char *steps)
{
    char run[4096];
    (void)snprintf(run, sizeof run, "%s/run.json", folder);
    const bool resumes = access(run, F_OK) == 0;
    const struct setting options[] = {
        {"model", "gpt-nano"},
        {"data", text},
        {"out", folder},
        {"batch", "4"},
        {"steps", steps},
        {"rate", "1e-3"},
        {"rate-rule", "constant"},
        {"profile", "none"},
        {"resume", resumes ? "true" : "false"},
    };
    const struct yoke_training_callbacks callbacks = {
        .step = print_step, .lost = print_lost, .leave = leave};
    const yoke_status status = set_all(training, options, sizeof options / sizeof options[0]);
    return status == YOKE_OK ? yoke_training_run(training, &callbacks) : status;
}

int main(int count, char **words)
{
    if (count < 4) {
        fprintf(stderr, "usage: %s TEXT FOLDER STEPS\n", words[0]);
        return YOKE_ERROR_USAGE;
    }
    yoke_training *training = NULL;
    yoke_status status = yoke_training_create(&training);
    if (status == YOKE_OK) {
        status = train(training, words[1], words[2], words[3]);
    }
    if (status == YOKE_OK) {
        const struct yoke_training_result *result = yoke_training_result(training);
        if (result->rank == 0) {
            printf("%d rank%s, %lld steps, loss %.4f: %s\n", (int)result->rank_count,
                   result->rank_count == 1 ? "" : "s", (long long)result->steps_done,
                   result->last_loss, result->checkpoint);
        }
    } else if (*yoke_message()) {
        fprintf(stderr, "%s: %s\n", words[0], yoke_message());
    }
    yoke_training_destroy(training);
    return status;
}
