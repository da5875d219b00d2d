/*
 * program.c - reads the judge's programs. A program begins with a line `program NAME`,
 * and ends before the next such line or at the end of the file.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

static _Noreturn void give_up(const struct program *program, const char *why)
{
    fprintf(stderr, "coil-judge: program %s, line %d: %s\n", program->name,
            program->line_count, why);
    exit(2);
}

bool line_is(const struct line *line, const char *verb)
{
    return strcmp(line->words[0], verb) == 0;
}

int number_of(const char *name)
{
    return atoi(name + 1);
}

static bool opens_block(const struct line *line)
{
    static const char *const openers[] = {"task",     "try",  "group", "scope",
                                          "scope_at", "hold", "bind"};

    for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++)
        if (line_is(line, openers[i]))
            return true;
    return false;
}

static bool is_handler(const struct line *line)
{
    return line_is(line, "except") || line_is(line, "finally") ||
           line_is(line, "cleanup");
}

/*
 * Split a line into words, and store it with single blanks between words for the trace.
 * Returns false for an empty line.
 */
static bool parse_line(struct program *program, const char *text)
{
    struct line *line = &program->lines[program->line_count];
    char *rest = line->store;

    *line = (struct line){.end = program->line_count, .handler = program->line_count};
    if (strlen(text) >= sizeof line->store)
        give_up(program, "a line too long");
    strcpy(line->store, text);
    for (char *word; (word = strtok_r(rest, " \n", &rest)) != NULL;) {
        if (line->word_count == LINE_MAX_WORDS)
            give_up(program, "too many words");
        if (line->word_count > 0)
            strcat(line->text, " ");
        strcat(line->text, word);
        line->words[line->word_count++] = word;
    }
    return line->word_count > 0;
}

/* Find the end and the handler of each block. */
static void match_blocks(struct program *program)
{
    int open[PROGRAM_MAX_LINES], depth = 0;

    for (int i = 0; i < program->line_count; i++) {
        struct line *line = &program->lines[i];

        if (opens_block(line)) {
            open[depth++] = i;
            line->handler = -1;
        } else if (is_handler(line) || line_is(line, "end")) {
            if (depth == 0)
                give_up(program, "a block that nobody opened");
            if (program->lines[open[depth - 1]].handler < 0)
                program->lines[open[depth - 1]].handler = i;
            if (line_is(line, "end"))
                program->lines[open[--depth]].end = i;
        }
    }
    if (depth > 0)
        give_up(program, "a block without an end");
}

bool program_read(FILE *file, struct program *program)
{
    char text[256];
    long start;

    program->line_count = 0;
    if (fgets(text, sizeof text, file) == NULL)
        return false;
    if (sscanf(text, "program %31s", program->name) != 1)
        give_up(program, "expected `program NAME`");
    while ((start = ftell(file)) >= 0 && fgets(text, sizeof text, file) != NULL) {
        if (strncmp(text, "program ", 8) == 0) {
            fseek(file, start, SEEK_SET);
            break;
        }
        if (program->line_count == PROGRAM_MAX_LINES)
            give_up(program, "too many lines");
        if (parse_line(program, text))
            program->line_count++;
    }
    match_blocks(program);
    return true;
}
