-- title: How the deployment answers the open questions of the specification
-- section: Deployment profile
-- optional: true
-- note: Answered by assay probe. Rules that depend on an answer use this one.
-- fold: questions that were not asked
SELECT gap, question, answer, status, nullif(evidence, '') AS evidence,
  status IN ('not-asked', 'not-askable') AS folded
FROM shown_profile ORDER BY gap
