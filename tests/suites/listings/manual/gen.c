/* gen.c - compiles and runs the examples in docs/manual/gen.md. */
#include "listings.h"

#include "gen.md/generators"

int main(void)
{
    coil_gen *g;
    void *value;
    intptr_t sum = 0;

    CHECK(coil_gen_create(count, (void *)3, NULL, &g) == 0);
    while (coil_gen_next(g, &value) == COIL_GEN_YIELDED)
        sum += (intptr_t)value;
    coil_gen_destroy(g);
    CHECK(sum == 6);
    return 0;
}
