/*
 * children.h - functions that the tests of processes share.
 */
#ifndef COIL_TESTS_NET_CHILDREN_H
#define COIL_TESTS_NET_CHILDREN_H

#include <coil.h>

/*
 * A process, or one that runs `sh -c command`; starting it must work. Without pidfds, as under Valgrind, the test ends here, skipped.
 */
coil_process *start_process(const coil_process_opts *opts);
coil_process *start_command(const char *command, const coil_process_opts *opts);

/* The same, with these for stdin, stdout, stderr. */
coil_process *start_shell(const char *command, int in, int out, int err);

/* Return all its output to stdout as text, check its status, and destroy it. */
const char *output_of(coil_process *process, int status);
const char *shell_output(const char *command, int status);

/* Wait until all children of this process are gone, including zombies. */
void wait_for_no_children(void);

/* Read lines of the child's output until this one has come. */
void read_line(coil_stream *stream, char *line, size_t size);

#endif
