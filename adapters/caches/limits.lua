-- Admits a question into all sliding windows at once, or into none (inventory T27, A17).
--
-- KEYS: first the windows' logs (sorted sets of admissions by time), then the budgets' ledgers (hashes of
--       tokens by slot of time).
-- ARGV: number of windows, name of this admission, then for each window: limit, length in microseconds,
--       admissions that this process granted while we were away; then for each budget: tokens, length of a
--       slot in microseconds, slots in force.
-- Returns: 1 and 0, or 0 and the microseconds to wait.
--
-- Times come from this server's clock alone. They pass 2^53 in the year 2255; Lua prints larger numbers with
-- 14 digits only, hence the formats.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local windows = tonumber(ARGV[1])
local wait = 0

local function text(number)
  return string.format('%.0f', number)
end

for i = 1, windows do
  local limit, length, elsewhere =
    tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1]), tonumber(ARGV[3 * i + 2])
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', text(now - length))
  local room = limit - elsewhere
  local count = redis.call('ZCARD', KEYS[i])
  if room <= 0 then
    wait = math.max(wait, length)
  elseif count >= room then
    -- There is room again when so many have left that one fits in.
    local leaver = redis.call('ZRANGE', KEYS[i], count - room, count - room, 'WITHSCORES')
    wait = math.max(wait, tonumber(leaver[2]) + length - now)
  end
end

for i = 1, #KEYS - windows do
  local at = 3 * windows + 3 * i
  local tokens, length, slots = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local key = KEYS[windows + i]
  local current = math.floor(now / length)
  local spent, ledger = 0, redis.call('HGETALL', key)
  local kept = {}
  for j = 1, #ledger, 2 do
    local slot = tonumber(ledger[j])
    if slot <= current - slots then
      redis.call('HDEL', key, ledger[j])
    else
      spent = spent + tonumber(ledger[j + 1])
      table.insert(kept, { slot, tonumber(ledger[j + 1]) })
    end
  end
  if spent >= tokens then
    -- Slots leave oldest first; wait until what is left is below the budget.
    table.sort(kept, function(a, b) return a[1] < b[1] end)
    local until_slot = current + slots
    for _, pair in ipairs(kept) do
      spent = spent - pair[2]
      if spent < tokens then
        until_slot = pair[1] + slots
        break
      end
    end
    wait = math.max(wait, until_slot * length - now)
  end
end

if wait > 0 then
  return { 0, text(math.ceil(wait)) }
end
for i = 1, windows do
  local length = tonumber(ARGV[3 * i + 1])
  redis.call('ZADD', KEYS[i], text(now), ARGV[2])
  redis.call('PEXPIRE', KEYS[i], math.ceil(length / 1000))
end
return { 1, '0' }
