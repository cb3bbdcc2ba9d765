-- picture: true
-- section: Balance and outlook
-- wide: true
-- optional: true
-- note: >-
--   The line is the median of 500 futures, simulated from the observed days; the band contains 80 % of them. A
--   step is credits that expire unused. Shaded: the days on which 80 % of the futures run out.
WITH
  points AS (
    SELECT *, max(at_us) OVER () AS last_us, row_number() OVER (ORDER BY at_us) = 1 AS first FROM usage_outlook
  ),
  -- Local time, because Vega has no zones.
  local AS (
    SELECT low, median, high,
      epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(at_us))) AS at_ms,
      CASE WHEN first THEN epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(empty_early_us))) END AS from_ms,
      CASE WHEN first AND empty_early_us IS NOT NULL THEN
        epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(coalesce(empty_late_us, last_us)))) END AS to_ms,
      CASE WHEN first THEN epoch_ms(timezone(getvariable('usage_timezone'), make_timestamptz(empty_us))) END AS empty_ms
    FROM points
  )
FROM local ORDER BY at_ms
