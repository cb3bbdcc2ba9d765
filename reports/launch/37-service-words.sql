-- title: What the service said of itself
-- section: Service
-- optional: true
-- note: Gauges are samples, one each look; what happens between two looks is not seen. Times are of the steady part.
-- columns:
--   words: { label: from its metrics }
SELECT words FROM shown_service_words ORDER BY place
