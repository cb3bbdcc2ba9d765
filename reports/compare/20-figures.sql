-- title: Every figure
-- section: Differences
-- note: A dash was not measured, or has too few samples. Too few samples have no interval, and no verdict beyond "unclear".
-- fold: figures without a change beyond chance, or of too few samples
-- columns:
--   figure: { label: figure }
--   n_a: { label: n of a }
--   n_b: { label: n of b }
--   interval: { label: "change [95 %]" }
SELECT figure, unit, a, b, words AS interval, verdict, n_a, n_b, verdict = 'unclear' AS folded FROM compared ORDER BY place
