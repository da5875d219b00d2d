-- complete.lua - complete URLs of a lease, store their results, add their links, and continue the lease.
--
-- ARGV: token, worker, duration of the lease in milliseconds, number of further URLs to lease, pause of the host
-- in milliseconds, '1' if the host is troubled or '0' if not, number of the call, length of all results together,
-- the number of each result, and the length of each result; host, hash and item of each link, at most 2,000. Numbers
-- and lengths are each one word, with four bytes for each result, low byte first. Result 0 stands for the sitemaps that
-- the host's robots.txt names. The sitemaps of a host are stored only once. Empty results are not stored.
--
-- Immediately before the call, the worker stores the bytes of all results in CRAWL:sent:WORKER:CALL. They are not in
-- ARGV, because Lua copies and hashes each byte of its arguments. If Redis does not have the bytes, the script fails
-- with NORESULTS, and changes nothing.
--
-- Returns {number of results ignored because the lease was lost, '1' if the lease is over, pause in milliseconds
-- that other workers have set for the host, number, item, ...}. The links of a lost result are still added, because
-- the worker will not send them again.

local token, worker, span, more = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local pause, is_troubled, total = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[8])
local sent = crawl .. ':sent:' .. worker .. ':' .. ARGV[7]
local results = #ARGV[9] / LENGTH_BYTES
local LINKS = 11

-- Store the bytes in `sent` as the results with these packed lengths.
local function store(lengths, at)
    local number = next_number(count.last, at)
    local key = bytes_key(number)
    call('XADD', crawl .. ':results', string.format('%.0f-0', number), 'n', lengths)
    call('RENAME', sent, key)
    call('PERSIST', key)
    count.last = number + #lengths / LENGTH_BYTES - 1
    count.bytes = count.bytes + total
end

-- Remove an item from the lease.
local function take(lease, number)
    if has_flag(byte(lease.items[number]), ITEM_START) then
        count.starts = count.starts - 1
    end
    count.flying = count.flying - 1
    lease.items[number] = nil
end

-- Return true if the result must be stored, and nil if it is lost.
local function is_wanted_result(lease, number)
    if number == 0 then
        return call('SADD', crawl .. ':sitemaps', lease.host) == 1
    end
    if not lease.items[number] then
        return nil
    end
    take(lease, number)
    return true
end

-- Return the packed lengths up to result `last`, with SKIPPED in the lengths of unwanted results. To remove the bytes of
-- these results, the script would have to copy all others.
local function marked_lengths(is_wanted, last)
    local lengths = {}
    for i = 1, last do
        local high = LENGTH_BYTES * i
        local mark = is_wanted[i] and 0 or SKIPPED
        lengths[i] = sub(ARGV[10], high - LENGTH_BYTES + 1, high - 1) .. string.char(byte(ARGV[10], high) + mark)
    end
    return table.concat(lengths)
end

-- Store the results. Returns the number of lost results.
local function store_results(lease, at)
    local format = '<' .. ('I4'):rep(results)
    local numbers, lengths = {struct.unpack(format, ARGV[9])}, {struct.unpack(format, ARGV[10])}
    local wanted, n, last, lost = {}, 0, 0, 0
    for i = 1, results do
        local is_wanted = is_wanted_result(lease, numbers[i])
        if is_wanted and lengths[i] > 0 then
            wanted[i], n, last = true, n + 1, i
            count.through = count.through + (numbers[i] ~= 0 and 1 or 0)
        elseif is_wanted == nil then
            lost = lost + 1
        end
    end
    if n > 0 then
        store(n == results and ARGV[10] or marked_lengths(wanted, last), at)
    end
    return lost
end

-- Lease further items, unless the current one must be leased alone.
local function take_more(lease, reply)
    local was_empty = is_empty(lease)
    if more == 0 or is_full() or (not was_empty and lease.single) then
        return
    end
    local items, has_more = take_items(count.turn, lease.host, more, was_empty)
    if #items > 0 then
        give_out(lease, items, reply)
        if not has_more then
            call('ZREM', line_of(count.turn, lease.host), lease.host)
        end
    end
end

local function go_on(lease, at, reply)
    take_more(lease, reply)
    if is_empty(lease) then
        end_lease(token, lease.host, at)
        reply[2] = '1'
    else
        write_lease(token, lease, at + span)
    end
end

-- Return the pause that other workers have set, if the host can have several leases.
local function pause_of(host, at)
    if count.split == 1 then
        return 0
    end
    return math.max((tonumber(call('HGET', crawl .. ':h:' .. host, 'u')) or 0) - at, 0)
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
if total > 0 and call('STRLEN', sent) ~= total then
    return redis.error_reply('NORESULTS the results were not sent, or too long ago')
end
local at, lease = now(), read_lease(token, worker)
local reply = {tostring(results), '1', '0'}
if lease then
    reply = {tostring(store_results(lease, at)), '0', tostring(pause_of(lease.host, at))}
end
add(LINKS, at)
if lease then
    if pause > 0 or is_troubled ~= '' then
        note_host(lease.host, pause, is_troubled, at)
    end
    go_on(lease, at, reply)
end
save()
return reply
