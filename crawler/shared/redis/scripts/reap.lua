-- reap.lua - what time brings: leases that have expired are ended, and what waits is given out again.
--
-- ARGV: how many of each at most. Returns {leases, URLs that waited}.

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
local leases, retries = reap(now(), tonumber(ARGV[1]))
save()
return {tostring(leases), tostring(retries)}
