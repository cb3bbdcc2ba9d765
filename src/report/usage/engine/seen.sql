-- Credits spent between two polls of an account, by the keys of that account.
WITH polled AS (
  SELECT pair, getvariable('usage_poll_keys')[pair] AS key_fp,
    getvariable('usage_poll_from')[pair] AS from_us, getvariable('usage_poll_to')[pair] AS to_us
  FROM (SELECT arrayJoin(range(1, length(getvariable('usage_poll_keys')) + 1)) AS pair) AS pairs),
accounts AS (
  SELECT key_fp AS polled_key, key_fp FROM polled
  UNION DISTINCT
  SELECT mine.key_fp AS polled_key, others.key_fp AS key_fp
  FROM (SELECT DISTINCT key_fp, account FROM usage_key_hours) AS mine
  JOIN (SELECT DISTINCT key_fp, account FROM usage_key_hours) AS others ON others.account = mine.account
  WHERE has(getvariable('usage_poll_keys'), mine.key_fp))
SELECT polled.pair AS pair, sum(cells.credits) AS credits, sum(cells.possible_credits) AS possible_credits
FROM polled
JOIN accounts ON accounts.polled_key = polled.key_fp
JOIN usage_cells AS cells ON cells.key_fp = accounts.key_fp
WHERE cells.first_us >= polled.from_us AND cells.last_us < polled.to_us
GROUP BY polled.pair
