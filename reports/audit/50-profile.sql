-- title: What the deployment answers where the specification is silent
-- section: Deployment profile
-- optional: true
-- note: Asked by assay probe. Rules whose meaning depends on an answer read it from here.
-- fold: questions that were not asked
SELECT gap, question, answer, status, nullif(evidence, '') AS evidence,
  status IN ('not-asked', 'not-askable') AS folded
FROM shown_profile ORDER BY gap
