#include "cli/commands/search.h"

#include "cli/interrupt.h"
#include "cli/terminal.h"

struct yk_scheduler_options yk_search_options(const struct yk_search_words *words)
{
    return (struct yk_scheduler_options){
        .budget_s = words->budget_s,
        .moves = words->moves,
        .seed = (uint64_t)words->seed,
        .progress = yk_terminal_progress,
        .stop = yk_interrupt_watch(),
    };
}

void yk_search_note_interruption(const struct yk_scheduler_options *options)
{
    if (atomic_load(options->stop)) {
        yk_log(YK_LOG_NOTE, "the search was interrupted; this is the best it had");
    }
}
