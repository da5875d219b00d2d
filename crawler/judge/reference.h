/*
 * reference.h - the links to each target, for reports.
 *
 * Of each target, the first REFERENCES_KEPT links are stored, then the first link of
 * each further page. So a report can name every page that links to the target. If no
 * report names the links to a target with this verdict, none are stored. All are
 * counted.
 */
#ifndef CRAWLER_REFERENCE_H
#define CRAWLER_REFERENCE_H

#include "../frontier/target.h"

#define REFERENCES_KEPT 100
#define REFERENCE_HAS_TEXT UINT32_MAX

struct reference {
    const struct target *page;       /* that links */
    union {                          /* reference_text() */
        const struct target *target; /* it is the end of its URL */
        const char *text;            /* text_n is REFERENCE_HAS_TEXT */
    };
    uint32_t text_n;
    uint32_t line;         /* from 1 */
    uint32_t column : 31;  /* the same; 0: a header */
    uint32_t is_known : 1; /* the baseline has the link */
    uint32_t before;       /* the reference before this one; 0: this is the first */
};

struct references {
    struct blocks all; /* of struct reference, from 1; cold if the targets are */
    size_t count;
    uint32_t unused;     /* the first of a list by `before`, or 0 */
    const bool *fail_on; /* for each verdict: it fails the run; NULL: none does */
    bool takes_none;     /* none are stored, because no report is made here */
};

/* Where a target is linked. */
struct reference_place {
    const struct target *page;
    const char *text;
    uint32_t line, column;
    bool is_known;
};

/* A page links to the target; column 0 is a header. Count the link, and store it if a
   report may need it. 0 or -ENOMEM. */
int references_add(struct references *references, struct targets *targets,
                   struct target *target, const struct reference_place *place);

/* The same for a target that is not read. It has references already, or needs none
   (known->is_well). */
int references_add_unseen(struct references *references, struct targets *targets,
                          const struct unseen *unseen,
                          const struct reference_place *place);

/* True if a report may name the links to the target. It does not for targets that are
   OK or skipped, unless those fail the run. */
bool references_are_needed(const struct references *references,
                           const struct target *target);

/* Drop the references to a target, and store no more. Their count stays. */
void references_drop(struct references *references, const struct targets *targets,
                     const struct target *target);

/* Return the reference with that index, or NULL. Begin with known->references, the last
   one, and go on with `before`. */
const struct reference *references_at(const struct references *references, uint32_t at);

/* The last of a target's. */
const struct reference *references_of(const struct references *references,
                                      const struct targets *targets,
                                      const struct target *target);

/* True if reports name the link: the baseline lacks it, or its target's verdict. */
bool reference_is_told(const struct reference *reference, const struct target *target);

/* As written, but cut where it is very long. It lives as long as the targets. */
const char *reference_text(const struct reference *reference);

/* Zeroes are accepted. */
void references_finish(struct references *references);

#endif
