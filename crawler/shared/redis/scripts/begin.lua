-- begin.lua - begin a crawl, or return the input with which another worker began it.
--
-- ARGV: format, seed, setup, by_depth, max_pages, max_bytes, split. The format is LEASES_FORMAT of lease.h. The seed is
-- used for hashing. The setup identifies the options. If the seed is empty, the script does not begin a crawl.
-- Returns {1 if the crawl is new, format, seed, setup}.
--
-- Each worker must check the format before it uses the crawl. Crawls of the first versions have no format, for which
-- the script returns 0. Later versions must store the format in the same field, whatever else they change.

if call('EXISTS', crawl .. ':setup') == 1 then
    local setup = call('HMGET', crawl .. ':setup', 'format', 'seed', 'setup')
    return {0, setup[1] or '0', setup[2] or '', setup[3] or ''}
end
if ARGV[2] == '' then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
for _, name in ipairs({'turn', 'depth', 'queued0', 'queued1', 'flying', 'waiting', 'begun', 'over', 'through',
                       'known', 'pages', 'bytes', 'token', 'starts', 'origins', 'last'}) do
    count[name] = 0
end
count.buckets, count.round = 16, 16
count.by_depth, count.max_pages = tonumber(ARGV[4]), tonumber(ARGV[5])
count.max_bytes, count.split = tonumber(ARGV[6]), tonumber(ARGV[7])
call('DEL', crawl) -- a deleted crawl of this name may be about to expire, and save() keeps the expiry
call('HSET', crawl .. ':setup', 'format', ARGV[1], 'seed', ARGV[2], 'setup', ARGV[3])
save()
return {1, ARGV[1], ARGV[2], ARGV[3]}
