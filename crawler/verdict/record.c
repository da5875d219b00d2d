/*
 * record.c - see record.h
 */
#include "record.h"

static int first_failure(int rc, int its)
{
    return rc < 0 ? rc : its;
}

int records_page(const struct record_sinks *sinks, const struct record_page *page)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].page != NULL)
            rc = first_failure(rc, sinks->at[i].page(sinks->at[i].arg, page));
    return rc;
}

int records_link(const struct record_sinks *sinks, const struct record_link *link)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].link != NULL)
            rc = first_failure(rc, sinks->at[i].link(sinks->at[i].arg, link));
    return rc;
}

int records_answer(const struct record_sinks *sinks, const struct record_answer *answer)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].answer != NULL)
            rc = first_failure(rc, sinks->at[i].answer(sinks->at[i].arg, answer));
    return rc;
}

int records_redirect(const struct record_sinks *sinks,
                     const struct record_redirect *redirect)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].redirect != NULL)
            rc = first_failure(rc, sinks->at[i].redirect(sinks->at[i].arg, redirect));
    return rc;
}

int records_verdict(const struct record_sinks *sinks,
                    const struct record_verdict *verdict)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].verdict != NULL)
            rc = first_failure(rc, sinks->at[i].verdict(sinks->at[i].arg, verdict));
    return rc;
}

int records_summary(const struct record_sinks *sinks,
                    const struct record_summary *summary)
{
    int rc = 0;

    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->at[i].summary != NULL)
            rc = first_failure(rc, sinks->at[i].summary(sinks->at[i].arg, summary));
    return rc;
}
