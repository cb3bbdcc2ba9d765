import { sqlRule } from '../sql-rule.ts'

export const chat08 = sqlRule({
  id: 'CHAT-08',
  says: 'usage counts are integers of 0 or more, and the total is the sum of the two',
  section: '§2.5',
  severity: 'must',
  needs: ['passive'],
  explain: `Looks at the usage of every chat completion that carries one; a plain success must.
Whether streams carry usage is open (gap G-11), so a stream without it decides nothing.`,
  expected: 'total_tokens = prompt_tokens + completion_tokens, all 0 or more',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN prompt_tokens IS NULL OR completion_tokens IS NULL OR total_tokens IS NULL
           THEN 'usage is not three integers'
           WHEN least(prompt_tokens, completion_tokens, total_tokens) < 0 THEN 'a count below 0'
           WHEN total_tokens <> prompt_tokens + completion_tokens
           THEN 'total_tokens ' || total_tokens || ' for ' || prompt_tokens || ' + ' || completion_tokens
      END AS came
    FROM seen WHERE endpoint = 'chat' AND outcome = 'ok'
      AND (streamed = 0 OR coalesce(prompt_tokens, completion_tokens, total_tokens) IS NOT NULL)`,
  takes: 'a chat completion with usage',
})
