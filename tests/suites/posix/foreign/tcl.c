/*
 * tcl.c - a Tcl interpreter for each task: blocking sockets, `after`, and `vwait`, which
 * runs Tcl's event loop.
 */
#include "foreign.h"

#include <tcl.h>

static const char script[] = "set s [socket 127.0.0.1 $port]\n"
                             "fconfigure $s -translation binary\n"
                             "puts $s \"GET / HTTP/1.0\\r\\n\\r\"\n"
                             "flush $s\n"
                             "set reply [read $s]\n"
                             "close $s\n"
                             "after 5\n"
                             "after 5 {set done 1}\n"
                             "vwait done\n"
                             "expr {[string match *slow* $reply] ? \"right\" : $reply}\n";

static bool start(void)
{
    Tcl_FindExecutable("tclsh");
    return true;
}

static bool use(int number)
{
    Tcl_Interp *tcl = Tcl_CreateInterp();
    bool right;

    (void)number;
    Tcl_SetVar2Ex(tcl, "port", NULL, Tcl_NewIntObj(foreign_port), TCL_GLOBAL_ONLY);
    right = Tcl_Eval(tcl, script) == TCL_OK &&
            Tcl_StringMatch(Tcl_GetStringResult(tcl), "right");
    if (!right)
        foreign_failed("%s", Tcl_GetStringResult(tcl));
    Tcl_DeleteInterp(tcl);
    return right;
}

const struct foreign foreign = {.name = "Tcl",
                                .tested = "sockets, `after`, `vwait`",
                                .thread_keys = true,
                                .server = true,
                                .start = start,
                                .use = use};
