/*
 * dns_answer.h - parses a name server's response. (RFC 1035, 4)
 */
#ifndef COIL_NAMES_DNS_ANSWER_H
#define COIL_NAMES_DNS_ANSWER_H

#include "resolver.h"

/*
 * True if the message is a response (its QR bit is set) and at least as long as a header.
 */
bool coil__dns_is_response(const unsigned char *data, int n);

/* Fill in the answer's name, addresses and time to live. Returns a status of c-ares. */
int coil__dns_parse(enum coil__question_kind kind, const unsigned char *data, int n,
                    struct coil__answer *answer);

/*
 * Return the time to live of a negative answer: the SOA record's own time to live or its
 * `minimum`, whichever is less (RFC 2308, 5), but at most a minute. Without an SOA
 * record, returns 5 s. `data` may be NULL.
 */
int64_t coil__dns_negative_ttl(const unsigned char *data, int n);

#endif
