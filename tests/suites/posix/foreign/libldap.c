/*
 * libldap.c - OpenLDAP's library. Each task opens a connection, and waits for the answers
 * to bind and search.
 */
#include "foreign.h"

#include <ldap.h>
#include <stdio.h>
#include <string.h>

/* Search for a name. The server must return the name in capital letters. */
static bool search(LDAP *ldap, int number)
{
    char name[20], expected[20];
    LDAPMessage *found = NULL;
    struct berval **values;
    bool right;
    int rc;

    snprintf(name, sizeof name, "dc=n%d", number);
    snprintf(expected, sizeof expected, "DC=N%d", number);
    rc = ldap_search_ext_s(ldap, name, LDAP_SCOPE_BASE, "(x=*)", NULL, 0, NULL, NULL,
                           NULL, 0, &found);
    if (rc != LDAP_SUCCESS)
        return foreign_failed("%s", ldap_err2string(rc));
    values = ldap_get_values_len(ldap, ldap_first_entry(ldap, found), "cn");
    right = values != NULL && strcmp(values[0]->bv_val, expected) == 0;
    ldap_value_free_len(values);
    ldap_msgfree(found);
    return right;
}

static bool use(int number)
{
    int version = LDAP_VERSION3, rc;
    struct berval password = {6, "secret"};
    char uri[40];
    bool right = false;
    LDAP *ldap;

    snprintf(uri, sizeof uri, "ldap://127.0.0.1:%d", foreign_port);
    if (ldap_initialize(&ldap, uri) != LDAP_SUCCESS)
        return false;
    ldap_set_option(ldap, LDAP_OPT_PROTOCOL_VERSION, &version);
    rc = ldap_sasl_bind_s(ldap, "cn=me", LDAP_SASL_SIMPLE, &password, NULL, NULL, NULL);
    if (rc != LDAP_SUCCESS)
        foreign_failed("%s", ldap_err2string(rc));
    else
        right = search(ldap, number);
    ldap_unbind_ext_s(ldap, NULL, NULL);
    return right;
}

const struct foreign foreign = {
    .name = "libldap", .tested = "simple binds, searches", .server = true, .use = use};
