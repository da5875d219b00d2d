/*
 * library.h - dlopen(3) for libraries that only reports need.
 */
#ifndef COIL_ERROR_LIBRARY_H
#define COIL_ERROR_LIBRARY_H

/*
 * Load a library with RTLD_LOCAL. Returns NULL if that fails. Always returns NULL in a
 * statically linked program: the library would load a second C library, which would crash
 * as it starts.
 */
void *coil__library_open(const char *name);

#endif
