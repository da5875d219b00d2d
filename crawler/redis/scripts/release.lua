-- release.lua - URLs of a lease are given back: to be tried again later, or since the worker ends.
--
-- ARGV: token, worker, milliseconds for which the host is to be left alone, '1' if it is troubled, '0' if not; of each
-- URL its number, milliseconds until it is to be given out again, and its item. Without any, all that the lease
-- has goes back as it was, and the lease is over. Returns {how many were not taken, '1' if the lease is over}.

local token, worker, pause, is_troubled = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local FIRST = 5

local function give_back(host, at)
    local lost = 0
    for i = FIRST, #ARGV, 3 do
        local delay = tonumber(ARGV[i + 1])
        if call('HDEL', crawl .. ':l:' .. token, ARGV[i]) == 0 then
            lost = lost + 1
        else
            count.flying = count.flying - 1
            if delay > 0 then
                count.waiting = count.waiting + 1
                call('ZADD', crawl .. ':waiting', at + delay, host .. '\n' .. ARGV[i + 2])
            else
                put_back(host, ARGV[i + 2], at)
            end
        end
    end
    return lost
end

local function give_all_back(host, at)
    local fields = call('HGETALL', crawl .. ':l:' .. token)
    for i = 1, #fields, 2 do
        if tonumber(fields[i]) then
            count.flying = count.flying - 1
            put_back(host, fields[i + 1], at)
        end
    end
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local at = now()
local host = host_of(token, worker)
if not host then
    return {tostring(math.ceil((#ARGV - FIRST + 1) / 3)), '1'}
end
if pause > 0 or is_troubled ~= '' then
    note_host(host, pause, is_troubled, at)
end
local lost, is_over = 0, #ARGV < FIRST
if is_over then
    give_all_back(host, at)
else
    lost = give_back(host, at)
    is_over = call('HLEN', crawl .. ':l:' .. token) == LEASE_FIELDS
end
if is_over then
    end_lease(token, host, at)
end
save()
return {tostring(lost), is_over and '1' or '0'}
