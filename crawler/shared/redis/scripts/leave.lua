-- leave.lua - a worker ends: all that it has leased goes back as it was, also by a lease that it does not know of,
-- since the reply has not reached it.
--
-- ARGV: worker. Returns {how many leases it had}. It looks at the leases of all workers.

local worker = ARGV[1]

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local at, leases = now(), 0
for _, token in ipairs(call('ZRANGE', crawl .. ':leases', 0, -1)) do
    local lease = read_lease(token, worker)
    if lease then
        give_all_back(lease, at)
        end_lease(token, lease.host, at)
        leases = leases + 1
    end
end
save()
return {tostring(leases)}
