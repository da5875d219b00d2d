/* Resets go back to what was before the set they are of, nested or not. */
#include "../scenario.h"

static coil_var color = COIL_VAR_INIT("color", (void *)"none");
static coil_var shape = COIL_VAR_INIT("shape", (void *)"none");

static void show(const char *what)
{
    trace("%s: %s, %s", what, (char *)coil_var_get(&color), (char *)coil_var_get(&shape));
}

static int mix_sets(coil_var_token *first)
{
    coil_var_token other;
    int rc = coil_var_set(&shape, "round", &other);

    if (rc < 0) {
        coil_var_reset(&color, first);
        return rc;
    }
    rc = turns(1);
    if (rc == 0)
        rc = coil_var_set(&shape, "square", NULL);
    while (coil_var_reset(&color, first) < 0)
        continue; /* no memory, this time */
    show("reset out of order");
    while (coil_var_reset(&shape, &other) < 0)
        continue;
    return rc;
}

SCENARIO(context_reset_goes_back_to_the_set_it_is_of)
{
    coil_var_token first, second;
    int rc = coil_var_set(&color, "red", &first);

    if (rc < 0)
        return rc;
    rc = coil_var_set(&color, "green", &second);
    show("set twice");
    if (rc == 0) {
        coil_var_reset(&color, &second);
        show("reset once");
        rc = mix_sets(&first);
    } else {
        coil_var_reset(&color, &first);
    }
    show("reset all");
    return rc;
}
