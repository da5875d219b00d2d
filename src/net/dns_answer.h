/*
 * dns_answer.h - what a name server has sent. (RFC 1035, 4)
 */
#ifndef COIL_NET_DNS_ANSWER_H
#define COIL_NET_DNS_ANSWER_H

#include "resolver.h"

/* Fill in name, addresses and time to live. Returns a status of c-ares. */
int coil__dns_parse(enum coil__question_kind kind, const unsigned char *data, int n,
                    struct coil__answer *answer);

/*
 * How long it is right that there is none: the lesser of the SOA record's own time to
 * live and its `minimum` (RFC 2308, 5), at most a minute; 5 s if there is no such record.
 * `data` may be NULL.
 */
int64_t coil__dns_negative_ttl(const unsigned char *data, int n);

#endif
