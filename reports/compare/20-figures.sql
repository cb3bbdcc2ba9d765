-- title: Every figure
-- section: Differences
-- note: A dash was not measured. Too few samples have no interval, and no verdict beyond "unclear".
-- columns:
--   figure: { label: figure }
--   n_a: { label: n of a }
--   n_b: { label: n of b }
--   interval: { label: "change [95 %]" }
SELECT figure, a, b, n_a, n_b, words AS interval, verdict FROM compared ORDER BY place
