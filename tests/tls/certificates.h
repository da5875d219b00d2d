/*
 * certificates.h - certificates of all kinds for the TLS tests, made when they run, in a
 * folder that is removed. The root is found in it by its hash, too, as a ca_path wants
 * it.
 *
 *     root ── intermediate ── server, wrong name, expired, future, ...
 *        `─── client
 */
#ifndef COIL_TESTS_NET_CERTIFICATES_H
#define COIL_TESTS_NET_CERTIFICATES_H

#include <coil.h>

struct certificates {
    char folder[64];
    /* PEM files; all but the authorities and `key` hold chain and key. */
    char root[96];       /* the authority */
    char server[96];     /* for localhost, *.example.org, 127.0.0.1, ::1 */
    char other_name[96]; /* for other.test; its common name is localhost */
    char expired[96], future[96];
    char self_signed[96];
    char no_chain[96];  /* as server, without the intermediate */
    char client[96];    /* "CN = client" */
    char stranger[96];  /* a client's, of an authority of its own */
    char locked[96];    /* a server's chain, whose key has the password "sesame" */
    char revoked[96];   /* a server's, who is in `crl` */
    char crl[96];       /* lists of both authorities */
    char key[96];       /* just a key, of none of them */
    char other_key[96]; /* the same, of another kind */
};

void certificates_make(struct certificates *c);
/* One more, for the same names, signed by itself, whose key is RSA's: it takes a while.
 */
void certificates_add_rsa(const struct certificates *c, char path[96]);

void certificates_remove(const struct certificates *c);

#endif
