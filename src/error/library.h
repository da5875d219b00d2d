/*
 * library.h - loads libraries that only reports need, with dlopen(3).
 */
#ifndef COIL_ERROR_LIBRARY_H
#define COIL_ERROR_LIBRARY_H

/*
 * Load a library with RTLD_LOCAL. Returns NULL on failure. Always returns NULL in a
 * statically linked program, where the library would load a second C library and crash
 * immediately.
 */
void *coil__library_open(const char *name);

#endif
