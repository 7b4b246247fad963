/* What becomes of a team when a rank is lost. */
#include "job/training/team.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    SHORT_PAUSE_US = 100000, /* for what was said to get out */
    LEAVING_US = 2500000,    /* that the device may take to be left */
    LOOKS = 15,              /* pauses in which the watch may find out who is lost */
};

/* ---- where the lanes are ---- */

void yk_train_team_watch_op(void *user, enum yk_lane lane, int32_t op)
{
    const struct yk_train_team *team = user;
    yk_watch_note(team->watch, (enum yk_watch_lane)lane, op);
}

void yk_train_team_watch_executor(void *user, const struct yk_executor *executor)
{
    struct yk_train_team *team = user;
    (void)pthread_mutex_lock(&team->lock);
    team->executor = executor;
    (void)pthread_mutex_unlock(&team->lock);
}

/* Where the host is not told as ops begin, the device is asked. What ended and began between two
 * looks counts as well: a lane that is found doing nothing twice may have been busy. */
static void poll_lanes(void *user, struct yk_watch *watch)
{
    struct yk_train_team *team = user;
    (void)pthread_mutex_lock(&team->lock);
    for (int i = 0; team->executor && i < YK_LANE_COUNT; i++) {
        struct yk_executor_position now;
        yk_executor_lane_position(team->executor, (enum yk_lane)i, &now);
        if (now.op != team->positions[i].op || now.passed != team->positions[i].passed) {
            team->positions[i] = now;
            yk_watch_note(watch, (enum yk_watch_lane)i, now.op);
        }
    }
    (void)pthread_mutex_unlock(&team->lock);
}

/* ---- the end of all ---- */

static void add_op(const struct yk_train_team *team, const struct yk_watch_verdict *verdict,
                   struct yk_text *out)
{
    const struct yk_program_rank *list = &team->program->ranks[verdict->rank];
    const int32_t lane = verdict->lane >= 0 ? verdict->lane : YK_LANE_COMPUTE;
    const int32_t op = verdict->state.ops[lane];
    if (op >= 0 && op < list->op_count) {
        yk_text_add(out, verdict->reason == YK_WATCH_HANGING ? ": " : "; it was last seen in ");
        yk_op_describe(team->program, &list->ops[op], out);
    }
}

static bool can_exit(const struct yk_train_team *team)
{
    return team->job && team->job->leave;
}

static void *exit_later(void *user)
{
    const struct yk_train_team *team = user;
    (void)usleep(LEAVING_US);
    team->job->leave(team->job->user, team->leaving);
    return NULL;
}

/* Whatever this thread waits for from now on, the process ends; false: nobody can end it, or the
 * system refuses that. */
static bool schedule_exit(struct yk_train_team *team, yk_status status)
{
    pthread_t thread;
    team->leaving = status;
    return can_exit(team) && pthread_create(&thread, NULL, exit_later, team) == 0;
}

/* A device that other processes share may suffer when one ends in the middle of an exchange. */
static void abort_device_comm(const struct yk_train_team *team)
{
    const struct yk_ranks *ranks = yk_train_team_device_ranks(team);
    if (ranks->comm->let_go) {
        ranks->comm->let_go(ranks->world);
    }
}

static void report_lost(const struct yk_train_team *team, const char *sentence)
{
    if (team->job && team->job->lost) {
        team->job->lost(team->job->user, sentence);
    }
}

/*
 * On the watch's thread. The thread that trains may be in an exchange that never ends, with locks
 * of streams or of MPI in its hands, and nothing can call it back: so this thread has the process
 * ended. Even a report that nobody reads holds it up only until schedule_exit() ends it. It reads
 * of the team what was set before the watch began.
 */
static void on_rank_failure(void *user, const struct yk_watch_verdict *verdict)
{
    struct yk_train_team *team = user;
    struct yk_text text = {0};
    const int32_t speaker = verdict->rank == 0 ? 1 : 0;
    const bool ends = schedule_exit(team, YK_ERROR_LOST);
    atomic_store(&team->judged, true);
    yk_watch_describe(verdict, &text);
    if (verdict->rank < team->program->rank_count) {
        add_op(team, verdict, &text);
    }
    yk_text_add(&text, "; start again with --resume to go on from the last checkpoint");
    if (team->ranks.rank == speaker) {
        report_lost(team, yk_text_chars(&text));
    }
    (void)usleep(SHORT_PAUSE_US);
    if (ends) {
        abort_device_comm(team);
    }
    if (can_exit(team)) {
        team->job->leave(team->job->user, YK_ERROR_LOST);
    }
    team->ranks.comm->abort(team->ranks.world, YK_ERROR_LOST);
    yk_text_free(&text);
}

/* What this rank takes for trouble of its own may come of another's end, which the watch hears of
 * at about the same time: then it is the watch that reports it, and ends this process. */
static void wait_for_watch(const struct yk_train_team *team, yk_status status)
{
    const bool is_own = status != YK_ERROR_LOST && status != YK_ERROR_SYSTEM;
    const bool ends = can_exit(team);
    for (int i = 0; team->watch && !is_own && (i < LOOKS || (ends && atomic_load(&team->judged)));
         i++) {
        (void)usleep(SHORT_PAUSE_US);
    }
}

void yk_train_team_watch_abort(struct yk_train_team *team, yk_status status)
{
    if (yk_train_team_is_alone(team)) {
        return;
    }
    wait_for_watch(team, status);
    yk_job_end(team->job);
    if (*yk_status_message() != '\0') { /* else all have come to it, and it was reported */
        yk_job_failed(team->job, yk_status_message());
    }
    if (yk_train_team_device_ranks(team) != &team->ranks && schedule_exit(team, status)) {
        abort_device_comm(team);
    }
    team->ranks.comm->abort(team->ranks.world, (int)status);
    /* Where no launcher ends the others, they hear of this rank's end, if it has one at once. */
    if (team->launcher.meets && can_exit(team)) {
        (void)usleep(SHORT_PAUSE_US);
        team->job->leave(team->job->user, status);
    }
}

/* ---- watching ---- */

/* How long somebody else wants to wait for a rank; 0: nobody has said. */
static yk_status read_hang_timeout(double *out)
{
    const char *words = getenv("YOKE_HANG_S");
    char *end = NULL;
    *out = words ? strtod(words, &end) : 0;
    return !words || (end != words && *end == '\0' && *out >= 1 && *out <= 1e6)
               ? YK_OK
               : yk_fail(YK_ERROR_USAGE, "YOKE_HANG_S=%s: seconds, from 1 on", words);
}

yk_status yk_train_team_watch_start(struct yk_train_team *team, const struct yk_program *program,
                                    double op_s)
{
    double patience_s = 0;
    if (yk_train_team_is_alone(team)) {
        return YK_OK;
    }
    YK_TRY(yk_train_team_agree(team, read_hang_timeout(&patience_s)));
    team->program = program;
    const struct yk_watch_options options = {
        .silence_s = patience_s,
        .op_s = patience_s > 0 ? patience_s : op_s,
        .lost = on_rank_failure,
        .inspect = team->wire.ranks.size > 0 ? poll_lanes : NULL,
        .user = team,
        .address = team->launcher.meets ? team->launcher.address : NULL,
    };
    return yk_watch_open(&team->ranks, &options, &team->watch);
}
