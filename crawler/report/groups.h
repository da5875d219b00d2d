/*
 * groups.h - arrange the broken links of a crawl into as few groups as possible.
 *
 * Links to the same broken target can form one group, and so can broken links on the same
 * page. Each broken link is in the group of its target or in the group of its page, or in
 * both if the group of the page is formed first.
 */
#ifndef CRAWLER_GROUPS_H
#define CRAWLER_GROUPS_H

#include "../judge/reference.h"

#include <stdbool.h>

/*
 * All links from one page to one broken target. If a whole page is broken, links to its
 * fragments count as links to the page.
 */
struct broken_link {
    const struct target *target; /* copy of the target: see group.about */
    /* copy of the first link, because references may be on disk */
    struct reference first;
    uint32_t page; /* target index of the page */
    uint32_t count;
    uint32_t finding; /* used by groups.c */
    bool is_grouped;  /* used by groups.c */
};

enum group_kind {
    GROUP_PAGE,   /* the broken links on `about` that are not in an earlier group */
    GROUP_TARGET, /* all links to `about` */
    /* all links to several targets in one folder that are broken for the same reason */
    GROUP_FOLDER
};

struct group {
    enum group_kind kind;
    /*
     * The page, the target, or the first target in the folder. This is a copy, including
     * the URL, because targets may be on disk, and reading them again in order of URLs
     * would be slow.
     */
    const struct target *about;
    uint32_t index;      /* index of `about` */
    size_t first, count; /* range in groups->links */
    size_t targets;      /* number of different targets */
    /* number of links, including hidden_count */
    uint64_t link_count;
    uint64_t hidden_count;   /* number of links whose places were not stored */
    uint64_t new_link_count; /* number of links not in an earlier group */
};

struct groups {
    struct group *at; /* largest group first, single links last */
    size_t count;
    struct broken_link **links; /* the links of each group are adjacent */
    struct broken_link *all;
    struct arena copies;
};

/*
 * Group the links to targets for which `verdicts[target->verdict]` is true. Groups of
 * kind GROUP_FOLDER are formed only if `with_folders` is true. Returns 0, or -ENOMEM with
 * *groups all zero.
 */
int groups_make(struct groups *groups, const struct targets *targets,
                const struct references *references, const bool *verdicts,
                bool with_folders);

void groups_finish(struct groups *groups);

/* True if both targets are broken for the same reason. */
bool is_broken_alike(const struct target *a, const struct target *b);

/* Return the length of a URL up to and including the last slash of its path. */
size_t folder_length(const char *url);

#endif
