-- complete.lua - what came of URLs of a lease: they are through, their results are kept, what they link to is
-- added, and the lease goes on.
--
-- ARGV: token, worker, milliseconds that the lease is to last, URLs that are wanted besides, milliseconds
-- for which the host is to be left alone, '1' if it is troubled, '0' if not, how many results; of each its
-- number and its length; the bytes of all of them; of each link host, hash and item. Number 0 is no URL of the lease,
-- but the sitemaps that the robots.txt of the host names: they are kept if nobody has told them before. A result
-- of no bytes is not kept.
--
-- Returns {how many results were not taken, since the lease was lost, '1' if the lease is over, milliseconds for
-- which others want the host to be left alone, number, item, ...}. What a lost page links to is added all the
-- same: the worker remembers that it has sent it.

local token, worker, span, more = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local pause, is_troubled, results = tonumber(ARGV[5]), ARGV[6], tonumber(ARGV[7])
local FIRST = 8
local BYTES = FIRST + 2 * results
local lease_key = crawl .. ':l:' .. token

-- Numbers are above those before them, whatever Redis has lost: the time is in them.
local RESULTS_A_MILLISECOND = 2048

-- As one text: an entry that grows by each of them is moved by each of them.
local function keep(lengths, bytes, at)
    local number = math.max(at * RESULTS_A_MILLISECOND, count.last + 1)
    call('XADD', crawl .. ':results', string.format('%.0f-0', number), 'n', table.concat(lengths, ' '),
         'r', bytes)
    count.last = number + #lengths - 1
    count.bytes = count.bytes + #bytes
end

local function numbers_of_results()
    local numbers = {}
    for i = 1, results do
        numbers[i] = ARGV[FIRST + 2 * i - 2]
    end
    return numbers
end

-- It is the lease's no more.
local function take(item)
    if has_flag(item:byte(1), ITEM_START) then
        count.starts = count.starts - 1
    end
    count.flying = count.flying - 1
end

-- Whether the i-th result is to be kept; `items` are those that the lease has.
local function is_wanted_result(i, number, items, taken, host)
    if number == '0' then
        return call('SADD', crawl .. ':told', host) == 1
    end
    if not items[i] or taken[number] then
        return nil
    end
    taken[number] = true
    taken[#taken + 1] = number
    take(items[i])
    return true
end

-- Returns how many are lost.
local function keep_results(host, at)
    local numbers, taken, lengths, parts, lost, from = numbers_of_results(), {}, {}, {}, 0, 1
    local items = results > 0 and call('HMGET', lease_key, unpack(numbers))
    for i = 1, results do
        local length = tonumber(ARGV[FIRST + 2 * i - 1])
        local is_wanted = is_wanted_result(i, numbers[i], items, taken, host)
        if is_wanted and length > 0 then
            lengths[#lengths + 1] = ARGV[FIRST + 2 * i - 1]
            parts[#parts + 1] = {from, from + length - 1}
            count.through = count.through + (numbers[i] ~= '0' and 1 or 0)
        elseif is_wanted == nil then
            lost = lost + 1
        end
        from = from + length
    end
    if #taken > 0 then
        call('HDEL', lease_key, unpack(taken))
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

-- One that went out singly is alone to its end.
local function more_items(host, held, has_single)
    if more == 0 or is_full() or (held > 0 and has_single) then
        return {}
    end
    return take_items(count.turn, host, more, held == 0)
end

local function go_on(host, has_single, at, reply)
    local held = call('HLEN', lease_key) - LEASE_FIELDS
    local items = more_items(host, held, has_single)
    if #items > 0 then
        lease_items(token, items, tonumber(call('HGET', lease_key, 'n')), {}, reply)
        if call('EXISTS', queue_of(count.turn, host)) == 0 then
            call('ZREM', line_of(count.turn, host), host)
        end
    end
    if held + #items == 0 then
        end_lease(token, host, at)
        reply[2] = '1'
    else
        call('ZADD', crawl .. ':leases', at + span, token)
    end
end

-- That others have learnt, if there are any.
local function pause_of(host, at)
    if count.split == 1 then
        return 0
    end
    return math.max((tonumber(call('HGET', crawl .. ':h:' .. host, 'u')) or 0) - at, 0)
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local at = now()
local host, has_single = host_of(token, worker)
local reply = {tostring(results), '1', '0'}
if host then
    reply = {tostring(keep_results(host, at)), '0', tostring(pause_of(host, at))}
end
add(BYTES + 1, at)
if host then
    if pause > 0 or is_troubled ~= '' then
        note_host(host, pause, is_troubled, at)
    end
    go_on(host, has_single, at, reply)
end
save()
return reply
