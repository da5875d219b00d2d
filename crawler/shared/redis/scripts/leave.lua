-- leave.lua - end a worker: end all its leases, and return their items unchanged to the queues. This includes a lease
-- that the worker does not know because it did not receive the reply.
--
-- ARGV: worker. Returns {number of its leases}. Reads the leases of all workers.

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
