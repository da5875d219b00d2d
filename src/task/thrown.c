/*
 * thrown.c - records the stack at which an exception is thrown.
 *
 * An exception is thrown in two phases (Itanium C++ ABI, 1.1). The first phase searches
 * for a handler: it calls the personality routine of each frame while the stack is still
 * complete. Only the second phase unwinds. So coil_call_traced() has a personality
 * routine that never handles the exception, but records the stack during the search.
 *
 * coil_call_traced() (traced_call_*.S) stores `thrown` at the address to which its stack
 * pointer points while fn is called. The routine gets that address from the unwinder: it
 * is the CFA of the called function (_Unwind_GetCFA()).
 */
#include "../error/backtrace.h"
#include "failure.h"

#include <unwind.h>

/* `used`: link-time optimisation does not see the reference from assembly. */
__attribute__((used)) COIL__NOINLINE _Unwind_Reason_Code coil__thrown_personality(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code coil__thrown_personality(int version, _Unwind_Action actions,
                                             _Unwind_Exception_Class class,
                                             struct _Unwind_Exception *exception,
                                             struct _Unwind_Context *context)
{
    uintptr_t sp;
    coil_error **thrown;

    (void)version, (void)class, (void)exception;
    if ((actions & _UA_SEARCH_PHASE) == 0)
        return _URC_CONTINUE_UNWIND;
    sp = coil__backtrace_sp(context, COIL__CALLER());
    if (sp == 0)
        return _URC_CONTINUE_UNWIND;
    thrown = *(coil_error ***)sp;
    /* release the error of an earlier exception whose search passed this frame */
    coil_error_release(*thrown);
    *thrown = coil__failure_note(-EIO, coil__backtrace_throw());
    return _URC_CONTINUE_UNWIND;
}
