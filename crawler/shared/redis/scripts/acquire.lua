-- acquire.lua - lease a host, and some of its URLs.
--
-- ARGV: class, worker, duration of the lease in milliseconds, maximum number of URLs. Returns one of
--
--     {'lease', token, host, milliseconds until its next request, 1 if it is troubled,
--      1 if its sitemaps are stored, STARTS, ORIGINS, number, item, ...}
--     {'wait', milliseconds, STARTS, ORIGINS}      there is no work for now
--     {'full'}                                     results must be collected first
--     {'over'}                                     the crawl is over
--
-- STARTS is the number of starts that are not completed. ORIGINS is the size of CRAWL:origins.

local LONGEST_WAIT = 1000

local class, worker, span, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local function first_of(key)
    local first = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    return first[1], tonumber(first[2])
end

local function must_wait_for_starts()
    return class == 'h' and count.starts > 0
end

local function first_host(at)
    if must_wait_for_starts() then
        return nil
    end
    local host, due = first_of(crawl .. ':w' .. count.turn .. class)
    return host and due <= at and host
end

-- If no URL of this depth is left, change to the next depth and return true. If the next depth is also empty, the
-- crawl is over.
local function turn_over()
    if count[QUEUED[count.turn]] + count.flying + count.waiting > 0 or count.begun == 0 then
        return false
    end
    if count[QUEUED[1 - count.turn]] == 0 then
        count.over = 1
        return false
    end
    count.turn = 1 - count.turn
    count.depth = count.depth + 1
    return true
end

local function wait_at(at)
    local wait, line = LONGEST_WAIT, ':w' .. count.turn .. class
    for _, key in ipairs({line, ':waiting', ':leases'}) do
        local _, due = first_of(crawl .. key)
        if due and not (key == line and must_wait_for_starts()) then
            wait = math.min(wait, math.max(due - at, 1))
        end
    end
    return wait
end

local function lease_of(host, at)
    local key = crawl .. ':h:' .. host
    local items, has_more = take_items(count.turn, host, most, true)
    local state = call('HMGET', key, 'n', 'u', 't')
    local leases = (tonumber(state[1]) or 0) + 1
    local has_sitemaps = class == 's' and call('SISMEMBER', crawl .. ':sitemaps', host) or 0
    call('HSET', key, 'n', leases)
    if leases == 1 then
        call('PERSIST', key)
    end
    if leases >= count.split or not has_more then
        call('ZREM', line_of(count.turn, host), host)
    end
    if leases >= count.split and count.by_depth == 1 then
        call('ZREM', line_of(1 - count.turn, host), host)
    end
    count.token = next_number(count.token, at)
    local token, lease = string.format('%.0f', count.token), {host = host, worker = worker, last = 0, items = {}}
    local reply = {'lease', token, host, tostring(math.max((tonumber(state[2]) or 0) - at, 0)),
                   state[3] or '0', tostring(has_sitemaps), tostring(count.starts), tostring(count.origins)}
    give_out(lease, items, reply)
    write_lease(token, lease, at + span)
    return reply
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
if count.over == 1 then
    return {'over'}
end
if is_full() then
    return {'full'}
end
local at = now()
local host = first_host(at)
if not host then
    reap(at, 64)
    host = first_host(at) or turn_over() and first_host(at)
end
local reply = host and lease_of(host, at) or count.over == 1 and {'over'} or
              {'wait', tostring(wait_at(at)), tostring(count.starts), tostring(count.origins)}
save()
return reply
