/*
 * child_stdio.h (internal) - the standard descriptors of a child.
 */
#ifndef COIL_OS_CHILD_STDIO_H
#define COIL_OS_CHILD_STDIO_H

#include <coil/process.h>

/* The index of the pseudo-terminal, after stdin, stdout and stderr. */
enum { COIL__TERMINAL = 3, COIL__ENDS };

struct coil__stdio {
    int fd[3];    /* the child's standard descriptors */
    bool ours[3]; /* fd[i] was opened here, so it is closed after the child has started */
    int terminal; /* the child's end of the pseudo-terminal; -1: none */
    /* the parent's ends of pipes and of the terminal, or NULL */
    coil_stream *ends[COIL__ENDS];
};

/*
 * Open the child's descriptors and the parent's ends. Even after a failure the caller
 * must destroy the ends and call coil__stdio_close().
 */
int coil__stdio_open(struct coil__stdio *stdio, const coil_process_opts *opts);

/* Close the child's descriptors in the parent. */
void coil__stdio_close(const struct coil__stdio *stdio);

#endif
