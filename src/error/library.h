/*
 * library.h - loads libraries that only reports need, with dlopen(3).
 */
#ifndef COIL_ERROR_LIBRARY_H
#define COIL_ERROR_LIBRARY_H

/*
 * Load a library with RTLD_LOCAL. Returns NULL if this fails. In a statically linked
 * program it always returns NULL, because the library would load a second C library,
 * which would crash immediately.
 */
void *coil__library_open(const char *name);

#endif
