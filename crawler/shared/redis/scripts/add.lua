-- add.lua - enqueue unknown URLs: the starts of a crawl, or links that do not fit into a call of complete.lua.
--
-- ARGV: '1' if all starts are enqueued now; host, hash, item, ... for at most 2,000 URLs. Returns the number of
-- known URLs.

if not load() then
    return redis.error_reply('NOCRAWL there is no such crawl')
end
add(2, now())
if ARGV[1] == '1' then
    count.begun = 1
end
save()
return count.known
