/*
 * answers.c - prints the results of crawler/scope/robots.c for robots.txt files, for
 * tests/suites/robots/run.
 *
 *     answers FILE PRODUCT    on standard input: a path and query on each line
 *
 * The program writes a line with the delay in nanoseconds, a line for each sitemap, and
 * an empty line. After that, the program writes "allow LINE" or "disallow LINE" for each
 * path.
 */
#include "../../../crawler/scope/robots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct robots *parse_file(const char *path, const char *product)
{
    static char text[ROBOTS_BYTES + 1];
    FILE *file = fopen(path, "r");
    size_t n;

    if (file == NULL)
        return NULL;
    n = fread(text, 1, sizeof text, file);
    fclose(file);
    return robots_parse(text, n, product);
}

int main(int argc, char **argv)
{
    struct robots *robots = argc == 3 ? parse_file(argv[1], argv[2]) : NULL;
    char *path = NULL;
    size_t size = 0;
    unsigned line;

    if (robots == NULL)
        return 1;
    printf("%" PRId64 "\n", robots_delay_ns(robots));
    for (size_t i = 0; robots_sitemap(robots, i) != NULL; i++)
        printf("%s\n", robots_sitemap(robots, i));
    printf("\n");
    while (getline(&path, &size, stdin) > 0) {
        path[strcspn(path, "\n")] = '\0';
        printf("%s", robots_allows(robots, path, &line) > 0 ? "allow" : "disallow");
        printf(" %u\n", line);
    }
    robots_destroy(robots);
    free(path);
    return 0;
}
