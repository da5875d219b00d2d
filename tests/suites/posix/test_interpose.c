/*
 * test_interpose.c - the functions of the C library that libcoil-posix replaces.
 */
#include "../../harness/harness.h"

#include "../../../posix/interpose.h"

#include <dlfcn.h>

#define NAME(function) #function,
static const char *const names[] = {POSIX__FUNCTIONS(NAME)};

static bool is_of_posix(void *function)
{
    Dl_info info;

    return function != NULL && dladdr(function, &info) != 0 &&
           strstr(info.dli_fname, "libcoil-posix") != NULL;
}

/*
 * Open libcoil-posix. With this handle, dlsym(3) finds only the functions of
 * libcoil-posix.
 */
static void *posix_library(void)
{
    Dl_info info;

    CHECK(dladdr(dlsym(RTLD_DEFAULT, "coil_posix_active"), &info) != 0);
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/*
 * libcoil-posix must export each function. If optimisation is on, the C library's headers
 * define some of these functions inline, and the compiler may then ignore the attributes
 * of the later definition in libcoil-posix.
 */
TEST(each_interposed_function_is_there_to_be_found)
{
    void *library = posix_library();

    for (size_t i = 0; i < POSIX__FUNCTION_COUNT; i++) {
        if (!is_of_posix(dlsym(library, names[i])))
            printf("%s\n", names[i]);
        CHECK(is_of_posix(dlsym(library, names[i])));
    }
    dlclose(library);
}

TEST(each_interposed_function_is_found_before_the_c_librarys)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    test_skip("a sanitizer has functions of its own before all others");
#endif
    for (size_t i = 0; i < POSIX__FUNCTION_COUNT; i++) {
        if (!is_of_posix(dlsym(RTLD_DEFAULT, names[i])))
            printf("%s\n", names[i]);
        CHECK(is_of_posix(dlsym(RTLD_DEFAULT, names[i])));
    }
}
