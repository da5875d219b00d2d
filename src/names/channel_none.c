/*
 * channel_none.c - replaces channel_cares.c in a build without c-ares, in which only the
 * C library queries name servers. The functions in this file return -EOPNOTSUPP, or are
 * never called.
 */
#include "resolver.h"

const char *const coil__channel_engine = NULL;

int coil__channel_check_servers(const char *servers)
{
    (void)servers;
    return -EOPNOTSUPP;
}

int coil__channel_open(struct coil__resolver *resolver, struct coil__channel **out)
{
    (void)resolver;
    (void)out;
    return -EOPNOTSUPP;
}

void coil__channel_retire(struct coil__channel *channel)
{
    (void)channel;
}

void coil__channel_destroy(struct coil__channel *channel)
{
    (void)channel;
}

void coil__channels_destroy_retired(struct coil__resolver *resolver)
{
    (void)resolver;
}

void coil__channel_ask(struct coil__channel *channel, struct coil__question *question)
{
    (void)channel;
    coil__question_answer(question, &(struct coil__answer){.rc = -EOPNOTSUPP});
    coil__question_release(question);
}

const char *coil__channel_servers(const struct coil__channel *channel)
{
    (void)channel;
    return "";
}
