/*
 * program.h - the judge's programs as C reads them. README.md describes the form.
 *
 * A program is an array of lines. A line that opens a block knows the line of its `end`,
 * and of its handler if it has one; so an interpreter walks the array and jumps.
 */
#ifndef JUDGE_PROGRAM_H
#define JUDGE_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

#define LINE_MAX_WORDS 8
#define PROGRAM_MAX_LINES 2000
#define MAX_NUMBER 32 /* the objects of one kind are numbered below this */

struct line {
    char text[96];  /* the words, each separated by one blank */
    char store[96]; /* what `words` points into */
    char *words[LINE_MAX_WORDS];
    int word_count;
    int handler; /* the line of `except` or `finally`, or that of `end` */
    int end;     /* the line of `end`; of a line that opens nothing, itself */
};

struct program {
    char name[32];
    struct line lines[PROGRAM_MAX_LINES];
    int line_count;
};

/*
 * Read the next program of a batch into *program. Returns false at the end of the file;
 * a text that is no program ends the process, with a sentence.
 */
bool program_read(FILE *file, struct program *program);

/* Whether the line's first word is `verb`. */
bool line_is(const struct line *line, const char *verb);

/* The number in a name: 3 for "t3". */
int number_of(const char *name);

#endif
