/*
 * groups.h - the broken links of a crawl, told in as few groups as will do.
 *
 * A missing target that many pages link to is one thing to say, and a page with many broken
 * links is one, too. Each broken link is in the group of its target or in that of its page, or
 * in both where that of the page came first.
 */
#ifndef CRAWLER_GROUPS_H
#define CRAWLER_GROUPS_H

#include "../judge/reference.h"

#include <stdbool.h>

/* All links of a page to a target, whatever their fragments if the target is broken as a whole. */
struct broken_link {
    const struct target *target; /* a copy, as struct group's */
    struct reference first;      /* of the page; a copy, since mentions may be cold */
    uint32_t page;               /* its index */
    uint32_t count;
    uint32_t finding; /* for groups.c */
    bool is_grouped;  /* the same */
};

enum group_kind {
    GROUP_PAGE,   /* all broken links of `about` that are in no other group */
    GROUP_TARGET, /* all links to `about` */
    GROUP_FOLDER  /* the same for several targets of its folder, that are broken alike */
};

struct group {
    enum group_kind kind;
    /* Of a folder: its first target. A target is a copy with its URL, since it is looked at in the order of URLs, and
       may be cold. */
    const struct target *about;
    uint32_t index;        /* of it */
    size_t first, count;   /* in groups->links */
    size_t targets;        /* that are different */
    uint64_t link_count;   /* with those whose places were not kept */
    uint64_t hidden_count; /* these */
    uint64_t untold_count; /* of link_count, those that no group before has */
};

struct groups {
    struct group *at; /* what explains the most links first, single links last */
    size_t count;
    struct broken_link **links; /* those of a group one behind the other */
    struct broken_link *all;
    struct arena copies;
};

/* Of the targets whose verdicts are set in `verdicts`; with GROUP_FOLDERs if `with_folders`.
   0 or -ENOMEM; zeroes are then in *groups. */
int groups_make(struct groups *groups, const struct targets *targets,
                const struct references *references, const bool *verdicts,
                bool with_folders);

void groups_finish(struct groups *groups);

/* True if the same is wrong with both. */
bool is_broken_alike(const struct target *a, const struct target *b);

/* The length of a URL or path up to the last slash of its path, with it. */
size_t folder_length(const char *url);

#endif
