/*
 * program.h - the judge's programs as C structs. README.md describes their text form.
 *
 * A program is an array of lines. A line that opens a block stores the indexes of the
 * block's `end` and of its handler, to which the interpreter jumps.
 */
#ifndef JUDGE_PROGRAM_H
#define JUDGE_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#define LINE_MAX_WORDS 8
#define PROGRAM_MAX_LINES 2000
#define MAX_NUMBER 32 /* the numbers in names such as "f3" are lower than this */

struct line {
    char text[96];  /* the words, separated by single blanks */
    char store[96]; /* memory for `words` */
    char *words[LINE_MAX_WORDS];
    int word_count;
    int handler; /* index of the line that begins the handler, or of `end` */
    int end;     /* index of the `end` line, or of this line if it opens no block */
};

struct program {
    char name[32];
    struct line lines[PROGRAM_MAX_LINES];
    int line_count;
};

/*
 * Read the next program of a batch into *program. Returns false at the end of the file.
 * If the text is invalid, the process exits with a message.
 */
bool program_read(FILE *file, struct program *program);

/* Return true if the first word of the line is `verb`. */
bool line_is(const struct line *line, const char *verb);

/* Return the number in a name: 3 for "t3". */
int number_of(const char *name);

#endif
