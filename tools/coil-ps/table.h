/*
 * table.h - finds coil in an image, and reads its table: docs/design/ps.md.
 */
#ifndef COIL_PS_TABLE_H
#define COIL_PS_TABLE_H

#include "image.h"

#include "../../src/coro/outside_keys.h"

#define KEYS 256
#define TABLES_MAX 8

/* A range of coil's own code. */
struct range {
    uint64_t begin, end;
};

struct table {
    uint64_t address; /* address of coil__debug */
    uint64_t resume;  /* address at which a suspended stack resumes */
    uint64_t loops;
    uint32_t loop_count, inherited;
    bool has[KEYS];
    uint16_t values[KEYS];
    struct range *own; /* ranges of coil's own code, sorted */
    size_t own_count;
};

/*
 * Find the tables of all modules that contain coil. If `with_loops` is true, ignore
 * modules without loops, except the first module if no module has loops. Returns the
 * number of tables, or 0 with a message in `why`.
 */
size_t table_find(struct image *image, bool with_loops, struct table tables[TABLES_MAX],
                  char *why, size_t size);

/* Read the table at `address`. Returns false with a message in `why`. */
bool table_read(struct image *image, uint64_t address, struct table *table, char *why,
                size_t size);

void table_free(struct table *table);

/* Return true if the address is in coil's own code. */
bool table_is_own(const struct table *table, uint64_t address);

#endif
