"""frames.py - what CPython stores for a suspended function: heap-allocated frames and an instruction offset.

The functions foo, bar, gen_fn and caller_fn are from the chapter "A Web Crawler With asyncio Coroutines".
The instructions differ between the versions of CPython. Chapter 2 of docs/tutorial compares these frames
with a stack for each coroutine.
"""
import dis
import inspect
import resource
import sys
import types

frame = None


def foo():
    bar()


def bar():
    global frame
    frame = inspect.currentframe()


def gen_fn():
    result = yield 1
    print(f"  result of yield: {result}")
    result2 = yield 2
    print(f"  result of 2nd yield: {result2}")
    return "done"


def caller_fn():
    gen = gen_fn()
    rv = yield from gen
    print(f"  return value of yield-from: {rv}")


def at(a_frame):
    """Return the name and the offset (f_lasti) of the instruction at which a frame is suspended."""
    code = {each.offset: each.opname for each in dis.get_instructions(a_frame.f_code)}
    return f"{code.get(a_frame.f_lasti, 'none')} at {a_frame.f_lasti}"


def show_code():
    print("dis(foo):", *(each.opname for each in dis.get_instructions(foo)))


def show_frame_after_its_call():
    foo()
    print("frames that outlive their calls:",
          frame.f_code.co_name, "called by", frame.f_back.f_code.co_name)


def show_generator():
    print("generator flag of foo, of gen_fn:", bool(foo.__code__.co_flags & inspect.CO_GENERATOR),
          bool(gen_fn.__code__.co_flags & inspect.CO_GENERATOR))
    gen, other = gen_fn(), gen_fn()
    print("one code, two frames:", gen.gi_code is other.gi_code, gen.gi_frame is other.gi_frame)
    print(f"created: {at(gen.gi_frame)}, of {len(gen.gi_code.co_code)} bytes")
    print("send(None):", gen.send(None))
    print("suspended:", at(gen.gi_frame))
    print("send('hello'):", gen.send("hello"))
    print("suspended:", at(gen.gi_frame))
    print("its variables:", gen.gi_frame.f_locals, "and the other's:", other.gi_frame.f_locals)


def resume(caller, value):
    try:
        print(f"send({value!r}):", caller.send(value))
    except StopIteration:
        print(f"send({value!r}): StopIteration")


def show_delegation():
    caller = caller_fn()
    resume(caller, None)
    inner, first = caller.gi_yieldfrom, caller.gi_frame.f_lasti
    before = inner.gi_frame.f_lasti
    print("the caller stands at its yield from:", at(caller.gi_frame))
    resume(caller, "hello")
    print("the inner generator has advanced:", inner.gi_frame.f_lasti > before)
    print("the caller has not:", caller.gi_frame.f_lasti == first)
    resume(caller, "goodbye")


@types.coroutine
def wait():
    yield "an event"


async def inner():
    await wait()


async def outer():
    await inner()


def show_await_chain():
    """A loop has a reference to the outermost coroutine, and each coroutine has a reference to the one that
    it awaits."""
    coroutine = outer()
    print("send(None) to outer():", coroutine.send(None))
    chain, each = [], coroutine
    while each is not None:
        chain.append(each.__name__)
        each = getattr(each, "cr_await", None) or getattr(each, "gi_yieldfrom", None)
    print("the frames on the way to the event:", " -> ".join(chain))
    coroutine.close()


def depth_of(calls):
    return 0 if calls == 0 else 1 + depth_of(calls - 1)


def show_c_stack():
    """Since 3.11, a call from one Python function to another needs no C stack."""
    resource.setrlimit(resource.RLIMIT_STACK, (2**20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    sys.setrecursionlimit(200_000)
    print("nested calls on a C stack of 1 MiB:", depth_of(100_000))


def main():
    show_code()
    show_frame_after_its_call()
    show_generator()
    show_delegation()
    show_await_chain()
    if sys.version_info >= (3, 11):
        show_c_stack()


if __name__ == "__main__":
    main()
