/*
 * places.h - directories of a test's own, in memory and on a disk.
 */
#ifndef TESTS_OS_PLACES_H
#define TESTS_OS_PLACES_H

/*
 * Call test() once with a new directory, which is the working directory meanwhile, on
 * each kind of file system that there is, and remove it with all that is in it.
 */
void in_each_place(void (*test)(void));

/* The same in one of them. */
void in_a_place(void (*test)(void));

/* Write and compare files by plain system calls. */
void put_file(const char *path, const char *text);
void check_file(const char *path, const char *text);

/* How many names there are in the working directory. */
int count_names(void);

#endif
