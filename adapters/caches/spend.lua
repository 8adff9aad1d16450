-- Notes tokens in the current slot of each budget.
--
-- KEYS: the budgets' ledgers. ARGV: tokens, then for each budget: length of a slot in microseconds, slots.
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
for i = 1, #KEYS do
  local length, slots = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  redis.call('HINCRBY', KEYS[i], string.format('%.0f', math.floor(now / length)), ARGV[1])
  redis.call('PEXPIRE', KEYS[i], math.ceil(length * slots / 1000))
end
return #KEYS
