/*
 * library.h - dlopen(3) for libraries that only reports need.
 */
#ifndef COIL_ERROR_LIBRARY_H
#define COIL_ERROR_LIBRARY_H

/*
 * Load a library with RTLD_LOCAL. NULL if that fails, and always in a statically linked
 * program: the library would bring a second C library, whose start crashes.
 */
void *coil__library_open(const char *name);

#endif
