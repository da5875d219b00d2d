-- release.lua - return URLs of a lease to the queues, to try them again later, or because the worker ends.
--
-- ARGV: token, worker, pause of the host in milliseconds, '1' if the host is troubled or '0' if not; for each URL
-- its number, the delay until it may be leased again in milliseconds, and its item. Without URLs, all items are
-- returned unchanged, and the lease is over. Returns {number of URLs that were ignored, '1' if the lease is over}.

local token, worker, pause, is_troubled = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local FIRST = 5

local function give_back(lease, at)
    local lost = 0
    for i = FIRST, #ARGV, 3 do
        local number, delay, item = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), ARGV[i + 2]
        if not lease.items[number] then
            lost = lost + 1
        else
            lease.items[number] = nil
            count.flying = count.flying - 1
            if delay > 0 then
                count.waiting = count.waiting + call('ZADD', crawl .. ':waiting', at + delay, lease.host .. '\n' .. item)
            else
                put_back(lease.host, item, at)
            end
        end
    end
    return lost
end

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local at, lease = now(), read_lease(token, worker)
if not lease then
    return {tostring(math.ceil((#ARGV - FIRST + 1) / 3)), '1'}
end
if pause > 0 or is_troubled ~= '' then
    note_host(lease.host, pause, is_troubled, at)
end
local lost = 0
if #ARGV < FIRST then
    give_all_back(lease, at)
else
    lost = give_back(lease, at)
end
local is_over = is_empty(lease)
if is_over then
    end_lease(token, lease.host, at)
else
    call('SET', lease_key(token), cmsgpack.pack(lease))
end
save()
return {tostring(lost), is_over and '1' or '0'}
