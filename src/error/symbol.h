/*
 * symbol.h - prints addresses as functions, files and lines.
 *
 * With libdw and debug data: "parse at app.c:31". With a symbol table alone: "parse in
 * app". Stripped: "app+0x11bc", for `addr2line -f -e app 0x11bc`. Any thread may print.
 * On a coroutine's stack the work is done on another one: it needs more than a task has.
 * Functions of coil.hpp are left out: an address in one counts as the code that calls it.
 */
#ifndef COIL_ERROR_SYMBOL_H
#define COIL_ERROR_SYMBOL_H

#include "report.h"

/*
 * Print the function that contains the call whose return address is `pc`; nothing if `pc`
 * is NULL. `pattern` is the text, with one %s for the function.
 */
void coil__symbol_print(struct coil__report *report, const char *key, const char *pattern,
                        const void *pc);

/*
 * Print a stack, innermost first, a line for each function: `margin`, "parse at
 * app.c:31". Inlined functions have lines of their own. coil's functions are left out at
 * the inner end (the call that failed or waits) and at the outer end (the server that
 * called).
 */
void coil__symbol_print_stack(struct coil__report *report, const char *margin,
                              void *const addresses[], size_t n);

/* The same for a stack that waits in a function of coil's: without its helpers. */
void coil__symbol_print_waiting(struct coil__report *report, const char *margin,
                                void *const addresses[], size_t n);

/*
 * Print the function that called coil, without a newline. The stack begins inside coil.
 */
void coil__symbol_print_caller(struct coil__report *report, const char *key,
                               void *const addresses[], size_t n);

/*
 * Print where code blocks or computes, without a newline: if the innermost frames are in
 * a library, the library function that was called, ", called by " and its caller; else
 * the innermost function.
 */
void coil__symbol_print_place(struct coil__report *report, const char *key,
                              void *const addresses[], size_t n);

/* Debug data that a look-up has read is kept between the two calls, which may nest. */
void coil__symbols_begin(void);
void coil__symbols_end(void);

#endif
