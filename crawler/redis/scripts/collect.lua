-- collect.lua - results for a collector, which has those up to some number on its disk.
--
-- ARGV: the last number that it has, 0 at first; results at most, about. The former are forgotten. Returns
-- {'1' if the crawl is over, how many URLs are through, how many are left, and of some results at a time the number of
-- the first, the lengths of all, and their bytes, ...}; there is nothing to come once it is over and none are left.

local after, most = tonumber(ARGV[1]), tonumber(ARGV[2])
local results = crawl .. ':results'

local function first_number(entry)
    return tonumber(entry[1]:match('^%d+'))
end

local function lengths_of(entry)
    return entry[2][2]
end

local function bytes_of(entry)
    return entry[2][4]
end

-- A collector has all of an entry or nothing.
local function forget_collected()
    repeat
        local entries = call('XRANGE', results, '-', string.format('%.0f', after), 'COUNT', 100)
        for i = 1, #entries do
            count.bytes = count.bytes - #bytes_of(entries[i])
        end
        if #entries > 0 then
            call('XTRIM', results, 'MINID', string.format('%.0f', first_number(entries[#entries]) + 1))
        end
    until #entries == 0
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
forget_collected()
save()
local reply = {tostring(count.over), string.format('%.0f', count.through),
               string.format('%.0f', count.queued0 + count.queued1 + count.flying + count.waiting)}
for _, entry in ipairs(call('XRANGE', results, '-', '+', 'COUNT', most)) do
    reply[#reply + 1] = string.format('%.0f', first_number(entry))
    reply[#reply + 1] = lengths_of(entry)
    reply[#reply + 1] = bytes_of(entry)
end
return reply
