/* The watch of a team: detects failed and hanging ranks, and ends all ranks then. */
#include "job/training/team.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    SHORT_PAUSE_US = 100000, /* lets printed messages reach the launcher */
    EXIT_DELAY_US = 2500000, /* time limit for releasing the device */
    MAX_PAUSES = 15,         /* pauses in which the watch may detect the failed rank */
};

/* ---- positions of the lanes ---- */

void yk_train_team_watchdog_record_op(void *user, enum yk_lane lane, int32_t op)
{
    const struct yk_train_team *team = user;
    yk_watchdog_set_current_op(team->watchdog, (enum yk_watchdog_lane)lane, op);
}

void yk_train_team_watchdog_set_executor(void *user, const struct yk_executor *executor)
{
    struct yk_train_team *team = user;
    (void)pthread_mutex_lock(&team->lock);
    team->executor = executor;
    (void)pthread_mutex_unlock(&team->lock);
}

/* Polls the device, because with GPUs the host does not see when an op begins. Ops that began and
 * ended between two polls count as progress: a lane that is idle at both polls may have been busy.
 */
static void poll_lanes(void *user, struct yk_watchdog *watchdog)
{
    struct yk_train_team *team = user;
    (void)pthread_mutex_lock(&team->lock);
    for (int i = 0; team->executor && i < YK_LANE_COUNT; i++) {
        struct yk_lane_progress now;
        yk_executor_get_lane_progress(team->executor, (enum yk_lane)i, &now);
        if (now.op != team->positions[i].op || now.passed != team->positions[i].passed) {
            team->positions[i] = now;
            yk_watchdog_set_current_op(watchdog, (enum yk_watchdog_lane)i, now.op);
        }
    }
    (void)pthread_mutex_unlock(&team->lock);
}

/* ---- ending all ranks ---- */

static void add_op(const struct yk_train_team *team, const struct yk_watchdog_failure *failure,
                   struct yk_text *out)
{
    const struct yk_op_list *list = &team->program->ranks[failure->rank];
    const int32_t lane = failure->lane >= 0 ? failure->lane : YK_LANE_COMPUTE;
    const int32_t op = failure->state.ops[lane];
    if (op >= 0 && op < list->op_count) {
        yk_text_add(out,
                    failure->reason == YK_WATCHDOG_RANK_HUNG ? ": " : "; it was last seen in ");
        yk_op_describe(team->program, &list->ops[op], out);
    }
}

static bool can_exit(const struct yk_train_team *team)
{
    return team->job && team->job->exit_process;
}

static void *exit_later(void *user)
{
    const struct yk_train_team *team = user;
    (void)usleep(EXIT_DELAY_US);
    team->job->exit_process(team->job->user, team->exit_status);
    return NULL;
}

/* Ends the process after a delay, even if this thread blocks. Returns false if the job has no
 * `exit_process` callback or no thread could be created. */
static bool schedule_exit(struct yk_train_team *team, yk_status status)
{
    pthread_t thread;
    team->exit_status = status;
    return can_exit(team) && pthread_create(&thread, NULL, exit_later, team) == 0;
}

/* Ends communication on the device: exiting in the middle of it may disturb other processes that
 * share the device. */
static void release_device_comm(const struct yk_train_team *team)
{
    const struct yk_communicator *ranks = yk_train_team_device_communicator(team);
    if (ranks->comm->release_device) {
        ranks->comm->release_device(ranks->world);
    }
}

static void report_lost(const struct yk_train_team *team, const char *sentence)
{
    if (team->job && team->job->lost) {
        team->job->lost(team->job->user, sentence);
    }
}

/*
 * Runs on the watch's thread. The training thread may be blocked in communication forever and hold
 * locks of stdio streams or of MPI, so this thread ends the process. If reporting blocks, too,
 * schedule_exit() ends it. Reads only members of the team that were set before the watch started.
 */
static void on_rank_failure(void *user, const struct yk_watchdog_failure *failure)
{
    struct yk_train_team *team = user;
    struct yk_text text = {0};
    const int32_t speaker = failure->rank == 0 ? 1 : 0;
    const bool ends = schedule_exit(team, YK_ERROR_LOST);
    atomic_store(&team->failure_detected, true);
    yk_watchdog_describe_failure(failure, &text);
    if (failure->rank < team->program->rank_count) {
        add_op(team, failure, &text);
    }
    yk_text_add(&text, "; start again with --resume to go on from the last checkpoint");
    if (team->ranks.rank == speaker) {
        report_lost(team, yk_text_chars(&text));
    }
    (void)usleep(SHORT_PAUSE_US);
    if (ends) {
        release_device_comm(team);
    }
    if (can_exit(team)) {
        team->job->exit_process(team->job->user, YK_ERROR_LOST);
    }
    team->ranks.comm->abort(team->ranks.world, YK_ERROR_LOST);
    yk_text_free(&text);
}

/* A failure on this rank may be caused by the end of another rank, which the watch detects at about
 * the same time. Gives the watch time to report that and to end this process. */
static void wait_for_watch(const struct yk_train_team *team, yk_status status)
{
    const bool is_own = status != YK_ERROR_LOST && status != YK_ERROR_SYSTEM;
    const bool ends = can_exit(team);
    for (int i = 0; team->watchdog && !is_own &&
                    (i < MAX_PAUSES || (ends && atomic_load(&team->failure_detected)));
         i++) {
        (void)usleep(SHORT_PAUSE_US);
    }
}

void yk_train_team_watchdog_abort_all_ranks(struct yk_train_team *team, yk_status status)
{
    if (yk_train_team_is_single_rank(team)) {
        return;
    }
    wait_for_watch(team, status);
    yk_job_report_end(team->job);
    if (*yk_status_message() != '\0') { /* an empty message has already been reported */
        yk_job_report_failure(team->job, yk_status_message());
    }
    if (yk_train_team_device_communicator(team) != &team->ranks && schedule_exit(team, status)) {
        release_device_comm(team);
    }
    team->ranks.comm->abort(team->ranks.world, (int)status);
    /* Without a launcher the other ranks notice this rank's exit, so it exits at once. */
    if (team->launcher.uses_rendezvous && can_exit(team)) {
        (void)usleep(SHORT_PAUSE_US);
        team->job->exit_process(team->job->user, status);
    }
}

/* ---- start ---- */

/* Reads YOKE_HANG_S, the time limit in seconds; 0: not set. */
static yk_status read_hang_timeout(double *out)
{
    const char *words = getenv("YOKE_HANG_S");
    char *end = NULL;
    *out = words ? strtod(words, &end) : 0;
    return !words || (end != words && *end == '\0' && *out >= 1 && *out <= 1e6)
               ? YK_OK
               : yk_fail(YK_ERROR_USAGE, "YOKE_HANG_S=%s: seconds, from 1 on", words);
}

yk_status yk_train_team_watchdog_start(struct yk_train_team *team, const struct yk_program *program,
                                       double op_s)
{
    double patience_s = 0;
    if (yk_train_team_is_single_rank(team)) {
        return YK_OK;
    }
    YK_TRY(yk_train_team_combine_status(team, read_hang_timeout(&patience_s)));
    team->program = program;
    const struct yk_watchdog_options options = {
        .heartbeat_timeout_s = patience_s,
        .op_timeout_s = patience_s > 0 ? patience_s : op_s,
        .on_failure = on_rank_failure,
        .poll_current_ops = team->gpu_transport.ranks.size > 0 ? poll_lanes : NULL,
        .user = team,
        .address = team->launcher.uses_rendezvous ? team->launcher.address : NULL,
    };
    return yk_watchdog_open(&team->ranks, &options, &team->watchdog);
}
