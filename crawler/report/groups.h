/*
 * groups.h - arrange the broken links of a crawl into as few groups as possible.
 *
 * If many pages link to a missing target, that is one group. If a page has many broken
 * links, that is one group as well. Each broken link is in the group of its target, or of
 * its page, or, if the page's group comes first, in both.
 */
#ifndef CRAWLER_GROUPS_H
#define CRAWLER_GROUPS_H

#include "../judge/reference.h"

#include <stdbool.h>

/*
 * All links of a page to one target. If the target itself is broken, all its fragments
 * count as one target.
 */
struct broken_link {
    const struct target *target; /* a copy, as in struct group */
    /* the first such link on the page; a copy, because mentions may be swapped out */
    struct reference first;
    uint32_t page; /* index of the page */
    uint32_t count;
    uint32_t finding; /* used by groups.c */
    bool is_grouped;  /* used by groups.c */
};

enum group_kind {
    GROUP_PAGE,   /* all broken links on `about` that are in no other group */
    GROUP_TARGET, /* all links to `about` */
    /* all links to several targets in one folder that are broken for the same reason */
    GROUP_FOLDER
};

struct group {
    enum group_kind kind;
    /*
     * For a folder, its first target. This is a copy with its URL, because targets may be
     * swapped out and are read here in the order of URLs.
     */
    const struct target *about;
    uint32_t index;      /* index of `about` */
    size_t first, count; /* range in groups->links */
    size_t targets;      /* number of different targets */
    /* number of links, including those whose places were not stored */
    uint64_t link_count;
    uint64_t hidden_count; /* links whose places were not stored */
    uint64_t untold_count; /* links that are in no earlier group */
};

struct groups {
    struct group *at; /* the largest groups first, single links last */
    size_t count;
    struct broken_link **links; /* the links of each group are adjacent */
    struct broken_link *all;
    struct arena copies;
};

/*
 * Group the links to targets whose verdicts are set in `verdicts`. Makes groups of kind
 * GROUP_FOLDER only if `with_folders`. Returns 0, or -ENOMEM and zeroes in *groups.
 */
int groups_make(struct groups *groups, const struct targets *targets,
                const struct references *references, const bool *verdicts,
                bool with_folders);

void groups_finish(struct groups *groups);

/* True if both targets are broken for the same reason. */
bool is_broken_alike(const struct target *a, const struct target *b);

/* Return the length of a URL or path up to and including the last slash of its path. */
size_t folder_length(const char *url);

#endif
