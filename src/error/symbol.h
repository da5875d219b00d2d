/*
 * symbol.h - prints addresses as functions, files and lines.
 *
 * With libdw and debug data, an address is printed as "parse at app.c:31", and with only
 * a symbol table as "parse in app". If the program is stripped, the address is printed as
 * "app+0x11bc", for `addr2line -f -e app 0x11bc`. Any thread may print. Printing needs
 * more stack than a task has, so in a coroutine the functions below run on another stack.
 * Functions of coil.hpp are omitted; the code that calls them is printed instead.
 */
#ifndef COIL_ERROR_SYMBOL_H
#define COIL_ERROR_SYMBOL_H

#include "lines.h"
#include "report.h"

/*
 * Print the function that contains the call whose return address is `pc`. Prints nothing
 * if `pc` is NULL. `pattern` is the text, with one %s for the function.
 */
void coil__symbol_print(struct coil__report *report, const char *key, const char *pattern,
                        const void *pc);

/*
 * Print a stack, innermost first. Each function gets a line: `margin`, then text such as
 * "parse at app.c:31". Inlined functions have lines of their own. coil's functions are
 * omitted at the inner end (the call that failed or waits) and at the outer end (such as
 * a server that calls its handler).
 */
void coil__symbol_print_stack(struct coil__report *report, const char *margin,
                              void *const addresses[], size_t n);

/*
 * Print the stack of a task that waits in one of coil's public functions, without the
 * internal functions that the public function calls.
 */
void coil__symbol_print_waiting(struct coil__report *report, const char *margin,
                                void *const addresses[], size_t n);

/*
 * Print the function that called coil, without a newline. The innermost frames must be
 * coil's.
 */
void coil__symbol_print_caller(struct coil__report *report, const char *key,
                               void *const addresses[], size_t n);

/*
 * Print where a thread blocks or computes, without a newline. If the innermost frames are
 * in a library, print the library function that was called, ", called by " and its
 * caller. Otherwise print the innermost function.
 */
void coil__symbol_print_place(struct coil__report *report, const char *key,
                              void *const addresses[], size_t n);

/* A source of symbols, for coil-ps, which prints the addresses of another process. */
struct coil__symbol_source {
    void *arg;
    size_t (*lines)(const struct coil__symbol_source *source, uintptr_t address,
                    struct coil__line found[COIL__LINES_MAX]);
    /* True if the address is in libcoil's code. */
    bool (*is_own)(const struct coil__symbol_source *source, uintptr_t address);
    /* Return the path of the module that contains the address, or NULL. Stores the offset
       in the module, and the function if it has a symbol. */
    const char *(*module)(const struct coil__symbol_source *source, uintptr_t address,
                          const char **function, uintptr_t *offset);
};

/* Use this source from now on. NULL means this process. */
void coil__symbols_use(const struct coil__symbol_source *source);

/*
 * Cache the debug data that look-ups read between these two calls. Pairs of calls may
 * nest.
 */
void coil__symbols_begin(void);
void coil__symbols_end(void);

#endif
