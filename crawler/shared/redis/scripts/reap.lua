-- reap.lua - end expired leases, and enqueue URLs whose delay is over.
--
-- ARGV: the maximum number of leases, which is also the maximum number of URLs. Returns {number of leases, number of
-- URLs}.

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local leases, retries = reap(now(), tonumber(ARGV[1]))
save()
return {tostring(leases), tostring(retries)}
