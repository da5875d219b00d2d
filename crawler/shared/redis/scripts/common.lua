-- common.lua - shared by all scripts of a crawl, and prepended to each of them.
--
-- KEYS[1] is the crawl, "coil:{NAME}". The names of its other keys begin with this text, so that all keys are in one
-- slot:
--
--     CRAWL               string  its numbers as doubles: `count`, in the order of load()
--     CRAWL:setup         hash    the input of the crawl, and the format of all these keys: see begin.lua
--     CRAWL:s<N>          string  known URLs: for each, a hash of 10 bytes and a byte of facts (KNOWN_*)
--     CRAWL:q<TURN>:HOST  list    the queue of a host: items
--     CRAWL:w<TURN><C>    zset    hosts of class C that may be leased => the earliest time
--     CRAWL:h:HOST        hash    n: number of leases; u: no request before this time; t: is troubled
--     CRAWL:l:TOKEN       string  a lease: see read_lease()
--     CRAWL:leases        zset    token => when it expires
--     CRAWL:waiting       zset    HOST \n item => when to retry it
--     CRAWL:sitemaps      set     hosts whose sitemaps from robots.txt were stored
--     CRAWL:origins       set     further origins of the site, which starts redirect to
--     CRAWL:results       stream  results that are not collected. An entry contains several: its id is the
--                                 number of the first, and n contains their lengths (LENGTH_BYTES)
--     CRAWL:b:NUMBER      string  the bytes of an entry's results, and of results that are SKIPPED
--     CRAWL:sent:WORKER:CALL  string  the bytes of the results for a call of complete.lua; expires after a minute
--
-- HOST is a letter for the class, and the origin: "shttp://example.org". The classes are "s" for the site and
-- "x" for others. "h" is one host without an origin, for URLs that seem to be outside the site. Such URLs are held
-- until all starts are completed, because only then is it known what belongs to the site.
--
-- An item consists of six bytes and the part of the URL after the origin in HOST. The bytes are flags (ITEM_*), tries,
-- lost leases, redirects so far, and the depth, high byte first. Times are in milliseconds of Redis's clock.
--
-- If keys, items or results change, increment LEASES_FORMAT in lease.h.
--
-- Invariants
--   1. A host is in :w<TURN> if and only if its queue :q<TURN> is not empty and it has fewer leases than `split`.
--   2. An item is in one place: a queue, :waiting or a lease. `queued`, `waiting` and `flying` are the numbers of
--      items in these places.
--   3. Nothing fails after the first write. (If Redis lacks memory, it rejects a script at its first write or
--      not at all.)

local ITEM_SITEMAP, ITEM_IDS, ITEM_START, ITEM_SINGLE, ITEM_GIVEN_UP = 1, 2, 4, 8, 32
local KNOWN_ASKED, KNOWN_IDS, KNOWN_DEPTH = 1, 2, 4
local DEEPEST = 31 -- depths above this count as equal, so that a value fits in a byte
local URLS_A_BUCKET, HASH_BYTES = 24, 10
local LENGTH_BYTES = 4 -- for the length of a result, low byte first
local SKIPPED = 128 -- in the last byte of a length: the collector must ignore this result
local LOSSES_ENOUGH = 3
local SITE = 115 -- the byte 's'

local call, byte, find, sub = redis.call, string.byte, string.find, string.sub
local crawl = KEYS[1]

-- ---- the crawl's numbers -----------------------------------------------------------

local NUMBERS = 'dddddddddddddddddddddd'
local count = {}

-- Returns false if the crawl does not exist.
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

-- Store the numbers without changing the key's expiry: see leases_forget().
local function save()
    call('SET', crawl, struct.pack(
        NUMBERS, count.turn, count.depth, count.by_depth, count.queued0, count.queued1, count.flying,
        count.waiting, count.begun, count.over, count.through, count.known, count.buckets, count.round,
        count.pages, count.max_pages, count.bytes, count.max_bytes, count.split, count.token, count.starts,
        count.origins, count.last), 'KEEPTTL')
end

-- Return a number that is greater than all earlier numbers. It includes the time, so it also increases after a
-- restart in which Redis lost data.
local NUMBERS_A_MILLISECOND = 2048

local function next_number(before, at)
    return math.max(before + 1, at * NUMBERS_A_MILLISECOND)
end

-- The key for the bytes of an entry in CRAWL:results.
local function bytes_key(number)
    return string.format('%s:b:%.0f', crawl, number)
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

-- In a crawl by depth, a host has two queues: one for the current depth, and one for the next.
local function turn_of(item)
    return count.by_depth == 1 and byte(item, 6) % 2 or 0
end

-- Names that contain a turn. To convert the turn to text each time would take longer than most commands.
local QUEUED, QUEUE, LINE = {[0] = 'queued0', 'queued1'}, {[0] = ':q0:', ':q1:'}, {[0] = ':w0', ':w1'}

local function queue_of(turn, host)
    return crawl .. QUEUE[turn] .. host
end

local function line_of(turn, host)
    return crawl .. LINE[turn] .. sub(host, 1, 1)
end

local function count_queued(turn, n)
    local name = QUEUED[turn]
    count[name] = count[name] + n
end

-- ---- hosts -------------------------------------------------------------------------

-- Restore invariant 1 for a host. Its queue must not be empty.
local function list_host(turn, host, at)
    local state = call('HMGET', crawl .. ':h:' .. host, 'n', 'u')
    if (tonumber(state[1]) or 0) < count.split then
        call('ZADD', line_of(turn, host), math.max(tonumber(state[2]) or 0, at), host)
    end
end

-- Add `items` to the end of a queue, or to its beginning.
local function enqueue(push, turn, host, items, at)
    local length = call(push, queue_of(turn, host), unpack(items))
    count_queued(turn, #items)
    if length == #items then
        list_host(turn, host, at)
    end
end

local function put_back(host, item, at)
    enqueue('LPUSH', turn_of(item), host, {item}, at)
end

-- Record the pause that a host has requested, and whether the host is troubled and gets only one request at a time.
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

-- A lease has a host, a worker, its items by number, the last number used, and `single`, which is true if the last
-- item must be leased alone. It is stored as one string, because access to a field of a hash would take as long.

local function lease_key(token)
    return crawl .. ':l:' .. token
end

-- Returns nil if the lease does not exist, or belongs to another worker.
local function read_lease(token, worker)
    local bytes = call('GET', lease_key(token))
    local lease = bytes and cmsgpack.unpack(bytes)
    return lease and (not worker or lease.worker == worker) and lease or nil
end

local function write_lease(token, lease, expires)
    call('SET', lease_key(token), cmsgpack.pack(lease))
    call('ZADD', crawl .. ':leases', expires, token)
end

local function is_empty(lease)
    return next(lease.items) == nil
end

local function numbers_of(lease)
    local numbers = {}
    for number in pairs(lease.items) do
        numbers[#numbers + 1] = number
    end
    table.sort(numbers)
    return numbers
end

local function give_all_back(lease, at)
    for _, number in ipairs(numbers_of(lease)) do
        count.flying = count.flying - 1
        put_back(lease.host, lease.items[number], at)
        lease.items[number] = nil
    end
end

-- If the host has no other leases, its record expires a minute after the end of its pause.
local function end_lease(token, host, at)
    local key = crawl .. ':h:' .. host
    call('DEL', lease_key(token))
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

local function is_single(item)
    return has_flag(byte(item), ITEM_SINGLE)
end

-- Return how many items may be leased together: either one item that must be leased alone, or all items before it.
local function length_together(items, is_alone)
    for i = 1, #items do
        if is_single(items[i]) then
            return i == 1 and is_alone and 1 or i - 1
        end
    end
    return #items
end

-- Take at most `most` items from the queue. Returns the items, and whether the queue has more. is_alone is true if
-- the lease is empty.
local function take_items(turn, host, most, is_alone)
    local queue = queue_of(turn, host)
    local items = call('LRANGE', queue, 0, most)
    local n = math.min(length_together(items, is_alone), most)
    local has_more = #items > n
    for i = #items, n + 1, -1 do
        items[i] = nil
    end
    if n > 0 then
        call('LTRIM', queue, n, -1) -- LPOP would return the items again
        count_queued(turn, -n)
        count.flying = count.flying + n
    end
    return items, has_more
end

-- Add items to the lease, and add their numbers and the items to the reply.
local function give_out(lease, items, reply)
    local number, n = lease.last, #reply
    lease.single = is_single(items[1])
    for i = 1, #items do
        number = number + 1
        lease.items[number] = items[i]
        reply[n + 1], reply[n + 2] = number, items[i]
        n = n + 2
    end
    lease.last = number
end

-- ---- expiry ------------------------------------------------------------------------

-- The items of a lost lease must be leased alone, so that an item that crashes its worker does not affect others.
-- The loss counts only for an item that was already leased alone.
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
    local lease = read_lease(token)
    if not lease then
        call('ZREM', crawl .. ':leases', token)
        return
    end
    local numbers = numbers_of(lease)
    for i = #numbers, 1, -1 do
        put_back(lease.host, lost_item(lease.items[numbers[i]], #numbers == 1), at)
    end
    count.flying = count.flying - #numbers
    end_lease(token, lease.host, at)
end

-- End expired leases, and enqueue items whose retry is due. `most` limits the number of each.
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

-- Linear hashing (W. Litwin, 1980) with a bucket for each URLS_A_BUCKET URLs. In the current round, each bucket below
-- `buckets` - `round` has been split in two. The second half is `round` places after the first.
--
-- A script reads all its buckets with one command, and writes the changed buckets with another, because the overhead
-- of a command is larger than its work. In the script, the buckets are numbered in the order in which it needs them:
-- `place_of_bucket` has a bucket's place in `keys`, `buckets` and `is_changed`.

local RECORD_BYTES = HASH_BYTES + 1
local place_of_bucket, keys, buckets, is_changed = {}, {}, {}, {}

local function number_of(hash, at)
    local a, b, c, d = byte(hash, at, at + 3)
    return ((a * 256 + b) * 256 + c) * 256 + d
end

local function index_of(hash)
    local number = number_of(hash, 1)
    local index = number % (2 * count.round)
    return index < count.buckets and index or number % count.round
end

local function place_bucket(index)
    local place = #keys + 1
    place_of_bucket[index], keys[place] = place, string.format('%s:s%d', crawl, index) -- faster than `..`
    return place
end

-- Read the buckets for the links of add(). Returns the place of each link's bucket.
local function read_buckets(first)
    local places, n = {}, 0
    for i = first, #ARGV, 3 do
        local index = ARGV[i] ~= 'o' and index_of(ARGV[i + 1])
        n = n + 1
        places[n] = index and (place_of_bucket[index] or place_bucket(index))
    end
    if #keys > 0 then
        buckets = call('MGET', unpack(keys))
    end
    return places
end

local function write_buckets()
    local words, n = {}, 0
    for place = 1, #keys do
        if is_changed[place] then
            words[n + 1], words[n + 2] = keys[place], buckets[place]
            n = n + 2
        end
    end
    if n > 0 then
        call('MSET', unpack(words))
    end
end

local function change_bucket(place, bucket)
    buckets[place], is_changed[place] = bucket, true
end

local function split_bucket()
    local from, to = count.buckets - count.round, count.buckets
    local place, stays, goes = place_of_bucket[from], {}, {}
    if not place then
        place = place_bucket(from)
        buckets[place] = call('GET', keys[place])
    end
    local all = buckets[place] or ''
    for i = 1, #all, RECORD_BYTES do
        local into = number_of(all, i) % (2 * count.round) == to and goes or stays
        into[#into + 1] = sub(all, i, i + RECORD_BYTES - 1)
    end
    change_bucket(place, table.concat(stays))
    change_bucket(place_bucket(to), table.concat(goes))
    count.buckets = to + 1
    if count.buckets == 2 * count.round then
        count.round = count.buckets
    end
end

local function place_of(bucket, hash)
    local at = find(bucket, hash, 1, true)
    while at and at % RECORD_BYTES ~= 1 do
        at = find(bucket, hash, at + 1, true)
    end
    return at
end

-- True once --max-pages pages of the site were enqueued, not counting sitemaps.
local function is_one_too_many(host, item)
    if byte(host) ~= SITE or has_flag(byte(item), ITEM_SITEMAP) then
        return false
    end
    count.pages = count.pages + 1
    return count.max_pages > 0 and count.pages > count.max_pages
end

-- If a known URL must be fetched again, because its ids are needed for the first time or its depth is smaller than
-- before, return its new facts. Otherwise return nil.
local function known_again(known, wants_ids, depth)
    local had_ids, known_depth = has_flag(known, KNOWN_IDS), math.floor(known / KNOWN_DEPTH)
    local is_nearer = count.by_depth == 1 and depth < known_depth
    if is_nearer or wants_ids and not had_ids then
        return KNOWN_ASKED + ((had_ids or wants_ids) and KNOWN_IDS or 0) + math.min(depth, known_depth) * KNOWN_DEPTH
    end
end

local function is_wanted(place, host, hash, item)
    local bucket = buckets[place] or ''
    local at = place_of(bucket, hash)
    local flags, _, _, _, high, low = byte(item, 1, 6)
    local wants_ids = has_flag(flags, ITEM_IDS)
    local depth = math.min(high * 256 + low, DEEPEST)
    if not at then
        local known = KNOWN_ASKED + (wants_ids and KNOWN_IDS or 0) + depth * KNOWN_DEPTH
        change_bucket(place, bucket .. hash .. string.char(known))
        count.known = count.known + 1
        return not is_one_too_many(host, item)
    end
    local again = known_again(byte(bucket, at + HASH_BYTES), wants_ids, depth)
    if again then
        change_bucket(place, sub(bucket, 1, at + HASH_BYTES - 1) .. string.char(again) .. sub(bucket, at + RECORD_BYTES))
    end
    return again
end

-- Add the triples that begin at ARGV[first]: host, hash and item; or 'o', '' and an origin that belongs to the site.
-- One command adds all items of a queue. Once the crawl is over, nothing is added.
local function add(first, at)
    if count.over == 1 then
        return
    end
    local places, link = read_buckets(first), 0
    local hosts, turns, queues, n, queue_with = {}, {}, {}, 0, {[0] = {}, {}}
    for i = first, #ARGV, 3 do
        local host, item = ARGV[i], ARGV[i + 2]
        link = link + 1
        if host == 'o' then
            count.origins = count.origins + call('SADD', crawl .. ':origins', item)
        elseif is_wanted(places[link], host, ARGV[i + 1], item) then
            if has_flag(byte(item), ITEM_START) then
                count.starts = count.starts + 1
            end
            local turn = turn_of(item)
            local queue = queue_with[turn][host]
            if queue then
                queue[#queue + 1] = item
            else
                n, queue = n + 1, {item}
                hosts[n], turns[n], queues[n], queue_with[turn][host] = host, turn, queue, queue
            end
        end
    end
    for i = 1, n do
        enqueue('RPUSH', turns[i], hosts[i], queues[i], at)
    end
    while count.known > URLS_A_BUCKET * count.buckets do
        split_bucket()
    end
    write_buckets()
end
