-- When calls to a service may start, for all processes that share an account of it (NOT-2). The same rules as
-- adapters.sources.notion_pace.Rhythm, by this server's clock.
--
-- KEYS: a hash: resume_at, next_start, cycle_start, cycle_length in microseconds, accepted calls, learned calls
--       per microsecond, whether the last refusal taught that rate, and last_claim.
-- ARGV: 'claim' or 'refused', accepted calls, microseconds to wait (refused), growth, most cycles, fewest calls,
--       microseconds that count as idle, seconds until all is forgotten, and the time in microseconds, or '' for
--       now.
-- Returns: the microseconds until a call may start, '0' if it starts now; and the calls per second that may start
-- then, '' while nothing was refused yet.
local names = { 'resume_at', 'next_start', 'cycle_start', 'cycle_length', 'accepted', 'learned', 'taught',
  'last_claim' }
local held = redis.call('HMGET', KEYS[1], unpack(names))
local now = tonumber(ARGV[9])
if not now then
  local clock = redis.call('TIME')
  now = clock[1] * 1000000 + clock[2]
end
local resume_at, next_start = tonumber(held[1]) or now, tonumber(held[2]) or now
local cycle_start, cycle_length = tonumber(held[3]) or now, tonumber(held[4]) or 1000000
local accepted, learned, taught = tonumber(held[5]) or 0, tonumber(held[6]), tonumber(held[7]) or 0
local last_claim = tonumber(held[8]) or now
local growth, most_cycles, least_calls = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function text(number)
  return string.format('%.17g', number)
end

-- What is told during a pause was answered before it: it belongs to the cycle that taught the rate.
if now < resume_at and taught == 1 then
  learned = learned + tonumber(ARGV[2]) / cycle_length
else
  accepted = accepted + tonumber(ARGV[2])
end

local wait, rate = 0, nil
if ARGV[1] == 'refused' then
  local resume = now + tonumber(ARGV[3])
  if now >= resume_at then
    local length = resume - cycle_start
    taught = 0
    if accepted >= least_calls and length > 0 then
      learned, cycle_length, taught = accepted / length, length, 1
    end
    accepted = 0
  end
  resume_at = math.max(resume_at, resume)
  cycle_start = resume_at
else
  -- Time in which nobody wanted to call says nothing of what is allowed.
  local idle = now - math.max(last_claim, resume_at, next_start)
  last_claim = now
  if idle > tonumber(ARGV[7]) then
    if not learned or idle > cycle_length then
      learned, taught, accepted, cycle_start = nil, 0, 0, now
      redis.call('HDEL', KEYS[1], 'learned')
    else
      cycle_start = cycle_start + idle
    end
  end
  if learned then
    local cycles = math.min(math.max(0, now - cycle_start) / cycle_length, most_cycles)
    rate = learned * math.exp(growth * cycles * cycles)
  end
  local start = math.max(resume_at, next_start)
  if now < start then
    wait = start - now
  elseif rate then
    -- A sleeper that woke late makes good for it, up to one call.
    next_start = math.max(next_start, now - 1 / rate) + 1 / rate
  end
end

redis.call('HSET', KEYS[1], 'resume_at', text(resume_at), 'next_start', text(next_start),
  'cycle_start', text(cycle_start), 'cycle_length', text(cycle_length), 'accepted', text(accepted),
  'taught', taught, 'last_claim', text(last_claim))
if learned then
  redis.call('HSET', KEYS[1], 'learned', text(learned))
end
redis.call('EXPIRE', KEYS[1], math.ceil(tonumber(ARGV[8]) + math.max(0, resume_at - now) / 1000000))
return { text(wait), rate and text(rate * 1000000) or '' }
