-- common.lua - what all scripts of a crawl share; it stands before each of them.
--
-- KEYS[1] is the crawl, "coil:{NAME}"; its other keys begin with that, so that all are in one slot:
--
--     CRAWL               string  its numbers: count.*, a double each, in the order of load()
--     CRAWL:setup         hash    what it was begun with
--     CRAWL:s<N>          hash    known URLs: 10 bytes of hash => what is known (KNOWN_*)
--     CRAWL:q<TURN>:HOST  list    the queue of a host: items
--     CRAWL:w<TURN><C>    zset    hosts of class C that may be leased => when
--     CRAWL:h:HOST        hash    n leases, not before u, t: it is troubled
--     CRAWL:l:TOKEN       hash    a lease: h its host, w its worker, n the last number, s 1 if what was given
--                                 out last goes out singly (LEASE_FIELDS); number => item
--     CRAWL:leases        zset    token => when it expires
--     CRAWL:waiting       zset    HOST \n item => when it is to be tried again
--     CRAWL:told          set     hosts whose robots.txt has told its sitemaps
--     CRAWL:origins       set     what belongs to the site besides the starts, since these redirect there
--     CRAWL:results       stream  what was not collected yet; an entry is some results, its id the number of
--                                 the first: n their lengths, r their bytes
--
-- HOST is a letter for the class, and the origin: "shttp://example.org". Classes are "s" for the site and "x" for
-- others. "h" is one host without an origin, whose URLs lead out of the site, it seems, and are held until all
-- starts are through: then it is known what belongs to the site. An item is six bytes and
-- the rest of the URL; the bytes are flags (ITEM_*), tries, lost leases, redirects so far, and the depth,
-- the high byte first. Times are in milliseconds, of Redis' clock.
--
-- Invariants
--   1. A host is in :w if and only if its queue of that turn has something and it has fewer
--      leases than `split`.
--   2. An item is in one place: a queue, :waiting or a lease; `queued`, `waiting` and `flying` say how
--      many are where.
--   3. Nothing fails after the first write. (Redis refuses a script for want of memory at its
--      first write or not at all.)

local ITEM_SITEMAP, ITEM_IDS, ITEM_START, ITEM_SINGLE, ITEM_GIVEN_UP = 1, 2, 4, 8, 32
local KNOWN_ASKED, KNOWN_IDS, KNOWN_DEPTH = 1, 2, 4
local DEEPEST = 31 -- that is told from what is deeper, so that a value is a byte
local LEASE_FIELDS = 4
local URLS_A_BUCKET = 48
local LOSSES_ENOUGH = 3

local call = redis.call
local crawl = KEYS[1]

-- ---- the crawl's numbers -----------------------------------------------------------

local NUMBERS = 'dddddddddddddddddddddd'
local count = {}

-- False: there is no such crawl.
local function load()
    local numbers = call('GET', crawl)
    if not numbers then
        return false
    end
    count.turn, count.depth, count.by_depth, count.queued0, count.queued1, count.flying, count.waiting,
    count.begun, count.over, count.through, count.known, count.buckets, count.round, count.pages,
    count.max_pages, count.bytes, count.max_bytes, count.split, count.token, count.starts, count.origins,
    count.last = struct.unpack(NUMBERS, numbers)
    return true
end

local function save()
    call('SET', crawl, struct.pack(
        NUMBERS, count.turn, count.depth, count.by_depth, count.queued0, count.queued1, count.flying,
        count.waiting, count.begun, count.over, count.through, count.known, count.buckets, count.round,
        count.pages, count.max_pages, count.bytes, count.max_bytes, count.split, count.token, count.starts,
        count.origins, count.last))
end

local function now()
    local time = call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function is_full()
    return count.max_bytes > 0 and count.bytes > count.max_bytes
end

-- ---- items -------------------------------------------------------------------------

local function has_flag(flags, flag)
    return flags % (2 * flag) >= flag
end

local function with_flag(flags, flag)
    return has_flag(flags, flag) and flags or flags + flag
end

-- One depth after the other takes two queues: what is due, and what is one deeper.
local function turn_of(item)
    return count.by_depth == 1 and item:byte(6) % 2 or 0
end

local function queue_of(turn, host)
    return crawl .. ':q' .. turn .. ':' .. host
end

local function line_of(turn, host)
    return crawl .. ':w' .. turn .. host:sub(1, 1)
end

-- ---- hosts -------------------------------------------------------------------------

-- Invariant 1: its queue has something, unless it says otherwise.
local function list_host(turn, host, at)
    local state = call('HMGET', crawl .. ':h:' .. host, 'n', 'u')
    if (tonumber(state[1]) or 0) < count.split then
        call('ZADD', line_of(turn, host), math.max(tonumber(state[2]) or 0, at), host)
    end
end

-- `items` go to the end of a queue, or to its beginning.
local function enqueue(push, turn, host, items, at)
    local length = call(push, queue_of(turn, host), unpack(items))
    count['queued' .. turn] = count['queued' .. turn] + #items
    if length == #items then
        list_host(turn, host, at)
    end
end

local function put_back(host, item, at)
    enqueue('LPUSH', turn_of(item), host, {item}, at)
end

-- What the worker has learnt of it: it wants to be left alone for so long, and one request at a time.
local function note_host(host, pause, is_troubled, at)
    local key = crawl .. ':h:' .. host
    local until_ms = tonumber(call('HGET', key, 'u')) or 0
    if pause > 0 and at + pause > until_ms then
        call('HSET', key, 'u', at + pause)
    end
    if is_troubled == '1' then
        call('HSET', key, 't', 1)
    elseif is_troubled == '0' then
        call('HDEL', key, 't')
    end
end

-- ---- leases ------------------------------------------------------------------------

-- A host without leases is forgotten when it may be asked again; then it is like any other.
local function end_lease(token, host, at)
    local key = crawl .. ':h:' .. host
    call('DEL', crawl .. ':l:' .. token)
    call('ZREM', crawl .. ':leases', token)
    if call('HINCRBY', key, 'n', -1) <= 0 then
        local until_ms = tonumber(call('HGET', key, 'u')) or 0
        call('PEXPIREAT', key, math.max(until_ms, at) + 60000)
    end
    for turn = 0, count.by_depth do
        if call('EXISTS', queue_of(turn, host)) == 1 then
            list_host(turn, host, at)
        end
    end
end

-- The host of a lease, or nil if it is not that worker's any more, and whether it has one that went out singly.
-- Tokens may come twice after Redis has lost its last second; workers do not.
local function host_of(token, worker)
    local lease = call('HMGET', crawl .. ':l:' .. token, 'h', 'w', 's')
    if lease[2] == worker then
        return lease[1], lease[3] == '1'
    end
end

local function is_single(item)
    return has_flag(item:byte(1), ITEM_SINGLE)
end

-- How many of the items may go out together: all before one that goes out singly, or that one.
local function length_together(items, is_alone)
    for i = 1, #items do
        if is_single(items[i]) then
            return i == 1 and is_alone and 1 or i - 1
        end
    end
    return #items
end

-- So many from the beginning of the queue; is_alone: the lease has no others.
local function take_items(turn, host, most, is_alone)
    local queue = queue_of(turn, host)
    local items = call('LRANGE', queue, 0, most - 1)
    local n = length_together(items, is_alone)
    for i = #items, n + 1, -1 do
        items[i] = nil
    end
    if n > 0 then
        call('LPOP', queue, n)
        count['queued' .. turn] = count['queued' .. turn] - n
        count.flying = count.flying + n
    end
    return items
end

-- Items are leased, and told in the reply with their numbers, which follow `last`. `fields` are those of the lease
-- that change besides.
local function lease_items(token, items, last, fields, reply)
    local n = #fields
    fields[n + 1], fields[n + 2] = 'n', tostring(last + #items) -- a text costs Redis less than a number
    fields[n + 3], fields[n + 4] = 's', is_single(items[1]) and '1' or '0'
    n = n + 4
    for i = 1, #items do
        local number = tostring(last + i)
        fields[n + 2 * i - 1], fields[n + 2 * i] = number, items[i]
        reply[#reply + 1] = number
        reply[#reply + 1] = items[i]
    end
    call('HSET', crawl .. ':l:' .. token, unpack(fields))
end

-- ---- what time brings --------------------------------------------------------------

-- A worker is gone, and its URLs go out singly: one that brings its worker down brings no others down with
-- it. Only one that was lost alone has lost a lease by itself.
local function lost_item(item, was_alone)
    local flags, tries, losses = item:byte(1, 3)
    if is_single(item) and was_alone then
        losses = losses + 1
        if losses >= LOSSES_ENOUGH then
            flags = with_flag(flags, ITEM_GIVEN_UP)
        end
    end
    return string.char(with_flag(flags, ITEM_SINGLE), tries, math.min(losses, 255)) .. item:sub(4)
end

local function reap_lease(token, at)
    local fields = call('HGETALL', crawl .. ':l:' .. token)
    local host, items = nil, {}
    for i = 1, #fields, 2 do
        if fields[i] == 'h' then
            host = fields[i + 1]
        elseif tonumber(fields[i]) then
            items[#items + 1] = fields[i + 1]
        end
    end
    if host == nil then
        call('ZREM', crawl .. ':leases', token)
        return
    end
    for i = #items, 1, -1 do
        put_back(host, lost_item(items[i], #items == 1), at)
    end
    count.flying = count.flying - #items
    end_lease(token, host, at)
end

-- Leases that have expired, and what was to be tried again by now: so many of each at most.
local function reap(at, most)
    local tokens = call('ZRANGEBYSCORE', crawl .. ':leases', '-inf', at, 'LIMIT', 0, most)
    local due = call('ZRANGEBYSCORE', crawl .. ':waiting', '-inf', at, 'LIMIT', 0, most)
    for i = 1, #tokens do
        reap_lease(tokens[i], at)
    end
    for i = 1, #due do
        local host, item = due[i]:match('^([^\n]*)\n(.*)$')
        call('ZREM', crawl .. ':waiting', due[i])
        count.waiting = count.waiting - 1
        put_back(host, item, at)
    end
    return #tokens, #due
end

-- ---- known URLs --------------------------------------------------------------------

-- Linear hashing (W. Litwin, 1980): there is a bucket for each URLS_A_BUCKET URLs. Those below
-- `buckets` - `round` have been split in this round, into themselves and one that is `round` further on.

local function number_of(hash)
    local a, b, c, d = hash:byte(1, 4)
    return ((a * 256 + b) * 256 + c) * 256 + d
end

local function bucket_of(hash)
    local number = number_of(hash)
    local index = number % (2 * count.round)
    if index >= count.buckets then
        index = number % count.round
    end
    return crawl .. ':s' .. index
end

local function split_bucket()
    local from, to = crawl .. ':s' .. (count.buckets - count.round), count.buckets
    local all = call('HGETALL', from)
    local stays, goes = {}, {}
    for i = 1, #all, 2 do
        local into = number_of(all[i]) % (2 * count.round) == to and goes or stays
        into[#into + 1] = all[i]
        into[#into + 1] = all[i + 1]
    end
    if #goes > 0 then
        call('DEL', from)
        call('HSET', crawl .. ':s' .. to, unpack(goes))
        if #stays > 0 then
            call('HSET', from, unpack(stays))
        end
    end
    count.buckets = to + 1
    if count.buckets == 2 * count.round then
        count.round = count.buckets
    end
end

-- Of the site so many pages are asked for, sitemaps not among them.
local function is_one_too_many(host, item)
    if host:sub(1, 1) ~= 's' or has_flag(item:byte(1), ITEM_SITEMAP) then
        return false
    end
    count.pages = count.pages + 1
    return count.max_pages > 0 and count.pages > count.max_pages
end

-- A known URL is to be asked for again if its ids are wanted for the first time, or it has come nearer.
local function is_wanted_again(bucket, hash, wants_ids, depth)
    local known = tonumber(call('HGET', bucket, hash))
    local had_ids, known_depth = has_flag(known, KNOWN_IDS), math.floor(known / KNOWN_DEPTH)
    local is_nearer = count.by_depth == 1 and depth < known_depth
    if not is_nearer and (had_ids or not wants_ids) then
        return false
    end
    call('HSET', bucket, hash, KNOWN_ASKED + ((had_ids or wants_ids) and KNOWN_IDS or 0) +
                               math.min(depth, known_depth) * KNOWN_DEPTH)
    return true
end

local function is_wanted(host, hash, item)
    local bucket = bucket_of(hash)
    local wants_ids = has_flag(item:byte(1), ITEM_IDS)
    local depth = math.min(item:byte(5) * 256 + item:byte(6), DEEPEST)
    local value = KNOWN_ASKED + (wants_ids and KNOWN_IDS or 0) + depth * KNOWN_DEPTH
    if call('HSETNX', bucket, hash, value) == 1 then
        count.known = count.known + 1
        return not is_one_too_many(host, item)
    end
    return (wants_ids or count.by_depth == 1) and is_wanted_again(bucket, hash, wants_ids, depth)
end

-- Triples of host, hash and item, from ARGV[first] on; or 'o', '' and an origin that belongs to the site. Those
-- of one host that follow each other are queued by one call.
local function add(first, at)
    local host, turn, items = nil, nil, {}
    for i = first, #ARGV, 3 do
        local item = ARGV[i + 2]
        if ARGV[i] == 'o' then
            count.origins = count.origins + call('SADD', crawl .. ':origins', item)
        elseif is_wanted(ARGV[i], ARGV[i + 1], item) then
            if has_flag(item:byte(1), ITEM_START) then
                count.starts = count.starts + 1
            end
            local its_turn = turn_of(item)
            if #items > 0 and (ARGV[i] ~= host or its_turn ~= turn) then
                enqueue('RPUSH', turn, host, items, at)
                items = {}
            end
            host, turn = ARGV[i], its_turn
            items[#items + 1] = item
        end
    end
    if #items > 0 then
        enqueue('RPUSH', turn, host, items, at)
    end
    while count.known > URLS_A_BUCKET * count.buckets do
        split_bucket()
    end
end

