/*
 * children.h - functions shared by the tests of processes.
 */
#ifndef COIL_TESTS_NET_CHILDREN_H
#define COIL_TESTS_NET_CHILDREN_H

#include <coil.h>

/*
 * Start a process, or `sh -c command`. The start must succeed. Without pidfds, for
 * example under Valgrind, the test is skipped.
 */
coil_process *start_process(const coil_process_opts *opts);
coil_process *start_command(const char *command, const coil_process_opts *opts);

/* Like start_command(), but with the given stdin, stdout and stderr. */
coil_process *start_shell(const char *command, int in, int out, int err);

/*
 * Read the output of the process, check its exit status, and destroy it. Returns the
 * output as text.
 */
const char *output_of(coil_process *process, int status);
const char *shell_output(const char *command, int status);

/* Wait until all children of this process are gone, including zombies. */
void wait_for_no_children(void);

/* Read the child's output up to the end of a line. */
void read_line(coil_stream *stream, char *line, size_t size);

#endif
