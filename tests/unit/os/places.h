/*
 * places.h - temporary directories for tests, in memory and on disk.
 */
#ifndef TESTS_OS_PLACES_H
#define TESTS_OS_PLACES_H

/*
 * Call test() in a new working directory on each available kind of file system, and then
 * remove the directory with its contents.
 */
void in_each_place(void (*test)(void));

/* Like in_each_place(), but on only one kind of file system. */
void in_a_place(void (*test)(void));

/* Write a file, or check its contents, with plain system calls. */
void put_file(const char *path, const char *text);
void check_file(const char *path, const char *text);

/* Return the number of files in the working directory. */
int count_names(void);

#endif
