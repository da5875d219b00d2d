/*
 * reference.h - store the places that link to a target, so that reports can list them.
 *
 * For each target, the first REFERENCES_KEPT references are stored. After that, only the
 * first reference on each page is stored, so that a report can still name every page that
 * links to the target. References that reports do not list, because of the verdict of the
 * target, are not stored. All references are counted.
 */
#ifndef CRAWLER_REFERENCE_H
#define CRAWLER_REFERENCE_H

#include "../frontier/target.h"

#define REFERENCES_KEPT 100
#define REFERENCE_HAS_TEXT UINT32_MAX

struct reference {
    const struct target *page;       /* the page that contains the link */
    union {                          /* read by reference_text() */
        const struct target *target; /* the text is the end of this target's URL */
        const char *text;            /* used if text_n is REFERENCE_HAS_TEXT */
    };
    uint32_t text_n;       /* the text's length, or REFERENCE_HAS_TEXT */
    uint32_t line;         /* from 1 */
    uint32_t column : 31;  /* from 1; 0: the link is in a header */
    uint32_t is_known : 1; /* the baseline contains the link */
    uint32_t before;       /* the target's previous reference, or 0 */
};

struct references {
    struct blocks all; /* struct reference, from index 1; cold if targets are */
    size_t count;
    uint32_t unused;     /* the list of free references, linked by `before`; or 0 */
    const bool *fail_on; /* for each verdict, whether it fails the run; or NULL */
    bool takes_none;     /* references are only counted, because no report lists them */
};

/* A place that links to a target. */
struct reference_place {
    const struct target *page;
    const char *text;
    uint32_t line, column;
    bool is_known;
};

/*
 * Count a link to the target, and store it if a report may need it. Column 0 means that
 * the link is in a header. Returns 0 or -ENOMEM.
 */
int references_add(struct references *references, struct targets *targets,
                   struct target *target, const struct reference_place *place);

/*
 * Like references_add(), but without access to the target, which may be on disk. The
 * target must already have a reference, or not need any (known->is_well).
 */
int references_add_unseen(struct references *references, struct targets *targets,
                          const struct unseen *unseen,
                          const struct reference_place *place);

/* Return true if reports list the links to this target. Links to targets that are OK or
   skipped are listed only if that verdict fails the run. */
bool references_are_needed(const struct references *references,
                           const struct target *target);

/* Drop the stored references of a target. Later references are counted but not stored. */
void references_drop(struct references *references, const struct targets *targets,
                     const struct target *target);

/* Return the reference with this index, or NULL for 0. A loop over the references of a
   target begins with known->references, the last one, and follows `before`. */
const struct reference *references_at(const struct references *references, uint32_t at);

/* Return the last reference of a target, or NULL. */
const struct reference *references_of(const struct references *references,
                                      const struct targets *targets,
                                      const struct target *target);

/* Return true if reports list the link, because the link or the target's verdict is not
   in the baseline. */
bool reference_is_told(const struct reference *reference, const struct target *target);

/* Return the link's text as written, but truncated if it is very long. The result lives
   as long as the targets. */
const char *reference_text(const struct reference *reference);

/* Free the members. A zeroed struct is accepted. */
void references_finish(struct references *references);

#endif
