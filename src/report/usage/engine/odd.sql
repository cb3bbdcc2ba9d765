SELECT source, id, at_us, model, status, credits, prompt_tokens, completion_tokens,
  (SELECT sum(requests) FROM usage_shown
   WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to') AND (/* odd */)) AS n
FROM usage_shown
WHERE at_us >= getvariable('usage_from') AND at_us < getvariable('usage_to') AND (/* odd */)
ORDER BY at_us, source, id LIMIT 5
