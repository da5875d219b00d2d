/*
 * library.h - loads libraries that are needed only for reports, by dlopen(3).
 */
#ifndef COIL_ERROR_LIBRARY_H
#define COIL_ERROR_LIBRARY_H

/*
 * Load a library with RTLD_LOCAL. Returns NULL if that fails. Always returns NULL in a
 * statically linked program: the library would load a second C library, which would crash
 * at its start.
 */
void *coil__library_open(const char *name);

#endif
