-- add.lua - URLs to be asked for, unless they are known. What a crawl begins with, and what is too much for
-- complete.lua.
--
-- ARGV: '1' if all that the crawl begins with is there now; host, hash, item, and so on, of 2,000 URLs at most. Returns
-- how many URLs are known.

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
add(2, now())
if ARGV[1] == '1' then
    count.begun = 1
end
save()
return count.known
