-- add.lua - URLs to be asked for, unless they are known. What a crawl begins with; what pages link to comes
-- by complete.lua.
--
-- ARGV: host, hash, item, and so on. Returns how many URLs are known.

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
add(1, now())
count.begun = 1
save()
return count.known
