/* Removing a callback removes each time that it was added, and says how many those were.
 */
#include "futures.h"

static int add(coil_future *future, int i)
{
    return coil_future_add_callback(future, callback, NUMBER(i));
}

static int remove_all(coil_future *future, int i)
{
    return coil_future_remove_callback(future, callback, NUMBER(i));
}

static int add_and_remove(coil_future *future)
{
    int rc = add(future, 1);

    if (rc == 0)
        rc = add(future, 2);
    if (rc < 0)
        return rc;
    trace("removed %d", remove_all(future, 2));
    trace("removed %d", remove_all(future, 3));
    rc = add(future, 2);
    for (int i = 0; rc == 0 && i < 5; i++)
        rc = add(future, 1);
    return rc;
}

SCENARIO(callback_is_removed_as_often_as_it_was_added)
{
    coil_future *future = new_future();
    int rc = future != NULL ? add_and_remove(future) : -ENOMEM;

    if (future == NULL)
        return rc;
    trace("removed %d", remove_all(future, 1));
    coil_future_set(future, 1, NULL, NULL);
    turns(1);
    trace("removed %d", remove_all(future, 2));
    return rc;
}
