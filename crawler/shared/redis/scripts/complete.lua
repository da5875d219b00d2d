-- complete.lua - complete URLs of a lease, store their results, add their links, and continue the lease.
--
-- ARGV: token, worker, duration of the lease in milliseconds, number of further URLs to lease, pause of the host
-- in milliseconds, '1' if the host is troubled or '0' if not, number of results; the number and length of each
-- result; the bytes of all results; host, hash and item of each link, at most 2,000. Number 0 stands for the sitemaps
-- that the host's robots.txt names. The sitemaps of a host are stored only once. Empty results are not stored.
--
-- Returns {number of results ignored because the lease was lost, '1' if the lease is over, pause in milliseconds
-- that other workers have set for the host, number, item, ...}. The links of a lost result are still added, because
-- the worker will not send them again.

local token, worker, span, more = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local pause, is_troubled, results = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local FIRST = 8
local BYTES = FIRST + 2 * results

-- Add all results as one string, because Redis would copy the entry each time it grows by a result.
local function keep(lengths, bytes, at)
    local number = next_number(count.last, at)
    call('XADD', crawl .. ':results', string.format('%.0f-0', number), 'n', table.concat(lengths, ' '),
         'r', bytes)
    count.last = number + #lengths - 1
    count.bytes = count.bytes + #bytes
end

-- Remove an item from the lease.
local function take(lease, number)
    if has_flag(lease.items[number]:byte(1), ITEM_START) then
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

-- Store the results. Returns the number of lost results.
local function keep_results(lease, at)
    local lengths, parts, lost, from = {}, {}, 0, 1
    for i = FIRST, BYTES - 1, 2 do
        local number, length = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
        local is_wanted = is_wanted_result(lease, number)
        if is_wanted and length > 0 then
            lengths[#lengths + 1] = ARGV[i + 1]
            parts[#parts + 1] = {from, from + length - 1}
            count.through = count.through + (number ~= 0 and 1 or 0)
        elseif is_wanted == nil then
            lost = lost + 1
        end
        from = from + length
    end
    if #parts == results and results > 0 then
        keep(lengths, ARGV[BYTES], at)
    elseif #parts > 0 then
        for i = 1, #parts do
            parts[i] = ARGV[BYTES]:sub(parts[i][1], parts[i][2])
        end
        keep(lengths, table.concat(parts), at)
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
local at, lease = now(), read_lease(token, worker)
local reply = {tostring(results), '1', '0'}
if lease then
    reply = {tostring(keep_results(lease, at)), '0', tostring(pause_of(lease.host, at))}
end
add(BYTES + 1, at)
if lease then
    if pause > 0 or is_troubled ~= '' then
        note_host(lease.host, pause, is_troubled, at)
    end
    go_on(lease, at, reply)
end
save()
return reply
