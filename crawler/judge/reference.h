/*
 * reference.h - store where the links to each target are, so that reports can list them.
 *
 * A reference is the place of a link. For each target, the first REFERENCES_KEPT
 * references are stored. After that, only the first reference on each page is stored, so
 * that a report can still name every page that links to the target. If reports do not
 * list links to the target, because of its verdict, references are only counted.
 */
#ifndef CRAWLER_REFERENCE_H
#define CRAWLER_REFERENCE_H

#include "../frontier/target.h"

#define REFERENCES_KEPT 100
#define REFERENCE_HAS_TEXT UINT32_MAX

struct reference {
    const struct target *page;       /* page that contains the link */
    union {                          /* read by reference_text() */
        const struct target *target; /* the text is a suffix of this target's URL */
        const char *text;            /* if text_n is REFERENCE_HAS_TEXT */
    };
    uint32_t text_n;       /* length of the text, or REFERENCE_HAS_TEXT */
    uint32_t line;         /* from 1 */
    uint32_t column : 31;  /* from 1; 0: the link is in a header */
    uint32_t is_known : 1; /* the baseline contains the link */
    uint32_t before;       /* index of the previous reference to the same target, or 0 */
};

struct references {
    struct blocks all; /* struct reference, from index 1; on disk if targets are */
    size_t count;
    uint32_t unused;     /* list of unused entries, linked by `before`; or 0 */
    const bool *fail_on; /* whether each verdict fails the run; or NULL */
    bool takes_none;     /* only count references, because no report lists them */
};

/* The place of a link. */
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
 * Like references_add(), but without accessing the struct target, which may be on disk.
 * The target must already have a stored reference, or must not need one
 * (known->is_unreported).
 */
int references_add_unseen(struct references *references, struct targets *targets,
                          const struct unseen *unseen,
                          const struct reference_place *place);

/*
 * Return true if reports list the links to this target. If its verdict is OK or skipped,
 * they do so only if this verdict fails the run.
 */
bool references_are_needed(const struct references *references,
                           const struct target *target);

/*
 * Drop the stored references to a target. From now on, references to it are only counted.
 */
void references_drop(struct references *references, const struct targets *targets,
                     const struct target *target);

/*
 * Return the reference with this index, or NULL for 0. To visit all references to a
 * target, begin with the index known->references, and follow `before`.
 */
const struct reference *references_at(const struct references *references, uint32_t at);

/* Return the last stored reference to a target, or NULL. */
const struct reference *references_of(const struct references *references,
                                      const struct targets *targets,
                                      const struct target *target);

/*
 * Return true if reports list the link, because the link itself or the verdict of its
 * target is not in the baseline.
 */
bool reference_is_reported(const struct reference *reference,
                           const struct target *target);

/*
 * Return the link's text as written, truncated if it is very long. The result lives as
 * long as the targets.
 */
const char *reference_text(const struct reference *reference);

/* Free the members. A zeroed struct is accepted. */
void references_finish(struct references *references);

#endif
