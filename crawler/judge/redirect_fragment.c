/* redirect_fragment.c - see redirect_fragment.h */
#include "redirect_fragment.h"

#include <errno.h>
#include <string.h>

struct redirect {
    const char *fragment; /* or NULL */
};

int redirect_set_fragment(struct verdicts *verdicts, const struct target *page,
                          const char *fragment)
{
    struct redirect *redirect = table_get(&verdicts->redirects, page->url);
    const char *copy = NULL;

    if (fragment == NULL && redirect == NULL)
        return 0;
    if (fragment != NULL) {
        copy = targets_intern(verdicts->targets, fragment, strlen(fragment));
        if (copy == NULL)
            return -ENOMEM;
    }
    if (redirect != NULL) {
        redirect->fragment = copy;
        return 0;
    }
    redirect = arena_alloc(&verdicts->targets->arena, sizeof *redirect);
    if (redirect == NULL)
        return -ENOMEM;
    redirect->fragment = copy;
    return table_add(&verdicts->redirects, page->url, redirect);
}

const char *redirect_fragment(const struct verdicts *verdicts, const struct target *page)
{
    const struct redirect *redirect = table_get(&verdicts->redirects, page->url);

    return redirect != NULL ? redirect->fragment : NULL;
}

const char *redirect_wanted_fragment(const struct verdicts *verdicts,
                                     const struct target *page)
{
    if (verdicts->options->fragments == FRAGMENTS_NONE)
        return NULL;
    return redirect_fragment(verdicts, page);
}
