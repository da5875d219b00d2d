/*
 * coil.h - all of coil's public headers.
 */
#ifndef COIL_H
#define COIL_H

#include <coil/address.h>
#include <coil/addrinfo.h>
#include <coil/barrier.h>
#include <coil/base.h>
#include <coil/channel.h>
#include <coil/condition.h>
#include <coil/connect.h>
#include <coil/context.h>
#include <coil/coro.h>
#include <coil/datagram.h>
#include <coil/debug.h>
#include <coil/directory.h>
#include <coil/error.h>
#include <coil/event.h>
#include <coil/executor.h>
#include <coil/file.h>
#include <coil/future.h>
#include <coil/gather.h>
#include <coil/gen.h>
#include <coil/group.h>
#include <coil/guest.h>
#include <coil/hooks.h>
#include <coil/interval.h>
#include <coil/lock.h>
#include <coil/loop.h>
#include <coil/network.h>
#include <coil/path.h>
#include <coil/poll.h>
#include <coil/process.h>
#include <coil/promise.h>
#include <coil/queue.h>
#include <coil/resolver.h>
#include <coil/run.h>
#include <coil/scope.h>
#include <coil/semaphore.h>
#include <coil/server.h>
#include <coil/signal.h>
#include <coil/stream.h>
#include <coil/sync.h>
#include <coil/task.h>
#include <coil/testing.h>
#include <coil/threads.h>
#include <coil/timer.h>
#include <coil/tls.h>

#endif
