-- Imports of a part of a log (`--partial`), unless a whole log of the source covered their time later.
WITH mended AS (
  SELECT cut.source AS source, cut.imported_us AS imported_us
  FROM usage_import_spans AS cut JOIN usage_import_spans AS later ON later.source = cut.source
  WHERE cut.is_partial AND NOT later.is_partial AND later.imported_us > cut.imported_us
    AND later.from_us <= cut.from_us AND later.to_us >= cut.to_us)
SELECT source, min(from_us) AS from_us, max(to_us) AS to_us FROM usage_import_spans
WHERE is_partial AND (source, imported_us) NOT IN (SELECT source, imported_us FROM mended)
GROUP BY source
