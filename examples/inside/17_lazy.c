/*
 * 17_lazy.c - an iterator over a sequence that does not fit in memory.
 *
 * A generator produces a value only on request. This generator produces all 2.4e18
 * permutations of 20 letters by textbook recursion. Each value is yielded from the
 * innermost of 20 calls, and the frames of the calls hold the state of the search. Two
 * generators are at different points of the search. An ordinary loop takes as many values
 * as it needs, and stops. After that, the generator is closed in the middle of the
 * search.
 *
 * To try: in permute(), return right after the recursive call if `rc` is negative, before
 * the letters are swapped back. Closing the generator then leaves `many` permuted.
 */
#include <coil/gen.h>

#include <stdio.h>
#include <string.h>

/* [permute] */
static void swap(char *a, char *b)
{
    char was = *a;

    *a = *b;
    *b = was;
}

static int permute(char *letters, size_t at)
{
    int rc = 0;

    if (letters[at] == '\0')
        return coil_gen_yield(letters, NULL);
    for (size_t i = at; letters[i] != '\0' && rc == 0; i++) {
        swap(&letters[at], &letters[i]);
        rc = permute(letters, at + 1);
        swap(&letters[at], &letters[i]);
    }
    return rc; // -ECANCELED if the generator was closed
}

static int permutations(coil_gen *gen, void *letters)
{
    (void)gen;
    return permute(letters, 0);
}
/* [end] */

int main(void)
{
    char many[] = "abcdefghijklmnopqrst", few[] = "xyz";
    coil_gen *of_many, *of_few;
    void *order;
    int taken = 0;

    if (coil_gen_create(permutations, many, NULL, &of_many) < 0 ||
        coil_gen_create(permutations, few, NULL, &of_few) < 0)
        return 1;
    /* [loop] */
    while (coil_gen_next(of_few, &order) == COIL_GEN_YIELDED) {
        printf("%s", (char *)order);
        if (coil_gen_next(of_many, &order) == COIL_GEN_YIELDED)
            printf(" %s", (char *)order);
        printf("\n");
    }
    /* [end] */
    while (coil_gen_next(of_many, &order) == COIL_GEN_YIELDED)
        if (++taken == 100000)
            break;
    printf("and after 100,000 more: %s\n", (char *)order);
    coil_gen_destroy(of_many); // closes it in the middle of the search
    coil_gen_destroy(of_few);
    printf("as it was: %s\n", many);
    return 0;
}
