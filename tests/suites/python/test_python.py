"""Tests of the Python package coil, run by tests/suites/python/run."""

import asyncio
import contextlib
import contextvars
import ctypes
import gc
import importlib.util
import inspect
import io
import pathlib
import subprocess
import sys
import textwrap
import threading
import traceback
import unittest
import warnings
import weakref

import coil
import helper

VERSION = sys.version_info[:2]
EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / 'examples/python'


async def soon(value):
    await asyncio.sleep(0)
    return value


async def later(value, seconds=0.001):
    await asyncio.sleep(seconds)
    return value


async def compare(a, b):
    await asyncio.sleep(0)
    return (a > b) - (a < b)


def run(function, *args):
    """Run one function under asyncio."""
    async def main():
        return await coil.run(function, *args)
    return asyncio.run(main())


def python(code, *options):
    """Run a program in a new interpreter. Return its status and output."""
    done = subprocess.run([sys.executable, *options, '-c', textwrap.dedent(code)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout


class Await(unittest.TestCase):
    def test_result_of_a_coroutine(self):
        self.assertEqual(run(lambda: coil.await_(soon(7))), 7)

    def test_arguments(self):
        async def main():
            return await coil.run(lambda *a, **k: (a, k), 1, 2, key=3)
        self.assertEqual(asyncio.run(main()), ((1, 2), {'key': 3}))

    def test_through_libc_qsort(self):
        numbers = [5, 3, 9, 1, 4, 8, 2]
        self.assertEqual(run(helper.sort, numbers, compare), sorted(numbers))

    def test_many_sorts_at_once(self):
        async def main():
            lists = [[(i * 7 + j * 13) % 31 for j in range(20)] for i in range(50)]
            sorts = await asyncio.gather(*(coil.run(helper.sort, x, compare) for x in lists))
            self.assertEqual(sorts, [sorted(x) for x in lists])
        asyncio.run(main())

    def test_through_ctypes(self):
        callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                                    ctypes.POINTER(ctypes.c_int))

        def sort(numbers):
            array = (ctypes.c_int * len(numbers))(*numbers)
            wrapped = callback(lambda a, b: coil.await_(compare(a[0], b[0])))
            ctypes.CDLL(None).qsort(array, len(numbers), 4, wrapped)
            return list(array)

        async def main():
            return await asyncio.gather(*(coil.run(sort, [3, 1, 2, i]) for i in range(9)))
        self.assertEqual(asyncio.run(main()), [sorted([3, 1, 2, i]) for i in range(9)])

    @unittest.skipUnless(importlib.util.find_spec('cython_helper'), 'no Cython for this Python')
    def test_through_cython(self):
        import cython_helper
        numbers = [5, 3, 9, 1, 4, 8, 2]
        self.assertEqual(run(cython_helper.sort, numbers, compare), sorted(numbers))
        self.assertTrue(run(cython_helper.may_await))
        self.assertFalse(cython_helper.may_await())

    def test_future_task_and_custom_awaitable(self):
        class Twice:
            def __await__(self):
                yield from asyncio.sleep(0).__await__()
                yield from asyncio.sleep(0).__await__()
                return 'twice'

        def function(loop):
            future = loop.create_future()
            loop.call_soon(future.set_result, 'future')
            return [coil.await_(future), coil.await_(loop.create_task(soon('task'))),
                    coil.await_(Twice())]

        async def main():
            return await coil.run(function, asyncio.get_running_loop())
        self.assertEqual(asyncio.run(main()), ['future', 'task', 'twice'])

    def test_what_is_not_awaitable(self):
        with self.assertRaisesRegex(TypeError, "int can't be used"):
            run(lambda: coil.await_(1))

    def test_outside_of_run(self):
        coroutine = soon(1)
        with self.assertRaisesRegex(RuntimeError, r'await coil\.run\('):
            coil.await_(coroutine)
        coroutine.close()
        self.assertFalse(coil.can_await())
        self.assertFalse(helper.can_await())
        self.assertTrue(run(coil.can_await))
        self.assertTrue(run(helper.can_await))

    def test_in_a_coroutine_of_its_own(self):
        async def main():
            coroutine = soon(1)
            with self.assertRaises(RuntimeError):
                coil.await_(coroutine)
            coroutine.close()
        asyncio.run(main())

    def test_nested(self):
        def inner(n):
            return coil.await_(soon(n)) if n == 0 else coil.await_(coil.run(inner, n - 1)) + 1
        self.assertEqual(run(inner, 20), 20)

    def test_is_a_coroutine_for_asyncio(self):
        async def main():
            task = asyncio.create_task(coil.run(lambda: coil.await_(soon(1))), name='t')
            self.assertIn('<lambda>', repr(task))
            return await task
        self.assertEqual(asyncio.run(main()), 1)
        self.assertEqual(asyncio.run(coil.run(lambda: coil.await_(soon(2)))), 2)
        self.assertTrue(inspect.isawaitable(r := coil.run(int)))
        r.close()

    def test_generators(self):
        def generate():
            for i in range(3):
                yield coil.await_(soon(i))
        self.assertEqual(run(lambda: list(generate())), [0, 1, 2])

    def test_waits_inside_of_sorted_with_a_key(self):
        self.assertEqual(run(lambda: sorted([3, 1, 2], key=lambda x: coil.await_(soon(-x)))),
                         [3, 2, 1])

    def test_import_while_suspended(self):
        def function():
            coil.await_(soon(0))
            import xml.dom.minidom as dom
            return dom.parseString('<a/>').documentElement.tagName
        self.assertEqual(run(function), 'a')


class Failures(unittest.TestCase):
    def test_exception_of_the_awaitable(self):
        async def fail(a, b):
            await asyncio.sleep(0)
            raise KeyError(a)
        with self.assertRaises(KeyError):
            run(helper.sort, [2, 1], fail)

    def test_traceback_goes_through_the_stack(self):
        async def fail():
            await asyncio.sleep(0)
            raise ValueError('deep')

        def middle():
            coil.await_(fail())
        try:
            run(middle)
        except ValueError as e:
            names = [f.name for f in traceback.extract_tb(e.__traceback__)]
        self.assertEqual(names[-3:], ['main', 'middle', 'fail'])

    def test_stop_iteration_becomes_a_runtime_error(self):
        def function():
            raise StopIteration(3)
        with self.assertRaisesRegex(RuntimeError, 'raised StopIteration') as caught:
            run(function)
        self.assertIsInstance(caught.exception.__cause__, StopIteration)

    def test_results_that_look_like_exceptions(self):
        for value in (None, (), (1, 2), ValueError('value'), StopIteration(1)):
            self.assertEqual(repr(run(lambda: coil.await_(soon(value)))), repr(value))

    def test_cancel(self):
        caught = []

        def function():
            try:
                coil.await_(asyncio.sleep(60))
            except asyncio.CancelledError:
                caught.append(coil.await_(soon('cleaned up')))
                raise

        async def main():
            task = asyncio.create_task(coil.run(function))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel('why')
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertTrue(task.cancelled())
        asyncio.run(main())
        self.assertEqual(caught, ['cleaned up'])

    def test_cancel_before_the_first_step(self):
        async def main():
            task = asyncio.create_task(coil.run(self.fail))
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        asyncio.run(main())

    def test_timeout(self):
        async def main():
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await coil.run(lambda: coil.await_(asyncio.sleep(60)))
        asyncio.run(main())

    def test_timeout_inside(self):
        async def slow():
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)

        def function():
            try:
                coil.await_(slow())
            except TimeoutError:
                return 'timeout'
        self.assertEqual(run(function), 'timeout')

    def test_task_group(self):
        def fail():
            coil.await_(soon(1))
            raise ValueError(1)

        async def main():
            async with asyncio.TaskGroup() as group:
                group.create_task(coil.run(lambda: coil.await_(asyncio.sleep(60))))
                group.create_task(coil.run(fail))
        with self.assertRaises(ExceptionGroup) as caught:
            asyncio.run(main())
        self.assertEqual([type(e) for e in caught.exception.exceptions], [ValueError])

    def test_awaited_twice(self):
        async def main():
            r = coil.run(int)
            await r
            with self.assertRaisesRegex(RuntimeError, 'cannot reuse'):
                await r
        asyncio.run(main())

    def test_resumed_while_running(self):
        runs = []

        def function():
            runs[0].send(None)
        runs.append(coil.run(function))
        with self.assertRaisesRegex(ValueError, 'already'):
            runs[0].send(None)

    def test_never_awaited(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter('always')
            coil.run(int)
        self.assertRegex(str(caught[0].message), 'was never awaited')

    def test_not_callable(self):
        with self.assertRaises(TypeError):
            coil.run(1)
        with self.assertRaises(TypeError):
            coil.run()


class Protocol(unittest.TestCase):
    """send(), throw() and close() behave like the methods of a coroutine object."""

    class Yield:
        def __init__(self, value):
            self.value = value

        def __await__(self):
            return (yield self.value)

    def test_send(self):
        r = coil.run(lambda: coil.await_(self.Yield(1)) + coil.await_(self.Yield(2)))
        with self.assertRaises(TypeError):
            r.send(1)
        self.assertEqual(r.send(None), 1)
        self.assertTrue(r.cr_suspended)
        self.assertEqual(r.send(10), 2)
        with self.assertRaises(StopIteration) as stop:
            r.send(20)
        self.assertEqual(stop.exception.value, 30)

    def test_throw(self):
        def function():
            try:
                coil.await_(self.Yield(1))
            except KeyError as e:
                return e.args
        for thrown in ((KeyError('k'),), (KeyError, 'k'), (KeyError, KeyError('k'), None)):
            r = coil.run(function)
            r.send(None)
            with warnings.catch_warnings():
                warnings.simplefilter('ignore')
                with self.assertRaises(StopIteration) as stop:
                    r.throw(*thrown)
            self.assertEqual(stop.exception.value, ('k',))

    def test_throw_before_the_first_step(self):
        r = coil.run(int)
        with self.assertRaises(KeyError):
            r.throw(KeyError())
        with self.assertRaises(RuntimeError):
            r.send(None)

    def test_close(self):
        seen = []

        def function():
            try:
                coil.await_(self.Yield(1))
            except GeneratorExit:
                seen.append('exit')
                raise
        r = coil.run(function)
        r.send(None)
        r.close()
        r.close()
        self.assertEqual(seen, ['exit'])

    def test_close_closes_what_is_awaited(self):
        seen = []

        async def inner():
            try:
                await self.Yield(1)
            finally:
                seen.append('inner')
        r = coil.run(lambda: coil.await_(inner()))
        r.send(None)
        r.close()
        self.assertEqual(seen, ['inner'])

    def test_close_that_is_ignored(self):
        def function():
            while True:
                with contextlib.suppress(GeneratorExit):
                    coil.await_(self.Yield(1))
                    return
        r = coil.run(function)
        r.send(None)
        with self.assertRaisesRegex(RuntimeError, 'ignored GeneratorExit'):
            r.close()
        with self.assertRaises(StopIteration):
            r.send(None)

    def test_abandoned(self):
        seen = []

        def function():
            try:
                coil.await_(self.Yield(1))
            finally:
                seen.append('unwound')
        r = coil.run(function)
        r.send(None)
        alive = weakref.ref(r)
        del r
        gc.collect()
        self.assertEqual(seen, ['unwound'])
        self.assertIsNone(alive())

    def test_abandoned_in_another_thread(self):
        seen = []

        def function():
            try:
                coil.await_(self.Yield(1))
            finally:
                seen.append(threading.get_ident())
        box = [coil.run(function)]
        box[0].send(None)
        thread = threading.Thread(target=box.clear)
        thread.start()
        thread.join()
        self.assertEqual(seen, [])
        run(int)
        self.assertEqual(seen, [threading.get_ident()])

    def test_resumed_by_another_thread(self):
        r = coil.run(lambda: coil.await_(self.Yield(1)))
        r.send(None)
        errors = []

        def resume():
            try:
                r.send(None)
            except RuntimeError as e:
                errors.append(str(e))
        thread = threading.Thread(target=resume)
        thread.start()
        thread.join()
        self.assertRegex(errors[0], 'thread that began it')
        r.close()

    def test_thread_ends_with_a_suspended_run(self):
        box = []

        def begin():
            box.append(coil.run(lambda: coil.await_(self.Yield(1))))
            box[0].send(None)
        thread = threading.Thread(target=begin)
        thread.start()
        thread.join()
        unraisable = []
        hook, sys.unraisablehook = sys.unraisablehook, lambda u: unraisable.append(str(u.exc_value))
        try:
            box.clear()
            gc.collect()
        finally:
            sys.unraisablehook = hook
        self.assertRegex(unraisable[0], 'thread has ended')


class State(unittest.TestCase):
    """Each stack has its own Python frames, exceptions, context and recursion depth."""

    def test_handled_exceptions(self):
        def function(name):
            try:
                raise ValueError(name)
            except ValueError:
                for _ in range(5):
                    coil.await_(soon(0))
                    self.assertEqual(sys.exc_info()[1].args, (name,))
            self.assertIsNone(sys.exc_info()[1])

        async def main():
            await asyncio.gather(*(coil.run(function, i) for i in range(10)))
            self.assertIsNone(sys.exc_info()[1])
        asyncio.run(main())

    def test_exception_of_the_awaiting_coroutine(self):
        async def main():
            try:
                raise KeyError('outer')
            except KeyError:
                return await coil.run(lambda: (coil.await_(soon(0)), repr(sys.exc_info()[1]))[1])
        self.assertEqual(asyncio.run(main()), "KeyError('outer')")

    def test_frames_below(self):
        def names():
            return [f.name for f in traceback.extract_stack()]

        def function():
            before = names()
            coil.await_(soon(0))
            return before, names()

        async def main():
            return await coil.run(function)
        before, after = asyncio.run(main())
        self.assertEqual(before[-3:], ['main', 'function', 'names'])
        self.assertEqual(after[-3:], ['main', 'function', 'names'])

    def test_frame_objects_of_a_suspended_stack(self):
        frames = []

        def function():
            frames.append(sys._getframe())
            coil.await_(soon(0))

        async def main():
            task = asyncio.create_task(coil.run(function))
            await asyncio.sleep(0)
            self.assertEqual(frames[0].f_code.co_name, 'function')
            self.assertIsNone(frames[0].f_back)
            await task
        asyncio.run(main())
        self.assertEqual(frames[0].f_code.co_name, 'function')

    def test_context_variables(self):
        var = contextvars.ContextVar('var', default='none')

        def function(name):
            var.set(name)
            for _ in range(5):
                coil.await_(soon(0))
                self.assertEqual(var.get(), name)
            return name

        async def main():
            tasks = [asyncio.create_task(coil.run(function, i)) for i in range(10)]
            self.assertEqual(await asyncio.gather(*tasks), list(range(10)))
            self.assertEqual(var.get(), 'none')
            await coil.run(function, 'mine')
            self.assertEqual(var.get(), 'mine')
        asyncio.run(main())

    def test_context_that_was_entered(self):
        var = contextvars.ContextVar('var', default='outer')

        def inside():
            var.set('inner')
            coil.await_(soon(0))
            return var.get()

        def function():
            result = contextvars.copy_context().run(inside)
            coil.await_(soon(0))
            return result, var.get()

        async def main():
            task = asyncio.create_task(coil.run(function))
            await asyncio.sleep(0)
            self.assertEqual(var.get(), 'outer')
            return await task
        self.assertEqual(asyncio.run(main()), ('inner', 'outer'))

    def test_context_without_a_loop(self):
        code = '''
            import coil, contextvars
            var = contextvars.ContextVar('var')
            class Y:
                def __await__(self): yield
            def function():
                var.set(1)
                coil.await_(Y())
                return var.get()
            r = coil.run(function); r.send(None)
            print(var.get())
            try: r.send(None)
            except StopIteration as e: print(e.value)
        '''
        self.assertEqual(python(code), (0, '1\n1\n'))

    def test_deep_python_recursion(self):
        def down(n):
            return coil.await_(soon(0)) if n == 0 else down(n - 1)

        async def main():
            await asyncio.gather(*(coil.run(down, 300) for _ in range(20)))
        asyncio.run(main())

    def test_recursion_error_of_python(self):
        def forever():
            return forever()

        def function():
            with self.assertRaises(RecursionError):
                forever()
            coil.await_(soon(0))
            with self.assertRaises(RecursionError):
                forever()
            return 'still alive'
        self.assertEqual(run(function), 'still alive')

    def test_recursion_limit_counts_the_callers(self):
        def depth(n=0):
            try:
                return depth(n + 1)
            except RecursionError:
                return n

        def nested(level):
            return depth() if level == 0 else coil.await_(coil.run(nested, level - 1))
        limit = sys.getrecursionlimit()
        plain = run(nested, 0)
        self.assertLess(run(nested, 20), plain)
        self.assertLess(plain, limit)
        self.assertGreater(plain, limit // 2)

    def test_recursion_through_c(self):
        code = '''
            import asyncio, coil
            def recurse(x):
                return list(map(recurse, [x]))
            def function():
                try:
                    recurse(0)
                except RecursionError:
                    pass
                deep = []
                for _ in range(100_000):
                    deep = [deep]
                try:
                    repr(deep)
                except RecursionError:
                    return 'two errors'
            async def main():
                print(await asyncio.gather(*(coil.run(function) for _ in range(3))))
            asyncio.run(main())
        '''
        self.assertEqual(python(code), (0, "['two errors', 'two errors', 'two errors']\n"))

    def test_depth_is_restored(self):
        def down(n):
            return coil.await_(soon(0)) if n == 0 else down(n - 1)

        async def main():
            for _ in range(20):
                await asyncio.gather(*(coil.run(down, 200) for _ in range(20)))
        asyncio.run(main())

    def test_trace_function(self):
        lines = []

        def tracer(frame, event, arg):
            if frame.f_code.co_name in ('function', 'other'):
                lines.append((frame.f_code.co_name, event))
                return tracer

        def function():
            coil.await_(soon(0))
            return 1

        async def other():
            await asyncio.sleep(0)

        async def main():
            await asyncio.gather(coil.run(function), other())
        before = sys.gettrace()
        sys.settrace(tracer)
        try:
            asyncio.run(main())
        finally:
            sys.settrace(before)
        self.assertEqual(lines.count(('function', 'call')), 1)
        self.assertEqual(lines.count(('function', 'return')), 1)
        self.assertEqual(lines.count(('function', 'line')), 2)
        self.assertEqual(lines.count(('other', 'call')), 2)

    def test_trace_function_set_while_suspended(self):
        seen = []

        def tracer(frame, event, arg):
            seen.append(frame.f_code.co_name)

        def called():
            pass

        def function():
            coil.await_(later(0))
            called()

        async def main():
            task = asyncio.create_task(coil.run(function))
            await asyncio.sleep(0)
            sys.settrace(tracer)
            await task
            sys.settrace(None)
        asyncio.run(main())
        self.assertIn('called', seen)

    @unittest.skipIf(VERSION < (3, 12), 'sys.monitoring is new in 3.12')
    def test_monitoring(self):
        seen = []
        tool, events = sys.monitoring.DEBUGGER_ID, sys.monitoring.events
        sys.monitoring.use_tool_id(tool, 'test')

        def function():
            coil.await_(soon(0))
        try:
            sys.monitoring.register_callback(tool, events.PY_START,
                                             lambda code, _: seen.append(code.co_name))
            sys.monitoring.set_events(tool, events.PY_START)
            run(function)
        finally:
            sys.monitoring.set_events(tool, 0)
            sys.monitoring.free_tool_id(tool)
        self.assertEqual(seen.count('function'), 1)
        self.assertEqual(seen.count('soon'), 1)

    def test_garbage_collection_while_suspended(self):
        class Node:
            pass

        def function():
            node = Node()
            node.self = node
            alive = weakref.ref(node)
            coil.await_(soon(0))
            gc.collect()
            self.assertIsNotNone(alive())
            del node
            gc.collect()
            return alive()

        async def main():
            tasks = [asyncio.create_task(coil.run(function)) for _ in range(10)]
            await asyncio.sleep(0)
            gc.collect()
            self.assertEqual(await asyncio.gather(*tasks), [None] * 10)
        asyncio.run(main())

    def test_await_in_a_finalizer(self):
        seen = []

        class Closing:
            def __del__(self):
                seen.append(coil.await_(soon('closed')))

        def function():
            nested = [[[Closing()]]]
            del nested
            return seen
        self.assertEqual(run(function), ['closed'])

    def test_references_are_released(self):
        class Thing:
            pass
        things = [Thing() for _ in range(3)]
        alive = [weakref.ref(t) for t in things]
        result = run(lambda a, b: coil.await_(soon(b)), *things[:2])
        self.assertIs(result, things[1])
        del result
        things.clear()
        gc.collect()
        self.assertEqual([a() for a in alive], [None] * 3)

    def test_threads_that_fight_for_the_gil(self):
        stop = threading.Event()

        def spin():
            while not stop.is_set():
                sum(range(100))
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        threads = [threading.Thread(target=spin) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            async def main():
                lists = [[(i * 7 + j * 13) % 31 for j in range(10)] for i in range(20)]
                sorts = await asyncio.gather(*(coil.run(helper.sort, x, compare) for x in lists))
                self.assertEqual(sorts, [sorted(x) for x in lists])
            asyncio.run(main())
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            for thread in threads:
                thread.join()

    def test_loops_in_several_threads(self):
        results = []

        def work():
            results.append(run(helper.sort, [3, 1, 2], compare))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [[1, 2, 3]] * 4)

    def test_print_exception_inside(self):
        def function():
            try:
                coil.await_(soon(1))
                1 / 0
            except ZeroDivisionError:
                out = io.StringIO()
                traceback.print_exc(file=out)
                return out.getvalue()
        self.assertIn('ZeroDivisionError', run(function))


class Stacks(unittest.TestCase):
    def tearDown(self):
        coil.stack_size(0)

    def test_stack_size(self):
        self.assertEqual(coil.stack_size(), 4 << 20)
        self.assertEqual(coil.stack_size(1_000_000), 4 << 20)
        self.assertEqual(coil.stack_size(), 1 << 20)
        self.assertEqual(coil.stack_size(0), 1 << 20)
        self.assertEqual(coil.stack_size(), 4 << 20)
        for bad in (1, -1, 1 << 40):
            with self.assertRaises(ValueError):
                coil.stack_size(bad)

    def test_deep_c(self):
        coil.stack_size(16 << 20)
        self.assertEqual(run(helper.call_deep, lambda: coil.await_(soon(5)), 40_000), 5)

    def test_many_stacks(self):
        async def main():
            tasks = [asyncio.create_task(coil.run(lambda i: coil.await_(later(i)), i))
                     for i in range(1000)]
            self.assertEqual(await asyncio.gather(*tasks), list(range(1000)))
        asyncio.run(main())


class End(unittest.TestCase):
    """Tests of coil during the interpreter's shutdown."""

    def test_with_suspended_stacks(self):
        code = '''
            import asyncio, coil
            class Y:
                def __await__(self): yield
            def function():
                try: coil.await_(Y())
                finally: print('unwound')
            kept = coil.run(function); kept.send(None)
            def forever():
                while True:
                    try: coil.await_(Y())
                    except GeneratorExit: pass
            stubborn = coil.run(forever); stubborn.send(None)
        '''
        status, output = python(code)
        self.assertEqual(status, 0, output)
        self.assertIn('unwound', output)
        self.assertIn('ignored GeneratorExit', output)

    def test_in_a_thread_that_never_ends(self):
        code = '''
            import coil, threading, time
            class Y:
                def __await__(self): yield
            begun = threading.Event()
            def work():
                r = coil.run(lambda: coil.await_(Y())); r.send(None)
                for _ in range(3): s = coil.run(int); s.close()
                begun.set()
                time.sleep(100)
            threading.Thread(target=work, daemon=True).start()
            begun.wait()
            print('end')
        '''
        self.assertEqual(python(code), (0, 'end\n'))

    def test_sys_exit_inside(self):
        code = '''
            import asyncio, coil, sys
            async def main(): await coil.run(sys.exit, 3)
            asyncio.run(main())
        '''
        self.assertEqual(python(code), (3, ''))

    def test_keyboard_interrupt(self):
        code = '''
            import asyncio, coil, os, signal
            def function():
                try: coil.await_(asyncio.sleep(60))
                finally: print('unwound')
            async def main():
                asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
                await coil.run(function)
            try: asyncio.run(main())
            except KeyboardInterrupt: print('interrupted')
        '''
        self.assertEqual(python(code), (0, 'unwound\ninterrupted\n'))

    def test_subinterpreters_are_refused(self):
        module = '_xxsubinterpreters' if VERSION < (3, 13) else '_interpreters'
        code = f'''
            import {module} as interpreters
            i = interpreters.create()
            try:
                print(interpreters.run_string(i, "import coil"))
            except Exception as e:
                print(e)
        '''
        status, output = python(code)
        self.assertEqual(status, 0, output)
        self.assertIn('interpreter', output)
        self.assertRegex(output, 'ImportError|does not support')


class Examples(unittest.TestCase):
    """The programs of examples/python print the expected output with asyncio's event loop and with
    uvloop's."""

    OUTPUTS = {
        'sort_with_await': '[1, 1, 2, 3, 4, 5, 6, 9] [18, 18, 27, 28]\n',
        'parse_with_await': 'Once upon a time they lived happily ever after\n',
        'query_with_await': 'Oslo: 717710\nBergen: 291940\n',
        'two_faces': 'in tasks: [10, 45, 105]\nin a thread: 190\nthreads: 1\n',
    }

    def run_all(self, *options):
        for name, expected in self.OUTPUTS.items():
            with self.subTest(name):
                done = subprocess.run([sys.executable, EXAMPLES / f'{name}.py', *options], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
                self.assertEqual(done.stdout, expected)

    def test_asyncio(self):
        self.run_all()

    @unittest.skipUnless(importlib.util.find_spec('uvloop'), 'there is no uvloop for this Python')
    def test_uvloop(self):
        self.run_all('--uvloop')

    def test_manual(self):
        manual = (EXAMPLES.parents[1] / 'docs/manual/python.md').read_text()
        listing = manual.split('```python\n')[1].split('```')[0]
        self.assertEqual(python(listing), (0, "['pi', 'mu', 'delta', 'omega']\n"))

    def test_all_are_tried(self):
        programs = {path.stem for path in EXAMPLES.glob('*.py')} - {'loops'}
        self.assertEqual(programs, set(self.OUTPUTS))


if __name__ == '__main__':
    names, this = sys.argv[1:], sys.modules['__main__']
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(names, this) if names else loader.loadTestsFromModule(this)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    failed = len(result.failures) + len(result.errors)
    skipped = len(result.skipped)
    print(f'{result.testsRun - failed - skipped} passed, {failed} failed'
          + (f', {skipped} skipped' if skipped else ''))
    sys.exit(failed != 0)
