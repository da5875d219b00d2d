-- collect.lua - return results to a collector, and delete the results that it has saved.
--
-- ARGV: the last number that the collector has saved, initially 0; the approximate number of results to return.
-- Results up to the first argument are deleted. Returns {'1' if the crawl is over, number of completed URLs,
-- number of URLs left, and for each entry the number of its first result, and its lengths, ...}. The collector reads
-- the bytes from CRAWL:b:NUMBER. The collector may already have the first results of an entry. If the crawl is over and
-- no results are left, no further results will follow.

local after, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local results = crawl .. ':results'

local function first_number(entry)
    return tonumber(entry[1]:match('^%d+'))
end

local function lengths_of(entry)
    return entry[2][2]
end

local function last_number(entry)
    return first_number(entry) + #lengths_of(entry) / LENGTH_BYTES - 1
end

-- Do not delete an entry if the collector lacks some of its results. Delete first, because a full Redis rejects other
-- writes.
local function forget_collected()
    local forgotten
    repeat
        local entries = call('XRANGE', results, '-', string.format('%.0f', after), 'COUNT', 100)
        forgotten = 0
        for i = 1, #entries do
            if last_number(entries[i]) <= after then
                local key = bytes_key(first_number(entries[i]))
                count.bytes = count.bytes - call('STRLEN', key)
                call('UNLINK', key)
                forgotten = i
            end
        end
        if forgotten > 0 then
            call('XTRIM', results, 'MINID', string.format('%.0f', first_number(entries[forgotten]) + 1))
            save()
        end
    until forgotten == 0
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
forget_collected()
local reply = {tostring(count.over), string.format('%.0f', count.through),
               string.format('%.0f', count.queued0 + count.queued1 + count.flying + count.waiting)}
for _, entry in ipairs(call('XRANGE', results, '-', '+', 'COUNT', most)) do
    reply[#reply + 1] = string.format('%.0f', first_number(entry))
    reply[#reply + 1] = lengths_of(entry)
end
return reply
