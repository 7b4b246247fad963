/*
 * Code: eight digits that stand for the sources that a backend's times depend on, and for what
 * compiled them: others where any of it is another. Made when yoke is built, by
 * tools/code_hash.cmake.
 */
#ifndef YK_BACKEND_CODE_H
#define YK_BACKEND_CODE_H

extern const char yk_code_cpu[];
extern const char yk_code_cuda[]; /* in the plug-in */

#endif
