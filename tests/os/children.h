/*
 * children.h - what the tests of processes share.
 */
#ifndef COIL_TESTS_NET_CHILDREN_H
#define COIL_TESTS_NET_CHILDREN_H

#include <coil.h>

/* A process, or one of `sh -c command`; must work. Where the kernel, or Valgrind in its
   place, has no pidfds the test ends here, skipped. */
coil_process *start_process(const coil_process_opts *opts);
coil_process *start_command(const char *command, const coil_process_opts *opts);

/* The same, with these for stdin, stdout, stderr. */
coil_process *start_shell(const char *command, int in, int out, int err);

/* All that it writes to stdout, as text, and its status checked; destroyed. */
const char *output_of(coil_process *process, int status);
const char *shell_output(const char *command, int status);

/* Wait until this process has no child at all, zombies included. */
void wait_for_no_children(void);

/* Read some lines of the child's output, until one has come. */
void read_line(coil_stream *stream, char *line, size_t size);

#endif
