/*
 * certificates.h - certificates of all kinds for the TLS tests, created at run time in a
 * temporary folder. The folder can be used as ca_path, because the root certificate is
 * also stored under its hash.
 *
 *     root ── intermediate ── server, wrong name, expired, future, ...
 *        `─── client
 */
#ifndef COIL_TESTS_NET_CERTIFICATES_H
#define COIL_TESTS_NET_CERTIFICATES_H

#include <coil.h>

struct certificates {
    char folder[64];
    /*
     * Paths of PEM files. Each file contains a certificate chain and its key, except for
     * `root`, `crl` and the separate keys.
     */
    char root[96];   /* the authority */
    char server[96]; /* for localhost, *.example.org, 127.0.0.1 and ::1 */
    /* the alternative name is other.test, the common name localhost */
    char other_name[96];
    char expired[96], future[96];
    char self_signed[96];
    char no_chain[96]; /* like `server`, without the intermediate certificate */
    char client[96];   /* "CN = client" */
    char stranger[96]; /* a client's certificate, signed by another authority */
    char locked[96];   /* like `server`; the key has the password "sesame" */
    char revoked[96];  /* a server's certificate, revoked by `crl` */
    char crl[96];      /* the revocation lists of both authorities */
    char key[96];      /* a key without a certificate */
    /* another key without a certificate, of another type */
    char other_key[96];
};

void certificates_make(struct certificates *c);
/*
 * Write a self-signed certificate for the server's names, with an RSA key, whose
 * generation takes a while.
 */
void certificates_add_rsa(const struct certificates *c, char path[96]);

void certificates_remove(const struct certificates *c);

#endif
