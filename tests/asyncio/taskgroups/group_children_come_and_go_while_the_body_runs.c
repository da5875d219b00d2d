/* Children that end early leave nothing to wait for. */
#include "taskgroups.h"

static int come_and_go(void *arg)
{
    char name[] = {*(char *)arg, '\0'};

    trace("%s begins", name);
    return tell(name, coil_sleep(COIL_SEC(3)));
}

SCENARIO(group_children_come_and_go_while_the_body_runs)
{
    static char names[] = "01234";
    coil_group group;
    int rc = 0;

    coil_group_enter(&group);
    for (int i = 0; i < 5 && rc == 0; i++) {
        coil_sleep(COIL_SEC(1));
        rc = start_child(&group, come_and_go, &names[i]) != NULL ? 0 : -ENOMEM;
    }
    if (rc == 0)
        rc = tell("body", coil_sleep(COIL_SEC(4)));
    start(ticker, TURNS(3));
    return leave("group", &group, rc);
}
