/*
 * pattern.h - regular expressions that exclude or include URLs: --exclude and --include.
 *
 *     rc = patterns_add(&list, "\\.png$", why);   // the list borrows the text
 *     if (patterns_match(&list, url, &which) == 1) ...
 *     patterns_finish(&list);
 *
 * The syntax is Perl's, as implemented by PCRE2 and used by grep -P, git and nginx. The
 * functions do not use coil.
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
 * Compile a pattern and add it to the list. The list does not copy the text. Fails with
 * -ENOMEM, or with -EINVAL and a message in `why`: if the text is not a regular
 * expression, or is obviously a mistake because it would match every URL or none.
 */
int patterns_add(struct pattern_list *list, const char *text,
                 char why[PATTERN_WHY_BYTES]);

/*
 * Return 1 if a pattern matches a part of the text, 0 if not, -ENOMEM, or -ETIMEDOUT if a
 * pattern takes too long. Stores the index of the pattern that matched or took too long
 * in *which. `which` may be NULL.
 */
int patterns_match(const struct pattern_list *list, const char *text, size_t *which);

/* Like patterns_match(), but for a single pattern. */
int pattern_matches(const struct pattern_list *list, size_t index, const char *text);

/* Return the text of a pattern as passed to patterns_add(). */
const char *pattern_text(const struct pattern_list *list, size_t index);

/*
 * Return true at the first call for a pattern, and false later, so that a message about
 * the pattern is printed only once.
 */
bool pattern_is_news(const struct pattern_list *list, size_t index);

/* Free the patterns. A zeroed list is accepted. */
void patterns_finish(struct pattern_list *list);

#endif
