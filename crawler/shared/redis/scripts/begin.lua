-- begin.lua - begin a crawl, or return the seed and the setup that another worker began it with.
--
-- ARGV: seed, setup, by_depth, max_pages, max_bytes, split. The seed is used for hashing. The setup identifies
-- the options. If the seed is empty, the script does not begin a crawl. Returns {1 if the crawl is new, seed, setup}.

local setup = call('HMGET', crawl .. ':setup', 'seed', 'setup')
if setup[1] then
    return {0, setup[1], setup[2]}
end
if ARGV[1] == '' then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
for _, name in ipairs({'turn', 'depth', 'queued0', 'queued1', 'flying', 'waiting', 'begun', 'over', 'through',
                       'known', 'pages', 'bytes', 'token', 'starts', 'origins', 'last'}) do
    count[name] = 0
end
count.buckets, count.round = 16, 16
count.by_depth, count.max_pages = tonumber(ARGV[3]), tonumber(ARGV[4])
count.max_bytes, count.split = tonumber(ARGV[5]), tonumber(ARGV[6])
call('HSET', crawl .. ':setup', 'seed', ARGV[1], 'setup', ARGV[2])
save()
return {1, ARGV[1], ARGV[2]}
