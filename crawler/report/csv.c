/*
 * csv.c - see csv.h
 *
 *     page,line,column,element,attribute,text,target,fragment,verdict,reason,status,message,leads_to,links
 *     "http://h/a.html",12,9,"a","href","b.html","http://h/b.html","","broken","status",404,"404 Not Found","",1
 *
 * Texts are always quoted, because some spreadsheets separate fields with characters
 * other than a comma. Each of the first hundred links to a target has a row. After that,
 * only the first link on each page has a row, but the column `links` contains the number
 * of all links.
 */
#include "csv.h"

#include "escape.h"

#include <errno.h>
#include <stdlib.h>

static void put_text(struct out *out, const char *text)
{
    escape_csv(text != NULL ? text : "", escape_to_out, out);
    out_put(out, ",");
}

/* Write a number, or an empty field for 0. */
static void put_number(struct out *out, unsigned value)
{
    if (value > 0)
        out_print(out, "%u", value);
    out_put(out, ",");
}

static void put_place(struct out *out, const struct digest *digest,
                      const struct digest_link *link)
{
    put_text(out, link != NULL ? link->page->url : NULL);
    put_number(out, link != NULL ? link->line : 0);
    put_number(out, link != NULL ? link->column : 0);
    put_text(out,
             link != NULL && link->element > 0 ? digest->words[link->element] : NULL);
    put_text(out,
             link != NULL && link->attribute > 0 ? digest->words[link->attribute] : NULL);
}

static void put_row(struct out *out, const struct digest *digest,
                    const struct digest_row *row)
{
    const struct finding *finding = row->finding;
    char *text = digest_text(row);

    if (text == NULL) {
        out_fail(out, -ENOMEM);
        return;
    }
    put_place(out, digest, row->link);
    put_text(out, text);
    free(text);
    put_text(out, finding->target);
    put_text(out, finding->fragment);
    put_text(out, verdict_word(finding->verdict));
    put_text(out, reason_word(finding->reason));
    put_number(out, finding->status > 0 ? (unsigned)finding->status : 0);
    put_text(out, finding->message);
    put_text(out, finding->leads_to);
    out_print(out, "%u\r\n", finding->link_count);
}

int report_csv(struct out *out, const struct digest *digest)
{
    out_put(out, "page,line,column,element,attribute,text,target,fragment,verdict,reason,"
                 "status,message,leads_to,links\r\n");
    for (size_t i = 0; i < digest->row_count; i++)
        put_row(out, digest, &digest->rows[i]);
    return out->rc;
}
