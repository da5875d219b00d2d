-- renew.lua - extend the leases of a worker.
--
-- ARGV: worker, duration in milliseconds, token, ... Returns for each lease '1', or '0' if it is lost.

local worker, span, at = ARGV[1], tonumber(ARGV[2]), now()
local reply = {}

for i = 3, #ARGV do
    local is_held = read_lease(ARGV[i], worker) ~= nil
    if is_held then
        call('ZADD', crawl .. ':leases', at + span, ARGV[i])
    end
    reply[#reply + 1] = is_held and '1' or '0'
end
return reply
