/*
 * pattern.h - regular expressions that leave URLs out: --exclude and --include.
 *
 *     rc = patterns_add(&list, "\\.png$", why);      // "\\.png$" lasts as long as the list
 *     if (patterns_match(&list, url, &which) == 1) ...
 *     patterns_finish(&list);
 *
 * They are Perl's, by PCRE2, as in grep -P, git and nginx. Calls nothing of coil.
 */
#ifndef CRAWLER_PATTERN_H
#define CRAWLER_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct pattern;

struct pattern_list {
    struct pattern *at;
    size_t count;
};

#define PATTERN_WHY_BYTES 160

/*
 * Compile a pattern and add it. -ENOMEM, or -EINVAL with a sentence in `why`: for what is no regular
 * expression, and for one that matches every URL or none by mistake. The text is borrowed.
 */
int patterns_add(struct pattern_list *list, const char *text,
                 char why[PATTERN_WHY_BYTES]);

/*
 * 1 if a pattern is found in the text, 0 if none is, -ENOMEM, or -ETIMEDOUT for one that takes too
 * long. *which, unless it is NULL, becomes the index of the pattern that decided.
 */
int patterns_match(const struct pattern_list *list, const char *text, size_t *which);

/* The same of one pattern. */
int pattern_matches(const struct pattern_list *list, size_t index, const char *text);

/* As it was given. */
const char *pattern_text(const struct pattern_list *list, size_t index);

/* True the first time that this is called for a pattern: it is to be complained of once. */
bool pattern_is_news(const struct pattern_list *list, size_t index);

/* Zeroes are accepted. */
void patterns_finish(struct pattern_list *list);

#endif
