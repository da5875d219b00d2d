/*
 * sasl.c - OpenLDAP's library with Cyrus SASL: each task binds with SCRAM, which takes
 * several messages, and then searches.
 */
#include "foreign.h"

#include <ldap.h>
#include <sasl/sasl.h>
#include <stdio.h>
#include <string.h>

static int answer(LDAP *ldap, unsigned flags, void *defaults, void *interactions)
{
    (void)ldap, (void)flags, (void)defaults;
    for (sasl_interact_t *i = interactions; i->id != SASL_CB_LIST_END; i++) {
        i->result = i->id == SASL_CB_PASS   ? "secret"
                    : i->id == SASL_CB_USER ? ""
                                            : "user";
        i->len = (unsigned)strlen(i->result);
    }
    return LDAP_SUCCESS;
}

static bool search(LDAP *ldap)
{
    LDAPMessage *found = NULL;
    int rc = ldap_search_ext_s(ldap, "dc=test", LDAP_SCOPE_SUBTREE, "(cn=user)", NULL, 0,
                               NULL, NULL, NULL, 0, &found);
    bool right = rc == LDAP_SUCCESS && ldap_count_entries(ldap, found) == 1;

    ldap_msgfree(found);
    return right || foreign_failed("search: %s", ldap_err2string(rc));
}

static bool use(int number)
{
    int version = LDAP_VERSION3, rc;
    char uri[40];
    bool right = false;
    LDAP *ldap;

    (void)number;
    snprintf(uri, sizeof uri, "ldap://127.0.0.1:%d", foreign_port);
    if (ldap_initialize(&ldap, uri) != LDAP_SUCCESS)
        return false;
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    rc = ldap_sasl_interactive_bind_s(ldap, NULL, "SCRAM-SHA-256", NULL, NULL,
                                      LDAP_SASL_QUIET, answer, NULL);
    if (rc != LDAP_SUCCESS)
        foreign_failed("bind: %s", ldap_err2string(rc));
    else
        right = search(ldap);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    return right;
}

const struct foreign foreign = {.name = "libldap with SASL",
                                .tested = "binds with SCRAM, searches",
                                .server = true,
                                .use = use};
