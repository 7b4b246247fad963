/* Logged: what was logged during a test, kept to be looked at. One thread at a time. */
#ifndef YK_TESTS_LOGGED_H
#define YK_TESTS_LOGGED_H

/* Warnings and notes since logged_start(), one a line. */
extern char logged[4096];

void logged_start(void);
void logged_stop(void);

/* Around a test with a scratch folder (support/scratch.h). */
int logged_scratch_make(void **state);
int logged_scratch_drop(void **state);

#endif
