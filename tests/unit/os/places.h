/*
 * places.h - temporary directories for tests, in memory and on a disk.
 */
#ifndef TESTS_OS_PLACES_H
#define TESTS_OS_PLACES_H

/*
 * Call test() with a new directory on each available kind of file system. During the test
 * the new directory is the working directory. Afterwards the directory is removed with
 * its contents.
 */
void in_each_place(void (*test)(void));

/* Like in_each_place(), but only on one kind of file system. */
void in_a_place(void (*test)(void));

/* Write a file, or compare its contents, with plain system calls. */
void put_file(const char *path, const char *text);
void check_file(const char *path, const char *text);

/* Return the number of names in the working directory. */
int count_names(void);

#endif
