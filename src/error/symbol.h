/*
 * symbol.h - addresses of the program as functions, files and lines, for reports.
 *
 * With libdw, and in a program that has its debug data: "parse at app.c:31". With its
 * symbol table alone: "parse+0x1c in app". Stripped: "app+0x11bc", which addr2line(1)
 * takes as `addr2line -f -e app 0x11bc`. From any thread; on a coroutine's stack the work
 * is done on another, for it takes more than a task's has.
 */
#ifndef COIL_ERROR_SYMBOL_H
#define COIL_ERROR_SYMBOL_H

#include "../base/base.h"

#include <stdio.h>

/* One address, as it is returned to (of a call, not of a function). No newline. */
void coil__symbol_print(FILE *out, const void *pc);

/*
 * A stack, innermost first, a line for each function: "    parse at app.c:31". Functions
 * that were inlined into others are told apart. What is coil's own at the inner end (the
 * call that failed or waits) is left out.
 */
void coil__symbol_print_stack(FILE *out, void *const addresses[], size_t n);

/* The same of a stack that waits in a function of coil's, whose own helpers are left out
 * too. */
void coil__symbol_print_waiting(FILE *out, void *const addresses[], size_t n);

/*
 * Between these two, what one look-up has read is kept for the next: for whoever prints
 * many. They may be nested.
 */
void coil__symbols_begin(void);
void coil__symbols_end(void);

#endif
