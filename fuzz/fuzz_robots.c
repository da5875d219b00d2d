/*
 * fuzz_robots.c - applies a robots.txt to a path, and checks that the deciding rule is a
 * line of the file, and that other percent-encodings of the path give the same result.
 *
 * The first line of the input is the path, and the rest is the file.
 */
#include "fuzz.h"

#include "../crawler/scope/robots.h"
#include "../crawler/base/text.h"

/* Percent-encode each letter, digit and non-ASCII octet of the path. */
static char *spell_otherwise(const char *path)
{
    char *out = malloc(3 * strlen(path) + 1), *to = out;

    CLAIM(out != NULL);
    for (size_t i = 0; path[i] != '\0'; i++) {
        bool is_encoded =
            path[i] == '%' && hex_value(path[i + 1]) >= 0 && hex_value(path[i + 2]) >= 0;
        if (is_encoded) {
            memcpy(to, path + i, 3);
            to += 3;
            i += 2;
        } else if (is_letter(path[i]) || is_digit(path[i]) || path[i] < 0) {
            to += sprintf(to, "%%%02x", (unsigned char)path[i]);
        } else {
            *to++ = path[i];
        }
    }
    *to = '\0';
    return out;
}

static void check_answer(const struct robots *robots, const char *path, size_t lines)
{
    unsigned line, again_line;
    bool allowed = robots_allows(robots, path, &line), again;
    char *other;

    CLAIM(line <= lines);
    CLAIM(line > 0 || allowed);
    if (strncmp(path, "/robots", 7) == 0)
        return;
    other = spell_otherwise(path);
    again = robots_allows(robots, other, &again_line);
    CLAIM(again == allowed && again_line == line);
    free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line_end = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t path_bytes = line_end != NULL ? (size_t)(line_end - data) : size;
    size_t text_at = line_end != NULL ? path_bytes + 1 : size;
    char *path = fuzz_text(data, path_bytes);
    char *text = (char *)fuzz_bytes(data + text_at, size - text_at);
    struct robots *robots = robots_parse(text, size - text_at, "coil-crawl");

    CLAIM(robots != NULL);
    CLAIM(robots_allows(robots, "/robots.txt", NULL));
    CLAIM(robots_delay_ns(robots) >= -1);
    for (size_t i = 0; robots_sitemap(robots, i) != NULL; i++)
        CLAIM(robots_sitemap(robots, i)[0] != '\0');
    check_answer(robots, path, size - text_at);
    robots_destroy(robots);
    free(text);
    free(path);
    return 0;
}
